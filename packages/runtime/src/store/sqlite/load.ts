/** What the core rebuilds a session from, and who must be looked at when the host starts. */
import type { HeldReason, Origin } from '@wheelhouse/client/protocol'
import type { TurnKind } from '../../core/types.ts'
import type { PendingRow, SessionRows, Store, WaitingRow } from '../store.ts'
import type { Database } from './database.ts'
import type { Journal } from './journal.ts'
import { UNTAKEN, toDeliveryRef } from './rows.ts'

/** One state of the session's rows, whatever is committed meanwhile. Null for an unknown session. */
export function loadSession(database: Database, journal: Journal, id: string): SessionRows | null {
  return database.snapshot(() => {
    const session = loadHead(database, id)
    if (session === null) return null
    return {
      session,
      pending: loadPending(database, journal, id),
      inputs: loadInputs(database, id),
      approvals: loadApprovals(database, id),
      owed: loadOwed(database, id),
    }
  })
}

function loadHead(database: Database, id: string): SessionRows['session'] | null {
  const row = database.get<SessionRows['session']>(
    `select id, rev, last_seq as lastSeq, last_queue_pos as lastQueuePos, phase, resume_token as resumeToken, resume_epoch as resumeEpoch
     from session where id = ?`,
    id,
  )
  return row === undefined ? null : { ...row }
}

type PendingColumns = {
  id: string
  turnId: string
  kind: TurnKind
  replyTo: string | null
  origin: Origin
  headless: number
  modelId: string | null
  sent: number
  deferred: number
  stop: PendingRow['stop']
  steer: number
  deliveryId: string | null
  delivery: string | null
  sender: string | null
}

function loadPending(database: Database, journal: Journal, id: string): PendingRow[] {
  const rows = database.all<PendingColumns>(
    `select m.id, m.turn_id as turnId, m.kind, m.reply_to as replyTo, m.origin, m.headless, m.model_id as modelId,
       m.sent_at is not null as sent, m.deferred, m.stop_queue as stop, coalesce(i.steer, 0) as steer,
       d.id as deliveryId, d.delivery, d.delivery_sender_session_id as sender
     from message m left join message d on d.delivery_turn_ref = m.id left join message i on i.id = m.reply_to
     where m.session_id = ? and m.status = 'pending' order by m.deferred`,
    id,
  )
  return rows.map(({ deliveryId, delivery, sender, ...row }) => ({
    ...row,
    headless: row.headless === 1,
    sent: row.sent === 1,
    steer: row.steer === 1,
    deferred: row.deferred === 1,
    chunks: journal.count(row.id),
    delivery: deliveryId === null ? null : toDeliveryRef(deliveryId, delivery, sender),
  }))
}

type WaitingColumns = {
  id: string
  queuePos: number
  inputState: WaitingRow['inputState']
  heldReason: HeldReason | null
  consumed: number
  steer: number
  origin: Origin
  headless: number
  modelId: string | null
}

function loadInputs(database: Database, id: string): WaitingRow[] {
  const rows = database.all<WaitingColumns>(
    `select id, queue_pos as queuePos, input_state as inputState, held_reason as heldReason, consumed_at is not null as consumed, steer, origin,
       headless, model_id as modelId
     from message where session_id = ? and ${UNTAKEN} order by queue_pos`,
    id,
  )
  return rows.map((row) => ({ ...row, consumed: row.consumed === 1, steer: row.steer === 1, headless: row.headless === 1 }))
}

/** Pending ones, and decided ones that the running turn may still use; of closed rows "answered, not used" is history. */
function loadApprovals(database: Database, id: string): SessionRows['approvals'] {
  const rows = database.all<{ id: string; messageId: string; turnId: string; generation: number; decided: number }>(
    `select no, id, message_id as messageId, turn_id as turnId, generation, 0 as decided
       from approval where session_id = :id and status = 'pending'
     union all
     select a.no, a.id, a.message_id, a.turn_id, a.generation, 1
       from message m join approval a on a.message_id = m.id
       where m.session_id = :id and m.status = 'pending' and a.status in ('allowed', 'denied') and a.applied_at is null
     order by no`,
    { id },
  )
  return rows.map((row) => ({
    id: row.id,
    messageId: row.messageId,
    turnId: row.turnId,
    generation: row.generation,
    decided: row.decided === 1,
  }))
}

function loadOwed(database: Database, id: string): SessionRows['owed'] {
  const row = database.get<{
    id: string
    delivery: string | null
    sender: string | null
    turnRef: string
    row: NonNullable<SessionRows['owed']>['row'] | null
  }>(
    `select d.id, d.delivery, d.delivery_sender_session_id as sender, d.delivery_turn_ref as turnRef, m.status as row
     from message d left join message m on m.id = d.delivery_turn_ref
     where d.session_id = ? and d.delivery_status = 'delivering' and m.status is not 'pending'
     order by d.no limit 1`,
    id,
  )
  return row === undefined
    ? null
    : { delivery: toDeliveryRef(row.id, row.delivery, row.sender), turnRef: row.turnRef, row: row.row ?? 'absent' }
}

/**
 * Each branch walks a partial index that holds only what is owed, so the answer costs what is owed
 * and not what was ever said. The doubled terms repeat the index's own condition, which SQLite asks for.
 */
export const OWING = `select session_id from message where status = 'pending'
  union select session_id from message where ${UNTAKEN} and input_state in ('queued', 'steering', 'offered')
  union select session_id from message where delivery_status in ('accepted', 'delivering')
  union select session_id from approval where status = 'pending'
  order by session_id`

export function sessionsOwing(database: Database): string[] {
  return database.all<{ session_id: string }>(OWING).map((row) => row.session_id)
}

/** By arrival. */
export function nextAccepted(database: Database, sessionId: string): ReturnType<Store['nextAccepted']> {
  const row = database.get<{ id: string; delivery: string | null; sender: string | null }>(
    `select id, delivery, delivery_sender_session_id as sender from message
     where session_id = ? and delivery_status = 'accepted' order by no limit 1`,
    sessionId,
  )
  return row === undefined ? null : { delivery: toDeliveryRef(row.id, row.delivery, row.sender), senderSessionId: row.sender }
}

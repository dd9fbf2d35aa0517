/**
 * One commit: the fence, then its writes, in one transaction (scale, rule 0). Four outcomes; see
 * `CommitResult` in the port.
 */
import type { Commit, Write } from '../../core/write.ts'
import { StoreError } from '../errors.ts'
import type { CommitResult, ResolvedContent } from '../store.ts'
import { Refused, type Database } from './database.ts'
import { changesSince } from './messages.ts'
import { applyApproval, decideApproval, expireApproval, insertApproval } from './writes/approvals.ts'
import type { WriteContext } from './writes/context.ts'
import { claimDelivery, failDelivery, finishDelivery, insertResult } from './writes/deliveries.ts'
import { editInput, insertInput, markConsumed, moveInput, returnInput, takeInput } from './writes/inputs.ts'
import { deleteSession, setPhase, setResume, updateSession } from './writes/session.ts'
import { closeTurn, deferTurn, markSent, openTurn, recordUsage, removeTurn, requestStop } from './writes/turns.ts'

/** One verb for every write of the core: a new write without one does not compile. */
const VERBS: { [Type in Write['type']]: (context: WriteContext, write: Extract<Write, { type: Type }>) => void } = {
  'insert-input': insertInput,
  'edit-input': editInput,
  'move-input': moveInput,
  'take-input': takeInput,
  'return-input': returnInput,
  'mark-consumed': markConsumed,
  'open-turn': openTurn,
  'mark-sent': markSent,
  'request-stop': requestStop,
  'defer-turn': deferTurn,
  'close-turn': closeTurn,
  'remove-turn': removeTurn,
  'insert-approval': insertApproval,
  'decide-approval': decideApproval,
  'apply-approval': applyApproval,
  'expire-approval': expireApproval,
  'set-resume': setResume,
  'record-usage': recordUsage,
  'claim-delivery': claimDelivery,
  'finish-delivery': finishDelivery,
  'fail-delivery': failDelivery,
  'insert-result': insertResult,
  'update-session': updateSession,
  'set-phase': setPhase,
  'delete-session': deleteSession,
}

/** Saves all of the commit or nothing. Throws only for bugs of ours, such as a write without its content. */
export function commit(database: Database, one: Commit, content: ResolvedContent): CommitResult {
  try {
    return database.transaction(() => {
      fence(database, one)
      const context: WriteContext = { database, sessionId: one.sessionId, rev: one.expectedRev + 1, at: one.at, content }
      for (const write of one.writes) apply(context, write)
      return { outcome: 'done', changes: { ...changesSince(database, one.sessionId, one.expectedRev), rev: context.rev } }
    })
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', reason: error.reason, detail: error.message }
    if (error instanceof StoreError) return { outcome: error.code === 'UNKNOWN' ? 'unknown' : 'failed', message: error.message }
    throw error
  }
}

/** Order and ownership in one statement: who has read an older rev, or lost the session, matches no row. */
function fence(database: Database, { sessionId, expectedRev, lastSeq, lastQueuePos, at }: Commit): void {
  const led = database.run(
    'update session set rev = rev + 1, last_seq = ?, last_queue_pos = ?, updated_at = ? where id = ? and rev = ?',
    lastSeq,
    lastQueuePos,
    at,
    sessionId,
    expectedRev,
  )
  if (led !== 1) throw new Refused('fence', `session ${sessionId} is not at rev ${expectedRev}`)
}

/** The table is keyed by the very type it is asked for, which the compiler cannot follow through a union. */
function apply(context: WriteContext, write: Write): void {
  const verb = VERBS[write.type] as (context: WriteContext, write: Write) => void
  verb(context, write)
}

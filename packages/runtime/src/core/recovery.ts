/**
 * From rows to a session, and what a start of the host does with what it finds (decision 8): what
 * was never sent runs again, what was sent is closed and never repeated, what lies between is shown.
 */
import { expireApprovals } from './approval.ts'
import type { Draft } from './draft.ts'
import { move } from './queue.ts'
import { advance, closeTurn } from './turn.ts'
import type {
  DeliveryRef,
  Generation,
  MessageId,
  OpenApproval,
  Session,
  StopQueueMode,
  Turn,
  TurnId,
  TurnKind,
  WaitingInput,
} from './types.ts'

/** A session's rows, as a store reads them; see store/store.ts `SessionRows`. */
export type LoadedRows = {
  session: {
    id: string
    rev: number
    lastSeq: number
    lastQueuePos: number
    phase: 'active' | 'quarantined'
    resumeToken: string | null
    resumeEpoch: number
  }
  pending: {
    id: MessageId
    turnId: TurnId
    kind: TurnKind
    replyTo: MessageId | null
    origin: Turn['origin']
    headless: boolean
    modelId: string | null
    sent: boolean
    /** Its input was meant for an earlier turn. */
    steer: boolean
    deferred: boolean
    stop: StopQueueMode | null
    chunks: number
    delivery: DeliveryRef | null
  }[]
  inputs: {
    id: MessageId
    queuePos: number
    inputState: WaitingInput['state']
    heldReason: WaitingInput['heldReason']
    consumed: boolean
    steer: boolean
    origin: Turn['origin']
    headless: boolean
    modelId: string | null
  }[]
  approvals: { id: string; messageId: MessageId; turnId: TurnId; generation: Generation; decided: boolean }[]
  owed: { delivery: DeliveryRef; turnRef: MessageId; row: 'absent' | 'success' | 'paused' | 'interrupted' | 'error' } | null
}

/** Rebuilds the state. At rest it equals what memory held (invariant 16). */
export function load(rows: LoadedRows, held: boolean, lastGeneration = 0): Session {
  const turns = rows.pending.map((row) => ({ deferred: row.deferred, turn: toTurn(row) }))
  return {
    id: rows.session.id,
    rev: rows.session.rev,
    lastSeq: rows.session.lastSeq,
    lastQueuePos: rows.session.lastQueuePos,
    phase: rows.session.phase,
    held,
    connection: { phase: 'none' },
    lastGeneration,
    turn: turns.find((each) => !each.deferred)?.turn ?? null,
    deferred: turns.find((each) => each.deferred)?.turn ?? null,
    seeking: null,
    finalizing: rows.owed === null ? null : owedOf(rows.owed),
    queue: rows.inputs.map(({ queuePos: pos, inputState: state, ...facts }) => ({ pos, state, ...facts })),
    resume: { token: rows.session.resumeToken, epoch: rows.session.resumeEpoch },
    approvals: rows.approvals
      .filter((row) => !row.decided)
      .map(({ id, messageId, turnId, generation, decided }): OpenApproval => ({ id, turnId, messageId, generation, decided })),
    compaction: null,
    background: [],
  }
}

function toTurn(row: LoadedRows['pending'][number]): Turn {
  return {
    id: row.turnId,
    messageId: row.id,
    inputId: row.replyTo,
    kind: row.kind,
    origin: row.origin,
    headless: row.headless,
    modelId: row.modelId,
    steer: row.steer,
    startedAt: '',
    phase: row.sent ? 'open' : 'starting',
    stop: row.stop === null ? null : { mode: row.stop, escalated: true },
    n: row.chunks,
    usage: null,
    reserved: null,
    delivery: row.delivery,
  }
}

function owedOf(owed: NonNullable<LoadedRows['owed']>): Session['finalizing'] {
  const { delivery, turnRef: messageId, row } = owed
  // Absence is evidence of deletion, not proof that it never ran: it fails, and is never replayed.
  if (row === 'absent') return { delivery, messageId, outcome: 'failed', errorCode: 'DELIVERY_TURN_DELETED' }
  return { delivery, messageId, outcome: row === 'success' ? 'success' : row === 'error' ? 'failed' : 'interrupted', errorCode: null }
}

export function onRecovered(d: Draft): void {
  const { s } = d
  const owed = s.finalizing
  expireApprovals(d, () => true, 'The host restarted; the agent that asked is gone.')
  // The deferred turn is the older row: it closes first.
  for (const turn of [s.deferred, s.turn]) if (turn !== null) recoverTurn(d, turn)
  if (owed !== null) d.effects.push({ type: 'finalize-delivery', messageId: owed.messageId })
  if (s.phase === 'active') advance(d, false)
}

/** What becomes of a turn whose agent is gone for good with its host. */
export function recoverTurn(d: Draft, turn: Turn): void {
  if (turn.phase === 'starting' && turn.delivery === null && turn.stop === null) {
    giveBack(d, turn)
    return
  }
  if (turn.phase === 'open') discardToken(d)
  closeTurn(d, turn, { status: 'interrupted', code: 'TURN_INTERRUPTED', text: null })
}

/** It never left the host: the input goes back to the front, its empty row goes, the token stays. */
function giveBack(d: Draft, turn: Turn): void {
  const { s } = d
  s.turn = null
  d.writes.push({ type: 'remove-turn', messageId: turn.messageId })
  // A window that came before this was saved has been shown the turn.
  d.effects.push(
    { type: 'publish-turn', phase: 'ended', turnId: turn.id, messageId: turn.messageId, boundary: 'turn' },
    { type: 'publish-status' },
  )
  if (turn.inputId === null) return
  const pos = Math.min(0, ...s.queue.map((input) => input.pos)) - 1
  const { inputId: id, origin, headless, modelId, steer } = turn
  s.queue.unshift({ id, pos, state: 'queued', heldReason: null, consumed: false, steer, origin, headless, modelId })
  d.writes.push({ type: 'return-input', id, queuePos: pos, to: 'queued', heldReason: null })
}

/** It may continue a run nobody can trust: the next conversation starts fresh (decision 8). */
export function discardToken(d: Draft): void {
  const { resume } = d.s
  resume.token = null
  resume.epoch += 1
  d.writes.push({ type: 'set-resume', token: null, epoch: resume.epoch })
}

/**
 * The session met a bug of ours: everything of it is closed and shown, nothing runs until a person
 * released it. It must not throw, whatever state it meets.
 */
export function onQuarantined(d: Draft, reason: string): void {
  const { s } = d
  expireApprovals(d, () => true, 'The session is quarantined.')
  for (const turn of [s.deferred, s.turn]) {
    if (turn === null) continue
    turn.stop = null
    closeTurn(d, turn, { status: 'error', code: 'INTERNAL_QUARANTINE', text: reason })
  }
  for (const input of s.queue) if (input.state === 'queued') move(d, input, 'held', 'failed')
  s.seeking = null
  s.phase = 'quarantined'
  d.writes.push({ type: 'set-phase', phase: 'quarantined', reason })
  if (s.connection.phase === 'connecting' || s.connection.phase === 'live') {
    d.effects.push({ type: 'close-connection', generation: s.connection.generation, reason: 'quarantined' })
    s.connection.phase = 'closing'
  }
  d.effects.push({ type: 'publish-status' })
}

/**
 * Turns: the one function that opens them, the one that closes them, and what comes next.
 *
 *   starting --admit--> open --close--> (finalizing) --advance--> next turn | idle
 */
import { assert } from './assert.ts'
import type { Draft } from './draft.ts'
import { connect } from './connection.ts'
import { expireApprovals } from './approval.ts'
import { holdQueued, settleSteers } from './queue.ts'
import type { DeliveryOutcome, MessageId, Turn, TurnKind, WaitingInput } from './types.ts'
import { liveTurn } from './view.ts'
import type { Write } from './write.ts'

/** What a new turn is made of; `roll` continues the turn of `rollOf` on a new row. */
export type TurnSpec = Pick<Turn, 'id' | 'messageId' | 'inputId' | 'kind' | 'origin' | 'headless' | 'modelId' | 'steer' | 'delivery'> & {
  /** already: the agent runs it of its own accord or has it since before the roll. needed: it must be given to the agent. */
  sending: 'needed' | 'already'
  rollOf: MessageId | null
  /** Of the turn that a roll continues. */
  startedAt?: string
}

/** Opens a turn, whatever its origin; the input, if any, has been given its seq before. */
export function openTurn(d: Draft, spec: TurnSpec): void {
  const { s } = d
  assert(s.turn === null, 'a session runs one turn at a time')
  assert(s.phase === 'active', 'only an active session opens turns')
  const { sending, rollOf, startedAt = d.stamp.at, ...facts } = spec
  const sendNow = sending === 'needed' && s.connection.phase === 'live' && !s.connection.stale
  const seq = (s.lastSeq += 1)
  const { id, messageId, inputId, kind, origin, headless, modelId } = facts
  const sent = sending === 'already' || sendNow
  d.writes.push({
    type: 'open-turn',
    row: { id: messageId, seq, turnId: id, kind, replyTo: inputId, rollOf, origin, headless, modelId, sent },
  })
  const turn: Turn = { ...facts, startedAt, phase: sent ? 'open' : 'starting', stop: null, n: 0, usage: null, reserved: null }
  s.turn = turn
  s.seeking = null
  d.effects.push(
    { type: 'cancel-timer', timer: 'idle', key: s.id },
    { type: 'publish-turn', phase: 'started', turn: liveTurn(turn) },
    { type: 'publish-status' },
  )
  if (sendNow) send(d, turn)
  else if (sending === 'needed') connect(d)
}

/** Gives a starting turn to a connection that has just come up (decision 8: `sentAt` is committed with the fact). */
export function admit(d: Draft): void {
  const { turn, connection } = d.s
  if (turn === null || turn.phase !== 'starting' || connection.phase !== 'live') return
  d.writes.push({ type: 'mark-sent', messageId: turn.messageId })
  turn.phase = 'open'
  d.effects.push({ type: 'publish-turn', phase: 'started', turn: liveTurn(turn) }, { type: 'publish-status' })
  send(d, turn)
}

function send(d: Draft, turn: Turn): void {
  const { connection } = d.s
  assert(connection.phase === 'live', 'a turn is sent to a live connection')
  connection.headless = turn.headless
  const { id: turnId, messageId, inputId, kind, steer, headless } = turn
  d.effects.push({ type: 'send', generation: connection.generation, turnId, messageId, inputId, kind, steer, headless })
}

/** Takes a waiting input out of the queue and opens its turn. */
export function openFromQueue(d: Draft, input: WaitingInput): void {
  const { s, stamp } = d
  s.queue = s.queue.filter((other) => other.id !== input.id)
  d.writes.push({ type: 'take-input', id: input.id, from: ['queued'], seq: (s.lastSeq += 1), turnId: stamp.turnId, unanswered: false })
  openInputTurn(d, input)
}

/** Opens the turn that answers an input whose row is taken. */
export function openInputTurn(d: Draft, input: Pick<WaitingInput, 'id' | 'origin' | 'headless' | 'modelId' | 'steer'>): void {
  const { id: inputId, origin, headless, modelId, steer } = input
  openTurn(d, {
    id: d.stamp.turnId,
    messageId: d.stamp.messageId,
    inputId,
    kind: 'user',
    origin,
    headless,
    modelId,
    steer,
    delivery: null,
    sending: 'needed',
    rollOf: null,
  })
}

/** How a turn ends. The status decides what happens to the queue (decision 1). */
export type Ending = { status: 'success' | 'paused' | 'interrupted' | 'error'; code: string | null; text: string | null }

const HELD_AFTER = { error: 'failed', interrupted: 'interrupted', paused: 'stopped' } as const

export const SUCCESS: Ending = { status: 'success', code: null, text: null }
export const PAUSED: Ending = { status: 'paused', code: null, text: null }

/**
 * Closes a turn that is current or deferred: its row, its approvals, the steers that were meant for
 * it. Does not start what comes next; see {@link afterTurn}.
 */
export function closeTurn(d: Draft, turn: Turn, as: Ending): void {
  const { s } = d
  const ending = turn.stop === null ? as : PAUSED
  expireApprovals(d, (approval) => approval.turnId === turn.id, 'The turn that asked has ended.')
  d.writes.push(...closing(d, turn, ending, 'turn'))
  d.effects.push({ type: 'publish-turn', phase: 'ended', turnId: turn.id, messageId: turn.messageId, boundary: 'turn' })
  d.effects.push(
    { type: 'cancel-timer', timer: 'stop-escalation', key: turn.id },
    { type: 'cancel-timer', timer: 'stop-deadline', key: turn.id },
  )
  if (s.turn?.id === turn.id) s.turn = null
  else s.deferred = null
  s.compaction = null
  if (turn.kind === 'user') settleSteers(d, turn, ending)
  // After a Stop the queue was held, or not, when it was asked for.
  if (ending.status !== 'success' && turn.stop === null) holdQueued(d, HELD_AFTER[ending.status])
  if (turn.delivery !== null) {
    s.finalizing = { delivery: turn.delivery, messageId: turn.messageId, outcome: outcomeOf(ending), errorCode: ending.code }
    d.effects.push({ type: 'finalize-delivery', messageId: turn.messageId })
  }
  d.effects.push({ type: 'publish-status' })
}

/** The writes that make a pending row terminal; also used by a roll, whose boundary completes nothing. */
export function closing(d: Draft, turn: Turn, ending: Ending, boundary: 'turn' | 'row-roll'): Write[] {
  const { token, epoch } = d.s.resume
  const { messageId, usage } = turn
  return [
    ...(usage === null ? [] : [{ type: 'record-usage', messageId, usage } as const]),
    {
      type: 'close-turn',
      messageId,
      status: ending.status,
      errorCode: ending.code,
      errorText: ending.text,
      boundary,
      token: token === null ? null : { token, epoch },
      content: { metadata: {} },
    },
  ]
}

/** A deferred user turn takes the connection again; otherwise the next turn is chosen. */
export function afterTurn(d: Draft, ended: { kind: TurnKind; success: boolean }): void {
  const { s } = d
  if (s.turn !== null) return
  if (s.deferred !== null) {
    const turn = s.deferred
    s.deferred = null
    s.turn = turn
    d.writes.push({ type: 'defer-turn', messageId: turn.messageId, deferred: false })
    d.effects.push({ type: 'publish-turn', phase: 'started', turn: liveTurn(turn) })
    return
  }
  advance(d, ended.success && ended.kind === 'user')
}

/**
 * Chooses what runs next (decision 1): the head of the queue before accepted deliveries, and after
 * each user turn one delivery first, so that neither starves. Under a hold nothing starts.
 */
export function advance(d: Draft, deliveryFirst: boolean): void {
  const { s } = d
  if (s.turn !== null || s.deferred !== null || s.finalizing !== null || s.seeking !== null || s.phase !== 'active' || s.held) return
  const head = s.queue.find((input) => input.state === 'queued')
  if (head !== undefined && !deliveryFirst) {
    openFromQueue(d, head)
    return
  }
  look(d, 1, false)
}

/** Asks the inbox; the answer comes as an event with the id of this look. */
export function look(d: Draft, attempt: 1 | 2, again: boolean): void {
  const { turnId: id } = d.stamp
  d.s.seeking = { look: id, attempt, again }
  d.effects.push({ type: 'look-for-delivery', look: id })
}

/** Nothing follows: the topic's stream ends, and a warm connection waits for its idle timer. */
export function settle(d: Draft): void {
  const { s } = d
  d.effects.push({ type: 'end-topic' }, { type: 'publish-status' })
  if (s.connection.phase !== 'live') return
  if (s.connection.stale && s.background.length === 0) {
    s.connection.phase = 'closing'
    d.effects.push({ type: 'close-connection', generation: s.connection.generation, reason: 'rebuild' })
  } else d.effects.push({ type: 'arm-timer', timer: 'idle', key: s.id })
}

function outcomeOf(ending: Ending): DeliveryOutcome {
  if (ending.status === 'success') return 'success'
  return ending.status === 'error' ? 'failed' : 'interrupted'
}

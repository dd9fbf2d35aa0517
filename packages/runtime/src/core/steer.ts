/**
 * Steers of an open turn and the roll (decision 2).
 *
 *   steering --offering--> offered --consumed--> (in the agent's history) --boundary--> taken, row rolls
 *      |                      |
 *      +------ undelivered ---+--> back to the front of the queue
 */
import { move, toFront } from './queue.ts'
import type { Draft } from './draft.ts'
import type { DriverEvent } from './event.ts'
import { closing, openTurn, SUCCESS } from './turn.ts'
import type { MessageId, Turn, WaitingInput } from './types.ts'
import { inFlight } from './view.ts'

type Steer<T> = Extract<DriverEvent, { type: T }>

/** The driver could not take it after all: it waits for its own turn. */
export function onRedirectRefused(d: Draft, inputId: MessageId): void {
  const input = d.s.queue.find((waiting) => waiting.id === inputId && waiting.state === 'steering')
  if (input === undefined) return
  move(d, input, d.s.turn?.stop?.mode === 'hold' ? 'held' : 'queued', d.s.turn?.stop?.mode === 'hold' ? 'stopped' : null)
  d.effects.push({ type: 'publish-status' })
}

/** Committed as offered before the driver may inject: what was not offered has surely not left. */
export function onOffering(d: Draft, turn: Turn, generation: number, event: Steer<'steer-offering'>): void {
  const offered = turn.stop === null && turn === d.s.turn ? inFlightOf(d, event.inputIds).filter((input) => input.state === 'steering') : []
  for (const input of offered) move(d, input, 'offered', null)
  if (offered.length > 0) turn.reserved ??= d.stamp.messageId
  d.effects.push({ type: 'answer-offering', generation, offeringId: event.offeringId, inputIds: offered.map((input) => input.id) })
}

/** It is in the agent's own history now: never hand it back. */
export function onConsumed(d: Draft, event: Steer<'steer-consumed'>): void {
  for (const input of inFlightOf(d, event.inputIds)) consume(d, input)
}

function consume(d: Draft, input: WaitingInput): void {
  if (input.consumed) return
  if (input.state === 'steering') move(d, input, 'offered', null)
  input.consumed = true
  d.writes.push({ type: 'mark-consumed', id: input.id })
}

/** First output after a steer: close A1a, take the steers, go on in A2, in one transaction. */
export function onBoundary(d: Draft, turn: Turn, event: Steer<'steer-boundary'>): void {
  const { s } = d
  const steers = inFlightOf(d, event.inputIds)
  for (const input of steers) consume(d, input)
  // While stopping there is no roll: the steers are taken when the row closes, shown as seen and not answered.
  if (steers.length === 0 || turn.stop !== null || turn !== s.turn) return
  d.writes.push(...closing(d, turn, SUCCESS, 'row-roll'))
  d.effects.push({ type: 'publish-turn', phase: 'ended', turnId: turn.id, messageId: turn.messageId, boundary: 'row-roll' })
  s.queue = s.queue.filter((input) => !steers.includes(input))
  for (const input of steers)
    d.writes.push({ type: 'take-input', id: input.id, from: ['offered'], seq: (s.lastSeq += 1), turnId: turn.id, unanswered: false })
  s.turn = null
  const messageId = turn.reserved ?? d.stamp.messageId
  openTurn(d, { ...turn, messageId, inputId: steers.at(-1)?.id ?? turn.inputId, sending: 'already', rollOf: turn.messageId })
}

/** Legal only for what was not consumed; those go back to the front, in order. */
export function onUndelivered(d: Draft, turn: Turn, event: Steer<'steer-undelivered'>): void {
  toFront(
    d,
    inFlightOf(d, event.inputIds).filter((input) => !input.consumed),
    turn,
    null,
  )
  d.effects.push({ type: 'publish-status' })
}

function inFlightOf(d: Draft, ids: readonly MessageId[]): WaitingInput[] {
  return d.s.queue.filter((input) => ids.includes(input.id) && inFlight(input))
}

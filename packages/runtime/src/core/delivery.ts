/**
 * Deliveries between sessions: accepted rows in the inbox are the only queue; a kick says "look",
 * the claim is one transaction, the finalizer is idempotent (spec, Acceptance, execution, finalization).
 */
import type { Draft } from './draft.ts'
import type { HostEvent } from './event.ts'
import { advance, look, openFromQueue, openTurn, settle } from './turn.ts'
import type { LookId } from './types.ts'
import { isIdle } from './view.ts'

type Host<T> = Extract<HostEvent, { type: T }>

/** Something may be in the inbox. While one look is under way the wish is kept (rerun latch). */
export function onKicked(d: Draft): void {
  const { s } = d
  if (s.seeking !== null) s.seeking.again = true
  else if (isIdle(s)) advance(d, true)
}

/** Claims it and opens its turn, unless a message of a person came first: then it stays accepted. */
export function onFound(d: Draft, event: Host<'delivery-found'>): void {
  const { s, stamp } = d
  if (s.seeking?.look !== event.look) return
  s.seeking = null
  if (!isFree(d)) return
  const seq = (s.lastSeq += 1)
  d.writes.push({
    type: 'claim-delivery',
    id: event.delivery.id,
    seq,
    turnId: stamp.turnId,
    turnRef: stamp.messageId,
    agentRev: event.agentRev,
  })
  openTurn(d, {
    id: stamp.turnId,
    messageId: stamp.messageId,
    inputId: event.delivery.id,
    kind: 'delivery',
    origin: 'delivery',
    headless: true,
    modelId: event.modelId,
    steer: false,
    delivery: event.delivery,
    sending: 'needed',
    rollOf: null,
  })
}

function isFree(d: Draft): boolean {
  const { s } = d
  return s.turn === null && s.deferred === null && s.finalizing === null && s.phase === 'active' && !s.held
}

/** Nothing to deliver: the queue goes on, or the session rests. */
export function onNone(d: Draft, event: { look: LookId }): void {
  const { s } = d
  if (s.seeking?.look !== event.look) return
  const { again } = s.seeking
  s.seeking = null
  if (!isFree(d)) return
  const head = s.queue.find((input) => input.state === 'queued')
  if (head !== undefined) openFromQueue(d, head)
  else if (again) advance(d, true)
  else settle(d)
}

/** It can never be delivered: recorded, the asking session is told, and the next one is looked at. */
export function onUnroutable(d: Draft, event: Host<'delivery-unroutable'>): void {
  const { s, stamp } = d
  if (s.seeking?.look !== event.look) return
  d.writes.push({ type: 'fail-delivery', id: event.deliveryId, errorCode: event.code })
  if (event.resultTo !== null) {
    d.writes.push({
      type: 'insert-result',
      row: {
        id: stamp.spareId,
        sessionId: event.resultTo,
        requestId: event.deliveryId,
        sourceMessageId: event.deliveryId,
        outcome: 'failed',
      },
    })
    d.effects.push({ type: 'kick-session', sessionId: event.resultTo })
  }
  look(d, 1, false)
}

/** One transaction: the request is done, and what it owes is in the asker's inbox, at most once. */
export function onFinalizing(d: Draft, event: Host<'delivery-finalizing'>): void {
  const { s, stamp } = d
  if (s.finalizing === null || s.finalizing.messageId !== event.messageId) return
  const { delivery, messageId, outcome, errorCode } = s.finalizing
  s.finalizing = null
  const status = errorCode === 'DELIVERY_TURN_DELETED' ? 'failed' : 'consumed'
  d.writes.push({ type: 'finish-delivery', id: delivery.id, turnRef: messageId, status, outcome, errorCode })
  if (delivery.resultTo !== null) {
    const row = { id: stamp.spareId, sessionId: delivery.resultTo, requestId: delivery.id, sourceMessageId: messageId, outcome }
    d.writes.push({ type: 'insert-result', row })
    d.effects.push({ type: 'kick-session', sessionId: delivery.resultTo })
  }
  advance(d, false)
}

/** Somebody else changed the row: look once more, then yield until the next wake (requirement 110). */
export function onRefused(d: Draft, of: Host<'commit-refused'>['of']): void {
  const { s } = d
  if (of === 'finish') {
    s.finalizing = null
    advance(d, false)
    return
  }
  if (s.seeking === null) return
  if (s.seeking.attempt === 1) look(d, 2, s.seeking.again)
  else onNone(d, s.seeking)
}

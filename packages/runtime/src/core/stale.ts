/**
 * Checked once, on top of `step`: events of another connection or of a turn that is over change
 * nothing. A stale request is answered, so that no agent waits for an answer that never comes.
 */
import { denial } from './approval.ts'
import type { DriverEvent } from './event.ts'
import type { Effect } from './effect.ts'
import type { Generation, Session, Turn } from './types.ts'

const STALE_REASON = 'The turn that asked is over.'

/** The turn a driver event belongs to; null when the event names none, undefined when it is over. */
export function turnOf(s: Session, event: DriverEvent): Turn | null | undefined {
  if (!('turnId' in event) || event.type === 'autonomous-turn-state') return null
  if (s.turn?.id === event.turnId && s.turn.phase === 'open') return s.turn
  if (s.deferred?.id === event.turnId) return s.deferred
  return undefined
}

export function isStale(s: Session, generation: Generation, event: DriverEvent): boolean {
  // A sub-agent may outlive the connection that began it (architecture, the law).
  if (event.type === 'background-flow-chunk') return false
  if (s.connection.phase === 'none' || s.connection.generation !== generation) return true
  return turnOf(s, event) === undefined
}

/** What a stale event still needs: requests get their no. */
export function staleEffects(generation: Generation, event: DriverEvent): Effect[] {
  if (event.type === 'tool-approval-request')
    return [{ type: 'answer-approval', generation, approvalId: event.request.approvalId, decision: denial(STALE_REASON) }]
  if (event.type === 'steer-offering') return [{ type: 'answer-offering', generation, offeringId: event.offeringId, inputIds: [] }]
  return []
}

/** What a session looks like from outside; pure functions of its state. */
import type { LiveTurn, SessionStatus } from '@wheelhouse/client/protocol'
import type { Session, Turn, WaitingInput } from './types.ts'

export function liveTurn(turn: Turn): LiveTurn {
  const phase = turn.stop !== null ? 'stopping' : turn.phase === 'open' ? 'open' : 'connecting'
  return {
    turnId: turn.id,
    messageId: turn.messageId,
    phase,
    kind: turn.kind,
    headless: turn.headless,
    stalled: false,
    startedAt: turn.startedAt,
  }
}

/** What the status of a session is made from, whether its rows or its state are asked. */
export type StatusFacts = { quarantined: boolean; asking: boolean; stopping: boolean; working: boolean; held: boolean; failed: boolean }

/** One word for the session list; what a person must do comes before what the agent does. */
export function statusFrom({ quarantined, asking, stopping, working, held, failed }: StatusFacts): SessionStatus {
  if (quarantined) return 'quarantined'
  if (asking) return 'waiting'
  if (stopping) return 'stopping'
  if (working) return 'working'
  if (held) return 'held'
  return failed ? 'error' : 'idle'
}

/** The status of a loaded session, which does not know how its last turn ended: never `error`. */
export function sessionStatus(s: Session): SessionStatus {
  return statusFrom({
    quarantined: s.phase === 'quarantined',
    asking: s.approvals.some((approval) => !approval.decided),
    stopping: s.turn?.stop != null || s.deferred?.stop != null,
    working: s.turn !== null || s.deferred !== null,
    held: s.queue.some((input) => input.state === 'held' || input.state === 'unknown'),
    failed: false,
  })
}

/** Nothing runs, nothing is being decided. A queued input may still wait for a hold to be released. */
export function isIdle(s: Session): boolean {
  return s.turn === null && s.deferred === null && s.seeking === null && s.finalizing === null
}

/** Whether the topic's stream must stay open although no turn is open this instant. */
export function willContinueTopic(s: Session): boolean {
  return !isIdle(s)
}

/** Inputs a running turn may still take. */
export function inFlight(input: WaitingInput): boolean {
  return input.state === 'steering' || input.state === 'offered'
}

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

/** One word for the session list; what a person must do comes before what the agent does. */
export function sessionStatus(s: Session): SessionStatus {
  if (s.phase === 'quarantined') return 'quarantined'
  if (s.approvals.some((approval) => !approval.decided)) return 'waiting'
  if (s.turn?.stop || s.deferred?.stop) return 'stopping'
  if (s.turn !== null || s.deferred !== null) return 'working'
  if (s.queue.some((input) => input.state === 'held' || input.state === 'unknown')) return 'held'
  return 'idle'
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

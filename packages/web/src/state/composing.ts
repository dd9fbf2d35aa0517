/** What pressing Enter will do, decided before it is pressed. Pure. */
import type { DriverCapabilities, Session, SessionView } from '@wheelhouse/client'

export type SendPlan =
  | { can: true; will: 'send' | 'steer' | 'queue' | 'hold' | 'run-beside-held' }
  | { can: false; because: 'no-agent' | 'quarantined' }

/** `when` is what the person chose: give it to the running turn, or keep it for after. */
export function planSend(
  view: SessionView,
  session: Session | null,
  steer: DriverCapabilities['steer'] | null,
  when: 'steer' | 'queue',
): SendPlan {
  if (session !== null && session.agentId === null) return { can: false, because: 'no-agent' }
  if (session?.status === 'quarantined') return { can: false, because: 'quarantined' }
  if (view.turn !== null) {
    if (isStopping(view)) return { can: true, will: 'hold' }
    return { can: true, will: when === 'steer' && canSteer(view, steer) ? 'steer' : 'queue' }
  }
  return { can: true, will: view.queue.some((row) => row.inputState === 'held') ? 'run-beside-held' : 'send' }
}

/** A Stop is under way. The status tells it, also where the turn was read before. */
export const isStopping = (view: SessionView): boolean =>
  view.turn !== null && (view.turn.phase === 'stopping' || view.status === 'stopping')

/** The agent has not been heard for long. */
export const isStalled = (view: SessionView): boolean => view.turn !== null && (view.turn.stalled || view.status === 'stalled')

/** Only a turn that a person started can be steered; the host queues the rest by itself. */
export function canSteer(view: SessionView, steer: DriverCapabilities['steer'] | null): boolean {
  return steer !== 'none' && view.turn !== null && view.turn.kind === 'user' && !view.turn.headless
}

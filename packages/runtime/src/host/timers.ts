/** Timers of sessions. They die with the process; each is armed again where its state is entered again. */
import { LIMITS } from '@wheelhouse/client/protocol'
import type { TimerName } from '../core/event.ts'
import type { SessionId } from '../core/types.ts'
import type { Clock } from './clock.ts'

export type TimerLimits = { [name in TimerName]: number }

export const TIMER_MS: TimerLimits = {
  /** How long an idle connection stays warm (spec README, constants). */
  idle: 5 * 60_000,
  /** A native interrupt that has not ended the turn by then is followed by closing the connection (decision 3). */
  'stop-escalation': 2000,
  /** The row of a stopped turn is closed by then, whatever the driver does: under the promised 2.5 s. */
  'stop-deadline': 2400,
  'approval-expiry': LIMITS.approvalWaitMs,
}

/** How long a timer waits that fired while its session could not take it. */
const BLOCKED_WAIT_MS = 100

export type TimerPorts = {
  clock: Clock
  limits: TimerLimits
  /** A commit of the session is tried again, and what happens now waits behind it. */
  blocked(sessionId: SessionId): boolean
  fire(sessionId: SessionId, timer: TimerName, key: string): void
}

export class SessionTimers {
  readonly #ports: TimerPorts
  readonly #armed = new Map<string, { sessionId: SessionId; cancel: () => void }>()

  constructor(ports: TimerPorts) {
    this.#ports = ports
  }

  arm(sessionId: SessionId, timer: TimerName, key: string): void {
    this.cancel(timer, key)
    this.#wait(sessionId, timer, key, this.#ports.limits[timer])
  }

  cancel(timer: TimerName, key: string): void {
    this.#armed.get(nameOf(timer, key))?.cancel()
    this.#armed.delete(nameOf(timer, key))
  }

  /** The session has left memory: nothing of it is timed any more. */
  forget(sessionId: SessionId): void {
    for (const [name, armed] of this.#armed) {
      if (armed.sessionId !== sessionId) continue
      armed.cancel()
      this.#armed.delete(name)
    }
  }

  stop(): void {
    for (const { cancel } of this.#armed.values()) cancel()
    this.#armed.clear()
  }

  #wait(sessionId: SessionId, timer: TimerName, key: string, ms: number): void {
    const { clock, blocked, fire } = this.#ports
    const cancel = clock.after(ms, () => {
      // Behind a commit that is tried again it would come after what may cancel it.
      if (blocked(sessionId)) return this.#wait(sessionId, timer, key, BLOCKED_WAIT_MS)
      this.#armed.delete(nameOf(timer, key))
      fire(sessionId, timer, key)
    })
    this.#armed.set(nameOf(timer, key), { sessionId, cancel })
  }
}

const nameOf = (timer: TimerName, key: string): string => `${timer}:${key}`

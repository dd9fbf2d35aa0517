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

export class SessionTimers {
  readonly #clock: Clock
  readonly #limits: TimerLimits
  readonly #fire: (sessionId: SessionId, timer: TimerName, key: string) => void
  readonly #armed = new Map<string, () => void>()

  constructor(clock: Clock, limits: TimerLimits, fire: (sessionId: SessionId, timer: TimerName, key: string) => void) {
    this.#clock = clock
    this.#limits = limits
    this.#fire = fire
  }

  arm(sessionId: SessionId, timer: TimerName, key: string): void {
    this.cancel(timer, key)
    const cancel = this.#clock.after(this.#limits[timer], () => {
      this.#armed.delete(nameOf(timer, key))
      this.#fire(sessionId, timer, key)
    })
    this.#armed.set(nameOf(timer, key), cancel)
  }

  cancel(timer: TimerName, key: string): void {
    this.#armed.get(nameOf(timer, key))?.()
    this.#armed.delete(nameOf(timer, key))
  }

  stop(): void {
    for (const cancel of this.#armed.values()) cancel()
    this.#armed.clear()
  }
}

const nameOf = (timer: TimerName, key: string): string => `${timer}:${key}`

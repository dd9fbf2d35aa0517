/** Time that moves only when the simulator says so. The wall clock may step back; nothing may care (decision 27). */
import type { Clock } from '../packages/runtime/src/host/clock.ts'

const START_MS = Date.UTC(2026, 0, 1)

export class SimClock implements Clock {
  now = 0
  /** Added to the wall clock alone. */
  skewMs = 0
  #timers: { at: number; no: number; fire: () => void }[] = []
  #serial = 0

  iso(): string {
    return new Date(this.wall()).toISOString()
  }
  wall(): number {
    return START_MS + this.now + this.skewMs
  }
  monotonic(): number {
    return this.now
  }
  after(ms: number, fire: () => void): () => void {
    const timer = { at: this.now + ms, no: (this.#serial += 1), fire }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Milliseconds to the next timer, or null. */
  next(): number | null {
    const at = Math.min(...this.#timers.map((timer) => timer.at))
    return Number.isFinite(at) ? at - this.now : null
  }

  /** Milliseconds to the last timer, or null. */
  last(): number | null {
    const at = Math.max(...this.#timers.map((timer) => timer.at))
    return Number.isFinite(at) ? at - this.now : null
  }

  /** Lets time pass and fires what is due, in order. */
  advance(ms: number): void {
    const until = this.now + ms
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at || a.no - b.no)[0]
      if (due === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== due)
      this.now = Math.max(this.now, due.at)
      due.fire()
    }
    this.now = until
  }

  /** The process is gone, and its timers with it. */
  clear(): void {
    this.#timers = []
  }
}

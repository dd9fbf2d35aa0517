/** Time and timers of the host: the only place that names setTimeout. The simulator brings its own. */
export type Clock = {
  /** ISO 8601, UTC, milliseconds: what rows carry. Orders nothing (decision 27). */
  iso(): string
  /** Milliseconds since the epoch. */
  wall(): number
  /** Milliseconds that never step back. */
  monotonic(): number
  /** Runs `fire` once after `ms`; the answer cancels it. */
  after(ms: number, fire: () => void): () => void
}

export const systemClock: Clock = {
  iso: () => new Date().toISOString(),
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

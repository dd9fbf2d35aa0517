/** Clocks for tests of long waits. */
import { systemClock, type Clock } from '../../packages/runtime/src/host/clock.ts'

/** Timers run `factor` times as fast; the time of day is the real one. */
export function hastyClock(factor: number): Clock {
  return { ...systemClock, after: (ms, fire) => systemClock.after(ms / factor, fire) }
}

/** A prime far above any span: each reading lies elsewhere in it, before or after the one before. */
const STRIDE_MS = 7_919_003

/** A wall clock that jumps by up to `spanMs` to either side at every reading. */
export function unsteadyClock(spanMs: number): Clock {
  let reading = 0
  const wall = (): number => {
    reading += 1
    return Date.now() + ((reading * STRIDE_MS) % (2 * spanMs)) - spanMs
  }
  return { ...systemClock, wall, iso: () => new Date(wall()).toISOString() }
}

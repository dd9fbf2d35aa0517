/** Low-frequency housekeeping: what no event will ever remind the host of. */
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { AgentSessionRuntimeService } from './runtime-service.ts'
import { GRACE_MS } from './stream-manager.ts'

/** The delivery sweep of the specification; the rest rides on it. */
export const SWEEP_INTERVAL_MS = 60_000
/** Answers of POSTs that made no row are kept for a day (decision 4). */
const ANSWER_KEPT_MS = 24 * 60 * 60 * 1000

export type SweepPorts = { store: Store; clock: Clock; runtime: AgentSessionRuntimeService; report(detail: string): void }

/** Starts the sweep; the answer stops it. */
export function startSweep(ports: SweepPorts): () => void {
  const { clock, report } = ports
  let cancel = (): void => undefined
  const again = (): void => {
    try {
      sweep(ports)
    } catch (error) {
      report(error instanceof Error ? error.message : String(error))
    }
    cancel = clock.after(SWEEP_INTERVAL_MS, again)
  }
  cancel = clock.after(SWEEP_INTERVAL_MS, again)
  return () => cancel()
}

export function sweep({ store, clock, runtime }: Omit<SweepPorts, 'report'>): void {
  const ago = (ms: number): string => new Date(clock.wall() - ms).toISOString()
  store.dropFinalChunks(ago(GRACE_MS))
  store.forgetAnswers(ago(ANSWER_KEPT_MS))
  // A workspace that came back tells nobody; accepted rows are looked at again.
  for (const id of store.sessionsOwing()) runtime.wake(id)
}

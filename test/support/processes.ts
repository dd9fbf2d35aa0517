/** What the ledger of a dead host names, and whether it is gone. */
import { join } from 'node:path'
import { findProcessTable } from '../../packages/runtime/src/host/process-table.ts'
import { MARKER_VARIABLE } from '../../packages/runtime/src/host/process-manager.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import type { LedgerEntry } from '../../packages/runtime/src/store/store.ts'
import { until } from './daemon.ts'

/** Promised: no process of the recorded tree is alive 5 s after the new host is ready (decision 11). */
const GONE_MS = 5000

/** Reads the ledger while no host runs. */
export function recordedProcesses(dataDir: string): LedgerEntry[] {
  const store = openSqliteStore({ path: join(dataDir, 'wheelhouse.db') })
  try {
    return store.listProcesses()
  } finally {
    store.close()
  }
}

/** Waits until the recorded processes and everything that carries their marks are gone. */
export async function allGone(entries: readonly LedgerEntry[]): Promise<void> {
  const table = findProcessTable()
  const alive = (): number[] =>
    table
      .list()
      .filter(
        (info) =>
          entries.some((entry) => entry.pid === info.pid && entry.startTime === info.startTime) ||
          entries.some((entry) => table.hasVariable(info.pid, `${MARKER_VARIABLE}=${entry.marker}`) === 'yes'),
      )
      .map((info) => info.pid)
  await until(`the processes of the dead host to end (${alive().join(', ')})`, () => alive().length === 0, GONE_MS)
}

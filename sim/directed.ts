/**
 * Faults where they are missing: for each cell that was met and lacks one, its history is played again
 * with the fault at exactly that event.
 */
import type { CellCount, Cells, Witness } from './cells.ts'
import { simulate } from './simulate.ts'
import type { Fault } from './world.ts'

/** Crash points of one event that are tried: before and after its commit, and around its first effects. */
const POINTS = 8

export type Directed = { runs: number; failure: string | null; log: string[] }

export function direct(cells: Cells): Directed {
  const result: Directed = { runs: 0, failure: null, log: [] }
  for (const [key, count] of Array.from(cells.counts)) {
    if (count.witness === null) continue
    const { seed, ops, rate } = count.witness
    for (const fault of lacking(count, count.witness)) {
      const outcome = simulate({ seed, ops, fault, rate, cells })
      result.runs += 1
      if (outcome.failure === null) continue
      result.failure = `${key}: seed ${seed} ops ${ops} rate ${rate} fault ${JSON.stringify(fault)}: ${outcome.failure}`
      result.log = outcome.log
      return result
    }
  }
  return result
}

function lacking(count: CellCount, { points, commits }: Witness): Fault[] {
  const faults: Fault[] = []
  const crashes =
    (count.commits > 0 && (count.crashBefore === 0 || count.crashAfter === 0)) || (count.effects > 0 && count.crashEffect === 0)
  if (crashes) for (let at = points + 1; at <= points + POINTS; at += 1) faults.push({ kind: 'crash', at })
  if (count.commits === 0) return faults
  const at = commits + 1
  if (count.failed === 0) faults.push({ kind: 'failed', at })
  if (count.refused === 0) faults.push({ kind: 'refused', at })
  if (count.unknown === 0) faults.push({ kind: 'unknown-saved', at }, { kind: 'unknown-not-saved', at })
  return faults
}

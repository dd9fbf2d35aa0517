/** A fixed scenario, broken at every point of it, in every way. */
import type { Cells } from './cells.ts'
import { simulate, type Outcome } from './simulate.ts'

export const KINDS = ['crash', 'failed', 'refused', 'unknown-saved', 'unknown-not-saved'] as const
const SCENARIO_OPS = 60

export type Verdict = { failure: string | null; runs: number; points: number; commits: number; crashes: number; log: string[] }

export function everyPoint(seed: number, kinds: readonly (typeof KINDS)[number][], cells: Cells | null = null): Verdict {
  const verdict: Verdict = { failure: null, runs: 0, points: 0, commits: 0, crashes: 0, log: [] }
  const one = (fault: { kind: (typeof KINDS)[number]; at: number } | null): Outcome => {
    const outcome = simulate({ seed, ops: SCENARIO_OPS, fault, rate: 0, cells })
    verdict.runs += 1
    verdict.points += outcome.points
    verdict.commits += outcome.commits
    verdict.crashes += outcome.crashes
    if (outcome.failure !== null) {
      verdict.failure = `seed ${seed} fault ${JSON.stringify(fault)}: ${outcome.failure}`
      verdict.log = outcome.log
    }
    return outcome
  }
  const plain = one(null)
  for (const kind of kinds) {
    const last = kind === 'crash' ? plain.points : plain.commits
    for (let at = 1; at <= last && verdict.failure === null; at += 1) one({ kind, at })
  }
  return verdict
}

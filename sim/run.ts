/**
 * `node sim/run.ts [--every N] [--random N] [--seed S] [--log]`: crash and every commit outcome at
 * every point of fixed scenarios, then random histories. Prints totals; exits 1 at the first failure
 * with what reproduces it.
 */
import { Cells } from './cells.ts'
import { simulate, type Outcome } from './simulate.ts'
import { type Fault } from './world.ts'
import { cellTable } from './cell-table.ts'

const arg = (name: string, fallback: number): number => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? fallback : Number(process.argv[index + 1])
}
const flag = (name: string): boolean => process.argv.includes(`--${name}`)

const SCENARIO_OPS = 40
const HISTORY_OPS = 80
/** Per point of a history: with about 300 points it makes more than one fault in ten operations. */
const FAULT_RATE = 0.02
const KINDS = ['crash', 'failed', 'refused', 'unknown-saved', 'unknown-not-saved'] as const

const cells = new Cells()
const totals = { runs: 0, points: 0, commits: 0, crashes: 0 }
const started = performance.now()

function one(seed: number, ops: number, fault: Fault | null, rate: number): Outcome {
  const outcome = simulate({ seed, ops, fault, rate, cells })
  totals.runs += 1
  totals.points += outcome.points
  totals.commits += outcome.commits
  totals.crashes += outcome.crashes
  if (outcome.failure !== null) {
    console.error(`FAILED seed ${seed} ops ${ops} fault ${JSON.stringify(fault)} rate ${rate}: ${outcome.failure}`)
    if (flag('log')) console.error(outcome.log.slice(-arg('tail', 60)).join('\n'))
    process.exit(1)
  }
  return outcome
}

const first = arg('seed', 1)
for (let seed = first; seed < first + arg('every', 4); seed += 1) {
  const plain = one(seed, SCENARIO_OPS, null, 0)
  for (const kind of KINDS) {
    const last = kind === 'crash' ? plain.points : plain.commits
    for (let at = 1; at <= last; at += 1) one(seed, SCENARIO_OPS, { kind, at }, 0)
  }
}
for (let seed = first; seed < first + arg('random', 100); seed += 1) one(seed, HISTORY_OPS, null, FAULT_RATE)

const seconds = (performance.now() - started) / 1000
console.log(
  `${totals.runs} runs, ${totals.points} points, ${totals.commits} commits, ${totals.crashes} crashes in ${seconds.toFixed(1)} s; 0 failures`,
)
if (flag('cells')) console.log(cellTable(cells))

/**
 * `node sim/run.ts [--every N] [--random N] [--hunt N] [--replay JSON] [--seed S] [--cells FILE] [--log]`:
 * crash and every commit outcome at every point of N fixed scenarios, then N random histories, then up
 * to N rounds of histories that look for the cells that are not full. `--replay` plays one history that
 * failed. Prints totals; exits 1 at the first failure with what reproduces it, and after a hunt that
 * left cells open with their names.
 */
import { writeFileSync } from 'node:fs'
import { cellTable, lacksOf } from './cell-table.ts'
import { Cells } from './cells.ts'
import { huntsOf, openCells, tally } from './fill.ts'
import { everyPoint, KINDS } from './every.ts'
import { simulate } from './simulate.ts'

const arg = (name: string): string | null => {
  const index = process.argv.indexOf(`--${name}`)
  return index < 0 ? null : (process.argv[index + 1] ?? '')
}
const number = (name: string, fallback: number): number => Number(arg(name) ?? fallback)

const HISTORY_OPS = 80
/** Per point of a history: with about 600 points a history it makes more than one fault in ten operations. */
const FAULT_RATE = 0.012
/** Lines of the log shown of a failure. */
const TAIL = 60

const cells = new Cells()
const totals = { runs: 0, points: 0, commits: 0, crashes: 0 }
const started = performance.now()
const first = number('seed', 1)

for (let seed = first; seed < first + number('every', 4); seed += 1) {
  const verdict = everyPoint(seed, KINDS, cells)
  totals.runs += verdict.runs
  add(verdict, verdict.failure)
}
for (let seed = first; seed < first + number('random', 100); seed += 1) {
  const outcome = simulate({ seed, ops: HISTORY_OPS, fault: null, rate: FAULT_RATE, cells })
  totals.runs += 1
  add(outcome, outcome.failure === null ? null : `seed ${seed} ops ${HISTORY_OPS} rate ${FAULT_RATE}: ${outcome.failure}`)
}

const replay = arg('replay')
if (replay !== null) {
  const outcome = simulate({ fault: null, cells, ...JSON.parse(replay) })
  totals.runs += 1
  add(outcome, outcome.failure)
}
for (let round = 1; round <= number('hunt', 0); round += 1) {
  const before = totals.runs
  for (const run of huntsOf(cells, round)) {
    totals.runs += 1
    add(run, run.failure === null ? null : `--replay '${run.replay}': ${run.failure}`)
  }
  if (totals.runs === before) break
  const { full, met, possible } = tally(cells)
  console.log(
    `round ${round}: ${totals.runs} runs, ${possible} cells, ${met} met, ${full} full; ${((performance.now() - started) / 1000).toFixed(0)} s`,
  )
}

const seconds = (performance.now() - started) / 1000
console.log(
  `${totals.runs} runs, ${totals.points} points, ${totals.commits} commits, ${totals.crashes} crashes in ${seconds.toFixed(1)} s; 0 failures`,
)
const file = arg('cells')
if (file !== null) writeFileSync(file, cellTable(cells, totals.runs))
if (arg('hunt') !== null) {
  const open = openCells(cells)
  for (const { key } of open) console.error(`open: ${key}: ${lacksOf(cells.countOf(key))}`)
  if (open.length > 0) process.exit(1)
}

function add(part: { points: number; commits: number; crashes: number; log: string[] }, failure: string | null): void {
  totals.points += part.points
  totals.commits += part.commits
  totals.crashes += part.crashes
  if (failure === null) return
  console.error(`FAILED ${failure}`)
  if (process.argv.includes('--log')) console.error(part.log.slice(-TAIL).join('\n'))
  process.exit(1)
}

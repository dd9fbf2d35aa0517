/** Hunts for rare cells, on a small part of them; `npm run cells` is the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cells } from '../../sim/cells.ts'
import { huntsOf, tally } from '../../sim/fill.ts'
import { simulate } from '../../sim/simulate.ts'

/** They show the hunts a way to a tenth of the cells. */
const BASE = { histories: 10, ops: 80, rate: 0.012 }
/** About a quarter of a round. */
const HUNTS = 120

test('hunts meet the cells that random histories leave open, with the faults they lack, and break no invariant', () => {
  const cells = new Cells()
  for (let seed = 1; seed <= BASE.histories; seed += 1) simulate({ seed, ops: BASE.ops, fault: null, rate: BASE.rate, cells })
  const before = tally(cells)
  let runs = 0
  for (const run of huntsOf(cells, 1)) {
    assert.equal(run.failure, null, `--replay '${run.replay}'\n${run.log.slice(-20).join('\n')}`)
    runs += 1
    if (runs === HUNTS) break
  }
  // A hunt that did not know its way, or broke nothing there, would pass everything. Random faults refuse no commit.
  const { met } = tally(cells)
  const refused = [...cells.counts.values()].filter((count) => count.refused > 0).length
  const figures = `${before.met} cells met before, ${met} after, ${refused} with a commit that was refused`
  assert.ok(met > 2 * before.met && refused > 30, figures)
})

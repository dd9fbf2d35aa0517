/** The part of the simulation that runs on every commit; `npm run sim` is the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyPoint, KINDS } from '../../sim/every.ts'
import { simulate } from '../../sim/simulate.ts'

for (const kind of KINDS) {
  test(`${kind} at every point of a fixed scenario breaks no invariant`, () => {
    const verdict = everyPoint(18, [kind])
    assert.equal(verdict.failure, null)
    assert.ok(verdict.runs > 20, `only ${verdict.runs} points`)
  })
}

test('random histories with crashes and spoiled commits break no invariant and come to rest', () => {
  const stats = { crashes: 0, sends: 0, rolls: 0, results: 0, tools: 0 }
  for (let seed = 1001; seed <= 1120; seed += 1) {
    const outcome = simulate({ seed, ops: 80, fault: null, rate: 0.012 })
    assert.equal(outcome.failure, null, `seed ${seed}\n${outcome.log.slice(-20).join('\n')}`)
    stats.crashes += outcome.crashes
    for (const name of ['sends', 'rolls', 'results', 'tools'] as const) stats[name] += outcome.stats[name]
  }
  // A world in which nothing happens would pass everything.
  assert.ok(stats.crashes > 300 && stats.sends > 900 && stats.rolls > 10 && stats.results > 90 && stats.tools > 30, JSON.stringify(stats))
})

test('a seed is a history: the same one twice is the same', () => {
  const once = simulate({ seed: 7, ops: 60, fault: null, rate: 0.02 })
  assert.deepEqual(simulate({ seed: 7, ops: 60, fault: null, rate: 0.02 }), once)
})

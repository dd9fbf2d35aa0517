/** The store that fails on demand does to its caller what a real one may do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultyStore } from '../../../sim/faulty-store.ts'
import { attempt, insertInput, withStore } from './fixtures.ts'
import { sqliteMemory } from './sqlite-targets.ts'

const input = (n: number): ReturnType<typeof insertInput> => insertInput(`i${n}`, { queuePos: n })

test('planned faults answer as told and save nothing, but for the one that says it may have', () =>
  withStore(sqliteMemory, (inner) => {
    const faulty = faultyStore(inner)
    const { store } = faulty
    faulty.failAt(2, 'refused')
    faulty.failAt(3, 'failed')
    faulty.failAt(4, 'unknown-not-saved')
    faulty.failAt(5, 'unknown-saved')
    const seen = [1, 2, 3, 4, 5].map((n) => {
      const rev = inner.revOf('s1') ?? 0
      const { outcome } = attempt(store, 's1', [input(n)])
      return [outcome, (inner.revOf('s1') ?? 0) - rev]
    })
    assert.deepEqual(seen, [
      ['done', 1],
      ['refused', 0],
      ['failed', 0],
      ['unknown', 0],
      ['unknown', 1],
    ])
    assert.deepEqual(
      inner.listQueue('s1').map((row) => row.id),
      ['i1', 'i5'],
    )
    assert.equal(faulty.commits(), 5)
  }))

test('faults for the next commits are used up one by one, and healing forgets them', () =>
  withStore(sqliteMemory, (inner) => {
    const faulty = faultyStore(inner)
    faulty.failNext('failed', 2)
    const outcomes = [1, 2, 3].map((n) => attempt(faulty.store, 's1', [input(n)]).outcome)
    assert.deepEqual(outcomes, ['failed', 'failed', 'done'])
    faulty.failNext('failed', 2)
    faulty.failAppends(1)
    faulty.heal()
    assert.equal(attempt(faulty.store, 's1', [input(4)]).outcome, 'done')
    faulty.store.appendChunks([{ sessionId: 's1', messageId: 'r1', n: 1, chunk: { type: 'start-step' } }])
    assert.equal(inner.readChunks('r1', 0).length, 1)
  }))

test('an append that fails saves nothing, and a commit that the store refuses is refused although its answer was to be lost', () =>
  withStore(sqliteMemory, (inner) => {
    const seen: number[] = []
    const faulty = faultyStore(inner, (number) => void seen.push(number))
    faulty.failAppends(1)
    const entry = { sessionId: 's1', messageId: 'r1', n: 1, chunk: { type: 'start-step' as const } }
    assert.throws(() => faulty.store.appendChunks([entry]))
    assert.deepEqual(inner.readChunks('r1', 0), [])
    faulty.failNext('unknown-saved')
    assert.equal(attempt(faulty.store, 's1', [{ type: 'mark-consumed', id: 'nobody' }]).outcome, 'refused')
    assert.deepEqual(seen, [1])
  }))

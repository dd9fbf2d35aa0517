import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration, shortAge, tokens } from '../../packages/web/src/state/format.ts'
import { readModels, writeModels } from '../../packages/web/src/state/model-lines.ts'
import { parseRoute, paths } from '../../packages/web/src/state/places.ts'

const UNITS = { h: 'h', m: 'm', s: 's' }

test('durations are as precise as they are short', () => {
  assert.deepEqual(
    [46, 1_400, 12_000, 59_600, 134_000, 3_780_000].map((ms) => duration(ms, UNITS)),
    ['46 ms', '1.4 s', '12 s', '1 m', '2 m 14 s', '1 h 3 m'],
  )
})

test('ages fit a list', () => {
  const now = Date.parse('2026-05-20T12:00:00Z')
  const age = (ms: number): string => shortAge(new Date(now - ms).toISOString(), now, 'en', { now: 'now', m: 'm', h: 'h', d: 'd' })
  assert.deepEqual([5_000, 300_000, 7_200_000, 3 * 86_400_000, 9 * 86_400_000].map(age), ['now', '5m', '2h', '3d', 'May 11'])
})

test('token counts are rounded', () => {
  assert.deepEqual([850, 12_400, 1_240_000].map(tokens), ['850', '12k', '1.2M'])
})

test('addresses lead where they came from', () => {
  assert.deepEqual(parseRoute(paths.session('a b'), '', ''), { page: 'session', id: 'a b', messageId: null })
  assert.deepEqual(parseRoute('/s/x', '', '#m-y'), { page: 'session', id: 'x', messageId: 'y' })
  assert.deepEqual(parseRoute('/new', '?agent=q', ''), { page: 'new', agentId: 'q' })
  assert.deepEqual(parseRoute(paths.agent('new'), '', ''), { page: 'agent', id: 'new' })
  assert.deepEqual(parseRoute('/s', '', ''), { page: 'lost' })
  assert.deepEqual(parseRoute('/s/%', '', ''), { page: 'session', id: '%', messageId: null })
  assert.deepEqual(parseRoute('/elsewhere', '', ''), { page: 'lost' })
})

test('models are read from lines, and what a line does not say is kept', () => {
  const pricing = { input: 1, output: 2, cacheRead: null, cacheWrite: 3 }
  const known = [{ id: 'a', name: 'A', contextWindow: 1_000, pricing }]
  assert.equal(writeModels(known), 'a, 1000')
  assert.deepEqual(readModels('a\n\n b/c:1 , 200k\n', known), {
    models: [
      { id: 'a', name: 'A', pricing: { input: 1, output: 2, cacheWrite: 3 } },
      { id: 'b/c:1', contextWindow: 200_000 },
    ],
  })
  assert.deepEqual(readModels('a b', []), { bad: 'a b' })
  assert.deepEqual(readModels('a, many', []), { bad: 'a, many' })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEvent, applyPage, emptyView, type SessionView } from '../../packages/client/src/index.ts'
import { canSteer, planSend } from '../../packages/web/src/state/composing.ts'
import { buildItems, type Item } from '../../packages/web/src/state/items.ts'
import { groupSessions, moodOf, needsOf } from '../../packages/web/src/state/needs.ts'
import { ModelSession, SESSION_ID, type Move } from '../client/model.ts'
import { approval, session } from '../browser/seed/make.ts'

function play(moves: Move[], view?: SessionView, model = new ModelSession()): { view: SessionView; model: ModelSession } {
  const start = view ?? applyPage(model.begin(null).reduce(applyEvent, emptyView(SESSION_ID)), model.page(200, null), false)
  return { view: moves.flatMap((move) => model.apply(move)).reduce(applyEvent, start), model }
}
const kinds = (items: readonly Item[]): string[] => items.map((item) => item.kind)

test('a running turn is shown block by block and ends in a live row', () => {
  const { view } = play([{ do: 'send' }, { do: 'open' }, { do: 'chunks', count: 11 }])
  assert.deepEqual(kinds(buildItems(view, [])), ['day', 'user', 'reasoning', 'text', 'tool', 'live'])
})

test('a steer stands where it was taken and is marked so; its turn has one end, counted from its beginning', () => {
  const { view } = play([
    { do: 'send' },
    { do: 'send' },
    { do: 'open' },
    { do: 'chunks', count: 8 },
    { do: 'roll' },
    { do: 'chunks', count: 8 },
    { do: 'finish' },
  ])
  const items = buildItems(view, [])
  assert.deepEqual(kinds(items), ['day', 'user', 'reasoning', 'text', 'user', 'reasoning', 'text', 'end'])
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'user' ? [item.steered] : [])),
    [false, true],
  )
})

test('a stream makes new only the block it writes to', () => {
  const first = play([
    { do: 'send' },
    { do: 'open' },
    { do: 'chunks', count: 11 },
    { do: 'finish' },
    { do: 'send' },
    { do: 'open' },
    { do: 'chunks', count: 6 },
  ])
  const before = buildItems(first.view, [])
  const after = buildItems(play([{ do: 'chunks', count: 1 }], first.view, first.model).view, [])
  assert.equal(after.length, before.length)
  const changed = after.filter(
    (item, index) => item !== before[index] && item.kind !== 'live' && item.kind !== 'day' && item.kind !== 'end',
  )
  assert.deepEqual(kinds(changed), ['text'])
})

test('every block has a key of its own', () => {
  const moves: Move[] = Array.from({ length: 6 }, (): Move[] => [
    { do: 'send' },
    { do: 'send' },
    { do: 'open' },
    { do: 'chunks', count: 23 },
    { do: 'roll' },
    { do: 'finish' },
  ]).flat()
  const keys = buildItems(play(moves).view, []).map((item) => item.key)
  assert.equal(new Set(keys).size, keys.length)
})

test('what Enter will do is known before it is pressed', () => {
  const idle = play([]).view
  const running = play([{ do: 'send' }, { do: 'open' }]).view
  const someone = session({ name: 'x', agentId: 'a' })
  const will = (view: SessionView, steer: 'none' | 'at-tool', when: 'steer' | 'queue' = 'steer', of = someone) => {
    const plan = planSend(view, of, steer, when)
    return plan.can ? plan.will : plan.because
  }
  assert.equal(will(idle, 'at-tool'), 'send')
  assert.equal(will(running, 'at-tool'), 'steer')
  assert.equal(will(running, 'at-tool', 'queue'), 'queue')
  assert.equal(will(running, 'none'), 'queue')
  assert.equal(will({ ...running, turn: running.turn === null ? null : { ...running.turn, phase: 'stopping' } }, 'at-tool'), 'hold')
  assert.equal(will(play([{ do: 'send' }, { do: 'hold' }]).view, 'at-tool'), 'run-beside-held')
  assert.equal(will(idle, 'at-tool', 'steer', { ...someone, agentId: null }), 'no-agent')
  assert.equal(will(idle, 'at-tool', 'steer', { ...someone, status: 'quarantined' }), 'quarantined')
  assert.equal(canSteer({ ...running, turn: running.turn === null ? null : { ...running.turn, kind: 'autonomous' } }, 'at-tool'), false)
})

test('what needs the person stands first, the longest waiting on top, each thing once', () => {
  const waits = session({ name: 'waits', agentId: 'a', status: 'waiting', needsYou: 2 })
  const held = session({ name: 'held', agentId: 'a', status: 'held', held: 2, needsYou: 2 })
  const unknown = session({ name: 'unknown', agentId: 'a', needsYou: 1 })
  const sick = session({ name: 'sick', agentId: 'a', status: 'quarantined' })
  const calm = session({ name: 'calm', agentId: 'b' })
  const late = approval(waits.id, 'm', { toolName: 'Bash', input: {}, requestedAt: '2026-01-01T00:00:02Z' })
  const early = approval(waits.id, 'm', { toolName: 'Bash', input: {}, requestedAt: '2026-01-01T00:00:01Z' })
  const all = [waits, held, unknown, sick, calm]
  const needs = needsOf(Object.fromEntries(all.map((each) => [each.id, each])), { [late.id]: late, [early.id]: early })
  assert.deepEqual(
    needs.slice(0, 2).map((need) => need.kind === 'approval' && need.approval.id),
    [early.id, late.id],
  )
  assert.deepEqual(
    new Map(needs.slice(2).map((need) => [need.session.name, need.kind])),
    new Map([
      ['held', 'held'],
      ['unknown', 'decide'],
      ['sick', 'quarantined'],
    ]),
  )
  assert.deepEqual(all.map(moodOf), ['waiting', 'held', 'waiting', 'error', 'idle'])
  const orphan = session({ name: 'orphan', agentId: null })
  const order = (nameOf: (id: string | null) => string): (string | null)[] =>
    groupSessions([orphan, ...all], nameOf).map((group) => group.agentId)
  assert.deepEqual(
    order(() => '…'),
    ['a', 'b', null],
  )
  assert.deepEqual(
    order((id) => (id === 'a' ? 'Zoe' : 'Ada')),
    ['a', 'b', null],
    'names that come later move no group',
  )
  assert.deepEqual(
    groupSessions(all, (id) => id ?? '').map((group) => [group.name, group.sessions.length]),
    [
      ['a', 4],
      ['b', 1],
    ],
  )
})

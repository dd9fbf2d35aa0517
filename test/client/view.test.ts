import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  applyEvent,
  applyPage,
  compareCursors,
  contentOf,
  emptyView,
  isPageTooOld,
  type SessionView,
  type StreamEvent,
} from '../../packages/client/src/index.ts'
import { ModelSession, SESSION_ID, type Move } from './model.ts'

const plain = (...names: Exclude<Move['do'], 'withdraw' | 'edit' | 'decide' | 'chunks'>[]): fc.Arbitrary<Move> =>
  fc.constantFrom(...names).map((name) => ({ do: name }))
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: plain('send') },
  { weight: 4, arbitrary: plain('open') },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('chunks' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 3, arbitrary: plain('finish', 'fail', 'roll', 'ask') },
  { weight: 1, arbitrary: plain('crash', 'restart', 'hold', 'rename', 'usage') },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('withdraw' as const, 'edit' as const, 'decide' as const), pick: fc.nat(9) }) },
)
const moves = fc.array(move, { minLength: 1, maxLength: 60, size: 'max' })

/** What every window must agree on: the fresh read, with pending content folded. */
function canonical(view: SessionView): unknown {
  return {
    rows: view.rows.map((row) => ({ ...row, ...contentOf(view, row) })),
    queue: view.queue,
    approvals: view.approvals.filter((approval) => approval.status === 'pending'),
    session: view.session,
    status: view.status,
    turn: view.turn,
    contextUsage: view.contextUsage,
    gap: view.gap,
  }
}

/** A window that has just opened: page and snapshot of now. */
function freshView(model: ModelSession): SessionView {
  return applyPage(model.begin(null).reduce(applyEvent, emptyView(SESSION_ID)), model.page(200, null), false)
}

const foldAll = (view: SessionView, events: readonly StreamEvent[]): SessionView => events.reduce(applyEvent, view)

function eventsOf(list: readonly Move[]): StreamEvent[] {
  const model = new ModelSession()
  return list.flatMap((each) => model.apply(each))
}

/** Hears `cut` events, then nothing while `away` more happen, then goes on by its cursor. Returns its view and a fresh one. */
function cutAndContinued(list: readonly Move[], cut: number, away: number): [unknown, unknown] {
  const model = new ModelSession()
  let view = freshView(model)
  let seen = 0
  let line = 'up' as 'up' | 'down' | 'back'
  for (const each of list) {
    for (const event of model.apply(each)) {
      if (line === 'up' && seen >= cut) line = 'down'
      if (line !== 'down') view = applyEvent(view, event)
      seen += 1
    }
    if (line === 'down' && seen >= cut + away) {
      view = foldAll(view, model.begin(view.cursor))
      line = 'back'
    }
  }
  if (line === 'down') view = foldAll(view, model.begin(view.cursor))
  return [canonical(view), canonical(freshView(model))]
}

test('events that come again, from any earlier index, give the same view', () => {
  fc.assert(
    fc.property(moves, fc.nat(), fc.nat(), (list, cutSeed, backSeed) => {
      const model = new ModelSession()
      const start = freshView(model)
      const events = list.flatMap((each) => model.apply(each))
      const cut = events.length === 0 ? 0 : cutSeed % (events.length + 1)
      const from = cut === 0 ? 0 : backSeed % (cut + 1)
      const once = foldAll(start, events)
      const again = foldAll(foldAll(start, events.slice(0, cut)), events.slice(from))
      assert.deepEqual(canonical(again), canonical(once))
      assert.deepEqual(canonical(once), canonical(freshView(model)))
    }),
    { numRuns: 300 },
  )
})

test('an event heard again later, alone, takes nothing back', () => {
  const durable = new Set(['chunk', 'row', 'row-removed', 'approval'])
  fc.assert(
    fc.property(moves, (list) => {
      const model = new ModelSession()
      let view = freshView(model)
      const heard: StreamEvent[] = []
      for (const each of list) {
        for (const event of model.apply(each)) {
          view = applyEvent(view, event)
          heard.push(event)
        }
        for (const old of heard) {
          const before = 'cursor' in old && old.cursor !== null && compareCursors(old.cursor, view.cursor ?? '') < 0
          if (!before && !durable.has(old.type)) continue
          const after = applyEvent(view, old)
          assert.deepEqual(canonical(after), canonical(view))
          assert.equal(compareCursors(after.cursor ?? '', view.cursor ?? ''), 0)
        }
      }
    }),
    { numRuns: 150 },
  )
})

test('a reader cut at every event and continued by its cursor equals a fresh read', () => {
  fc.assert(
    fc.property(moves, fc.nat(30), (list, later) => {
      const total = eventsOf(list).length
      for (let cut = 0; cut <= total; cut += 1) assert.deepEqual(...cutAndContinued(list, cut, later))
    }),
    { numRuns: 60 },
  )
})

test('a connection cut at every index of its own catch-up still converges', () => {
  fc.assert(
    fc.property(moves, moves, fc.nat(), (first, second, seed) => {
      const model = new ModelSession()
      let view = foldAll(
        freshView(model),
        first.flatMap((each) => model.apply(each)),
      )
      for (const each of second) model.apply(each)
      const catchUp = model.begin(view.cursor)
      view = foldAll(view, catchUp.slice(0, seed % (catchUp.length + 1)))
      view = foldAll(view, model.begin(view.cursor))
      assert.deepEqual(canonical(view), canonical(freshView(model)))
    }),
    { numRuns: 200 },
  )
})

test('no chunk is applied twice and none out of order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 6 })), { maxLength: 30 }), (batches) => {
      let view = emptyView(SESSION_ID)
      for (const [n, count] of batches) {
        const chunks = Array.from({ length: count }, (_, index) => ({
          type: 'text-delta' as const,
          id: 't',
          delta: `<${String(n + index)}>`,
        }))
        view = applyEvent({ ...view, gap: false }, { type: 'chunk', sessionId: SESSION_ID, cursor: '1.1.0', messageId: 'm', n, chunks })
      }
      const pending = view.pending['m']
      const part = pending?.content.parts[0]
      const text = part?.type === 'text' ? part.text : ''
      assert.equal(text, Array.from({ length: pending?.n ?? 0 }, (_, index) => `<${String(index + 1)}>`).join(''))
    }),
  )
})

test('a turn goes on through a roll, and the end of an earlier turn does not end the present one', () => {
  const model = new ModelSession()
  const early: Move[] = [{ do: 'send' }, { do: 'send' }, { do: 'open' }]
  const view = foldAll(
    freshView(model),
    early.flatMap((each) => model.apply(each)),
  )
  const turn = view.turn
  assert.ok(turn)
  const ended = { sessionId: SESSION_ID, cursor: model.cursor(), type: 'turn', phase: 'ended', messageId: turn.messageId } as const
  assert.deepEqual(applyEvent(view, { ...ended, turnId: turn.turnId, boundary: 'row-roll' }).turn, turn)
  assert.deepEqual(applyEvent(view, { ...ended, turnId: 'an earlier one', boundary: 'turn' }).turn, turn)
  assert.equal(applyEvent(view, { ...ended, turnId: turn.turnId, boundary: 'turn' }).turn, null)
})

test('a missing chunk is reported as a gap and a resync heals it', () => {
  const model = new ModelSession()
  const early: Move[] = [{ do: 'send' }, { do: 'open' }, { do: 'chunks', count: 3 }]
  let view = foldAll(
    freshView(model),
    early.flatMap((each) => model.apply(each)),
  )
  model.apply({ do: 'chunks', count: 1 })
  view = foldAll(view, model.apply({ do: 'chunks', count: 2 }))
  assert.equal(view.gap, true)
  const [snapshot, ...chunks] = model.begin(null)
  assert.ok(snapshot?.type === 'snapshot')
  view = foldAll(view, [{ ...snapshot, type: 'resync', reason: 'cursor-unknown' }, ...chunks])
  assert.equal(view.gap, false)
  assert.equal(view.loaded, false)
  view = applyPage(view, model.page(200, null), false)
  assert.deepEqual(canonical(view), canonical(freshView(model)))
})

test('older pages join in front, and a page read before the snapshot is recognised', () => {
  const model = new ModelSession()
  for (let turn = 0; turn < 6; turn += 1) for (const each of [{ do: 'send' }, { do: 'open' }, { do: 'finish' }] as const) model.apply(each)
  const stale = model.page(4, null)
  model.apply({ do: 'send' })
  let view = foldAll(emptyView(SESSION_ID), model.begin(null))
  assert.equal(isPageTooOld(view, stale), true)
  const newest = model.page(4, null)
  assert.equal(isPageTooOld(view, newest), false)
  view = applyPage(view, newest, false)
  while (view.before !== null) view = applyPage(view, model.page(4, Number(view.before)), true)
  assert.deepEqual(
    view.rows.map((row) => row.seq),
    Array.from({ length: 12 }, (_, index) => index + 1),
  )
})

test('a change of a row older than the oldest held one does not tear a hole', () => {
  const model = new ModelSession()
  for (let turn = 0; turn < 4; turn += 1) for (const each of [{ do: 'send' }, { do: 'open' }, { do: 'finish' }] as const) model.apply(each)
  let view = applyPage(foldAll(emptyView(SESSION_ID), model.begin(null)), model.page(2, null), false)
  const old = model.transcript()[0]
  assert.ok(old)
  view = applyEvent(view, { type: 'row', sessionId: SESSION_ID, cursor: model.cursor(model.rev + 1), row: { ...old, rev: model.rev + 1 } })
  assert.deepEqual(
    view.rows.map((row) => row.seq),
    [7, 8],
  )
})

test('events of another session and unknown events change nothing', () => {
  const view = emptyView(SESSION_ID)
  assert.equal(applyEvent(view, { type: 'session-removed', sessionId: 'other', cursor: '1.1.0' }), view)
  assert.equal(applyEvent(view, { type: 'moon', sessionId: SESSION_ID, cursor: '1.1.0' } as unknown as StreamEvent), view)
  assert.equal(applyEvent(view, { type: 'ping', cursor: null }), view)
})

/** The outcomes of a commit, alone and with a second connection on the same data. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Commit, Write } from '../../../packages/runtime/src/core/write.ts'
import type { CommitResult, ResolvedContent, Store } from '../../../packages/runtime/src/store/store.ts'
import {
  AT,
  closeTurn,
  contentOf,
  everything,
  givenSession,
  insertInput,
  openTurn,
  save,
  text,
  withStore,
  type Target,
} from './fixtures.ts'

const commitOf = (sessionId: string, expectedRev: number, writes: Write[]): Commit => ({
  sessionId,
  expectedRev,
  at: AT,
  lastSeq: 9,
  lastQueuePos: 9,
  writes,
})

/** Content whose reading runs `during` once: it is asked for in the middle of a commit, between its first write and its end. */
function contentThat(messageId: string, during: () => void): ResolvedContent {
  let asked = false
  return {
    get [messageId]() {
      if (!asked) {
        asked = true
        during()
      }
      return { parts: text('answer'), metadata: {} }
    },
  }
}

export function outcomeConformance(target: Target): void {
  test(`${target.name}: a commit raises the rev by one and stamps every row it touched`, () =>
    withStore(target, (store) => {
      const first = save(store, 's1', [insertInput('i1'), openTurn('r1', 1)])
      const second = save(store, 's1', [{ type: 'edit-input', id: 'i1', parts: text('new') }])
      assert.deepEqual([first.rev, second.rev, store.revOf('s1')], [2, 3, 3])
      assert.deepEqual(
        second.messages.map((row) => [row.id, row.rev]),
        [['i1', 3]],
      )
      assert.equal(store.readMessage('r1')?.rev, 2)
    }))

  test(`${target.name}: the counters of the owner are saved with its commit`, () =>
    withStore(target, (store) => {
      store.commit({ ...commitOf('s1', 1, [insertInput('i1')]), lastSeq: 4, lastQueuePos: 6 }, {})
      const session = store.loadSession('s1')?.session
      assert.deepEqual([session?.rev, session?.lastSeq, session?.lastQueuePos], [2, 4, 6])
    }))

  test(`${target.name}: a commit at another rev, or of an unknown session, is refused by the fence`, () =>
    withStore(target, (store) => {
      for (const [id, rev] of [
        ['s1', 0],
        ['s1', 2],
        ['nobody', 1],
      ] as const) {
        const result = store.commit(commitOf(id, rev, [insertInput('i1')]), {})
        assert.deepEqual([result.outcome, result.outcome === 'refused' && result.reason], ['refused', 'fence'])
      }
      assert.deepEqual([store.readMessage('i1'), store.revOf('s1'), store.revOf('nobody')], [null, 1, null])
    }))

  test(`${target.name}: a write whose guard fails takes the writes before it along`, () =>
    withStore(target, (store) => {
      const before = everything(store, 's1')
      const result = store.commit(commitOf('s1', 1, [insertInput('i1'), openTurn('r1', 1), { type: 'mark-sent', messageId: 'r1' }]), {})
      assert.deepEqual([result.outcome, result.outcome === 'refused' && result.reason], ['refused', 'guard'])
      assert.deepEqual(everything(store, 's1'), before)
    }))

  test(`${target.name}: rows of another session are out of reach`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      save(store, 's1', [insertInput('i1'), openTurn('r1', 1)])
      const writes: Write[] = [
        { type: 'edit-input', id: 'i1', parts: text('mine') },
        { type: 'take-input', id: 'i1', from: ['queued'], seq: 1, turnId: 't', unanswered: false },
        { type: 'mark-consumed', id: 'i1' },
        closeTurn('r1'),
        { type: 'request-stop', messageId: 'r1', mode: 'hold', by: null },
      ]
      for (const write of writes) {
        const result = store.commit(commitOf('s2', 1, [write]), contentOf('r1', ''))
        assert.equal(result.outcome, 'refused', write.type)
      }
    }))

  for (const [name, body] of Object.entries(WITH_TWO)) {
    test(`${target.name}: ${name}`, (t) =>
      withStore(target, (store, { another }) => {
        if (another === null) t.skip('this data has one connection')
        else body(store, another())
      }))
  }
}

const WITH_TWO: { [name: string]: (store: Store, second: Store) => void } = {
  'a second connection sees whole commits only': (store, second) => {
    save(store, 's1', [openTurn('r1', 1)])
    const before = everything(second, 's1')
    let during: unknown = null
    const content = contentThat('r1', () => void (during = everything(second, 's1')))
    save(store, 's1', [insertInput('i1'), closeTurn('r1')], content)
    assert.deepEqual(during, before, 'in the middle of the commit the other connection sees none of it')
    assert.deepEqual(everything(second, 's1'), everything(store, 's1'), 'after it, all of it')
  },

  'a commit that meets another one in progress fails or is saved, never half': (store, second) => {
    givenSession(store, 's2')
    save(store, 's1', [openTurn('r1', 1)])
    const other = commitOf('s2', 1, [insertInput('i2', { idempotencyKey: 'k' })])
    const met: CommitResult[] = []
    save(
      store,
      's1',
      [closeTurn('r1')],
      contentThat('r1', () => void met.push(second.commit(other, {}))),
    )
    assert.equal(met.length, 1)
    assert.ok(met[0]?.outcome === 'failed' || met[0]?.outcome === 'done', JSON.stringify(met[0]))
    if (met[0].outcome === 'failed') {
      assert.equal(second.revOf('s2'), 1, 'failed means that nothing was saved')
      assert.equal(second.commit(other, {}).outcome, 'done', 'and that the same commit may be tried again')
    }
    assert.equal(store.revOf('s2'), 2)
    assert.equal(store.readMessage('r1')?.status, 'success')
  },

  'of two owners that read the same rev one is refused': (store, second) => {
    const rev = store.revOf('s1') ?? 0
    assert.equal(store.commit(commitOf('s1', rev, [insertInput('i1')]), {}).outcome, 'done')
    const loser = second.commit(commitOf('s1', rev, [insertInput('i2')]), {})
    assert.deepEqual([loser.outcome, loser.outcome === 'refused' && loser.reason], ['refused', 'fence'])
    assert.equal(store.readMessage('i2'), null)
    assert.equal(second.commit(commitOf('s1', rev + 1, [insertInput('i2')]), {}).outcome, 'done')
  },

  'the rev tells a second reader whether a commit was saved': (store, second) => {
    const rev = store.revOf('s1') ?? 0
    store.commit(commitOf('s1', rev, [insertInput('i1')]), {})
    assert.equal(second.revOf('s1'), rev + 1)
  },

  'chunks appended on one connection are read on the other': (store, second) => {
    const chunk = { type: 'text-delta' as const, id: 't', delta: 'a' }
    store.appendChunks([{ sessionId: 's1', messageId: 'r1', n: 1, chunk }])
    assert.deepEqual(second.readChunks('r1', 0), [{ n: 1, chunk }])
    second.appendChunks([{ sessionId: 's1', messageId: 'r1', n: 2, chunk }])
    assert.deepEqual(
      store.readChunks('r1', 0).map((each) => each.n),
      [1, 2],
    )
  },
}

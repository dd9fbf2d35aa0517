/** The chunk journal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import type { JournalEntry } from '../../../packages/runtime/src/store/store.ts'
import { AT, LATER, closeTurn, contentOf, givenSession, openTurn, save, withStore, type Target } from './fixtures.ts'

const chunk = (delta: string): UIMessageChunk => ({ type: 'text-delta', id: 't', delta })
const entry = (messageId: string, n: number, sessionId = 's1'): JournalEntry => ({
  sessionId,
  messageId,
  n,
  chunk: chunk(`${messageId}-${n}`),
})
const entries = (messageId: string, from: number, to: number): JournalEntry[] =>
  Array.from({ length: to - from + 1 }, (_, at) => entry(messageId, from + at))

export function journalConformance(target: Target): void {
  test(`${target.name}: chunks come back from any number on, in order, as they were given`, () =>
    withStore(target, (store) => {
      store.appendChunks([...entries('r1', 1, 3), ...entries('r2', 1, 2)])
      store.appendChunks([entry('r2', 3), entry('r1', 4), entry('r2', 4), entry('r1', 5)])
      for (let after = 0; after <= 6; after += 1) {
        const expected = entries('r1', after + 1, 5).map((each) => ({ n: each.n, chunk: each.chunk }))
        assert.deepEqual(store.readChunks('r1', after), expected)
      }
      assert.deepEqual(
        store.readChunks('r2', 0).map((each) => each.n),
        [1, 2, 3, 4],
      )
      assert.deepEqual(store.readChunks('nobody', 0), [])
      store.appendChunks([])
    }))

  test(`${target.name}: an append that is repeated changes nothing`, () =>
    withStore(target, (store) => {
      store.appendChunks(entries('r1', 1, 3))
      store.appendChunks(entries('r1', 1, 3))
      store.appendChunks(entries('r1', 2, 4))
      assert.deepEqual(
        store.readChunks('r1', 0).map((each) => each.n),
        [1, 2, 3, 4],
      )
    }))

  test(`${target.name}: a pending row is loaded with the number of chunks that were shown of it`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1)])
      store.appendChunks(entries('r1', 1, 7))
      assert.equal(store.loadSession('s1')?.pending[0]?.chunks, 7)
    }))

  test(`${target.name}: chunks are dropped when their row is final long enough, or gone`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      save(store, 's1', [openTurn('r1', 1)])
      save(store, 's2', [openTurn('r2', 1)])
      store.appendChunks([...entries('r1', 1, 3), ...entries('r2', 1, 2), ...entries('gone', 1, 4)])
      assert.equal(store.dropFinalChunks(LATER), 4, 'pending rows keep theirs')
      save(store, 's1', [closeTurn('r1')], contentOf('r1', 'done'), AT)
      assert.equal(store.dropFinalChunks(AT), 0, 'a row that is final only now keeps its chunks')
      assert.equal(store.dropFinalChunks(LATER), 3)
      assert.deepEqual(store.readChunks('r1', 0), [])
      assert.equal(store.readChunks('r2', 0).length, 2)
      assert.equal(store.dropFinalChunks(LATER), 0)
      store.appendChunks(entries('r3', 1, 1))
      assert.equal(store.readChunks('r3', 0).length, 1)
    }))

  test(`${target.name}: chunks of any text survive byte for byte`, () =>
    withStore(target, (store) => {
      const texts = ['', '\u0000\u0007\u2028', '"\\\n', '\u{1F468}\u{200D}\u{1F469}', 'é e\u0301', '\u05D0\u05D1', 'x'.repeat(70_000)]
      store.appendChunks(texts.map((delta, at) => ({ sessionId: 's1', messageId: 'r1', n: at + 1, chunk: chunk(delta) })))
      assert.deepEqual(
        store.readChunks('r1', 0).map((each) => each.chunk),
        texts.map(chunk),
      )
    }))
}

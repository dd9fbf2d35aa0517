/** Verbs of inputs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import { insertInput, insertTaken, openTurn, refused, save, text, withStore, type Target } from './fixtures.ts'

const move = (id: string, over: Partial<Extract<Write, { type: 'move-input' }>> = {}): Write => ({
  type: 'move-input',
  id,
  from: ['queued'],
  to: 'held',
  heldReason: 'stopped',
  queuePos: null,
  steer: false,
  ...over,
})
const take = (id: string, seq: number, over: Partial<Extract<Write, { type: 'take-input' }>> = {}): Write => ({
  type: 'take-input',
  id,
  from: ['queued'],
  seq,
  turnId: 't1',
  unanswered: false,
  ...over,
})

export function inputConformance(target: Target): void {
  test(`${target.name}: an input that waits stands in the queue and not in the transcript`, () =>
    withStore(target, (store) => {
      const changes = save(store, 's1', [
        insertInput('i1', { queuePos: 2 }),
        insertInput('i2', { queuePos: 1, steer: true, inputState: 'steering' }),
      ])
      assert.deepEqual(
        changes.messages.map((row) => [row.id, row.rev, row.seq, row.queuePos, row.inputState, row.role, row.status]),
        [
          ['i1', 2, null, 2, 'queued', 'user', null],
          ['i2', 2, null, 1, 'steering', 'user', null],
        ],
      )
      assert.deepEqual(
        store.listQueue('s1').map((row) => row.id),
        ['i2', 'i1'],
      )
      assert.deepEqual(store.listMessages('s1', { limit: 10, before: null }), [])
      assert.deepEqual(store.loadSession('s1')?.inputs[0], {
        id: 'i2',
        queuePos: 1,
        inputState: 'steering',
        heldReason: null,
        consumed: false,
        steer: true,
        origin: 'interactive',
        headless: false,
        modelId: 'm1',
      })
    }))

  test(`${target.name}: an id that exists already is refused`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1')])
      refused(store, 's1', [insertInput('i1')])
    }))

  test(`${target.name}: an input is edited while nothing of it has left the host`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1'), insertInput('i2', { inputState: 'offered' }), insertTaken('i3', 1, 't1')])
      const changes = save(store, 's1', [{ type: 'edit-input', id: 'i1', parts: text('better') }])
      assert.deepEqual(
        changes.messages.map((row) => [row.id, row.parts]),
        [['i1', text('better')]],
      )
      for (const id of ['i2', 'i3', 'unknown']) refused(store, 's1', [{ type: 'edit-input', id, parts: text('late') }])
    }))

  test(`${target.name}: an input moves only from the states the write names`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1', { queuePos: 7 })])
      const [held] = save(store, 's1', [move('i1')]).messages
      assert.deepEqual([held?.inputState, held?.heldReason, held?.queuePos], ['held', 'stopped', 7])
      refused(store, 's1', [move('i1')])
      const [queued] = save(store, 's1', [move('i1', { from: ['queued', 'held'], to: 'queued', heldReason: null, queuePos: -3 })]).messages
      assert.deepEqual([queued?.inputState, queued?.heldReason, queued?.queuePos], ['queued', null, -3])
    }))

  test(`${target.name}: a withdrawn input leaves the queue and keeps its row and key`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1', { idempotencyKey: 'k1', bodyHash: 'h1' })])
      save(store, 's1', [move('i1', { to: 'withdrawn', heldReason: null, queuePos: 1 })])
      assert.deepEqual(store.listQueue('s1'), [])
      assert.equal(store.readMessage('i1')?.queuePos, null)
      assert.equal(store.findByKey('s1', 'k1')?.bodyHash, 'h1')
    }))

  test(`${target.name}: taking an input gives it its place in the transcript, once`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1')])
      const [taken] = save(store, 's1', [take('i1', 1, { unanswered: true })]).messages
      assert.deepEqual([taken?.seq, taken?.queuePos, taken?.turnId, taken?.unanswered], [1, null, 't1', true])
      refused(store, 's1', [take('i1', 2)])
      assert.deepEqual(
        store.listMessages('s1', { limit: 10, before: null }).map((row) => row.id),
        ['i1'],
      )
    }))

  test(`${target.name}: two rows never share a place in the transcript`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertTaken('i1', 1, 't1'), insertInput('i2')])
      refused(store, 's1', [take('i2', 1)])
      refused(store, 's1', [openTurn('r1', 1)])
    }))

  test(`${target.name}: an input that was never sent goes back to the queue without its seq`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertTaken('i1', 1, 't1'), openTurn('r1', 2, { replyTo: 'i1', sent: false })])
      const changes = save(store, 's1', [
        { type: 'remove-turn', messageId: 'r1' },
        { type: 'return-input', id: 'i1', queuePos: -1, to: 'queued', heldReason: null },
      ])
      assert.deepEqual(changes.removed, ['r1'])
      assert.deepEqual(
        changes.messages.map((row) => [row.id, row.seq, row.queuePos, row.inputState, row.turnId]),
        [['i1', null, -1, 'queued', null]],
      )
      refused(store, 's1', [{ type: 'return-input', id: 'i1', queuePos: -2, to: 'queued', heldReason: null }])
    }))

  test(`${target.name}: an input is consumed at most once`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1', { inputState: 'offered' })])
      save(store, 's1', [{ type: 'mark-consumed', id: 'i1' }])
      assert.equal(store.loadSession('s1')?.inputs[0]?.consumed, true)
      refused(store, 's1', [{ type: 'mark-consumed', id: 'i1' }])
      save(store, 's1', [openTurn('r1', 1)])
      refused(store, 's1', [{ type: 'mark-consumed', id: 'r1' }])
    }))

  test(`${target.name}: an Idempotency-Key makes one row a session, and the refusal says so`, () =>
    withStore(target, (store) => {
      save(store, 's1', [insertInput('i1', { idempotencyKey: 'k1', bodyHash: 'h1' })])
      const rev = store.revOf('s1') ?? 0
      const result = store.commit(
        {
          sessionId: 's1',
          expectedRev: rev,
          at: 'x',
          lastSeq: 0,
          lastQueuePos: 2,
          writes: [insertInput('i2', { idempotencyKey: 'k1', bodyHash: 'h2' })],
        },
        {},
      )
      assert.deepEqual([result.outcome, result.outcome === 'refused' && result.reason], ['refused', 'duplicate-key'])
      assert.equal(store.readMessage('i2'), null)
      const found = store.findByKey('s1', 'k1')
      assert.deepEqual([found?.message.id, found?.bodyHash], ['i1', 'h1'])
      assert.equal(store.findByKey('s1', 'k2'), null)
    }))

  test(`${target.name}: the session list shows the newest text, never cutting a character`, () =>
    withStore(target, (store) => {
      const family = '\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}'
      save(store, 's1', [insertTaken('i1', 1, 't1', { parts: text(`${'x'.repeat(198)}${family} end`) })])
      const shown = store.readSession('s1')?.lastText ?? ''
      assert.equal(shown, 'x'.repeat(198))
      assert.ok(shown.isWellFormed())
      save(store, 's1', [insertTaken('i2', 2, 't2', { parts: [{ type: 'file', url: '/v1/blobs/b1', mediaType: 'image/png' }] })])
      assert.equal(store.readSession('s1')?.lastText, shown, 'a message without text leaves what was shown')
    }))
}

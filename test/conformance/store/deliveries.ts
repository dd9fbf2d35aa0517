/** Deliveries between sessions: the inbox, the claim, the finish, the one result. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import type { Store } from '../../../packages/runtime/src/store/store.ts'
import {
  AT,
  LATER,
  closeTurn,
  contentOf,
  delivery,
  givenSession,
  openTurn,
  refused,
  save,
  text,
  withStore,
  type Target,
} from './fixtures.ts'

const claim = (over: Partial<Extract<Write, { type: 'claim-delivery' }>> = {}): Write[] => [
  { type: 'claim-delivery', id: 'd1', seq: 1, turnId: 'turn-r1', turnRef: 'r1', agentRev: 1, ...over },
  openTurn('r1', 2, { kind: 'delivery', replyTo: 'd1', origin: 'delivery', headless: true }),
]
const finish = (over: Partial<Extract<Write, { type: 'finish-delivery' }>> = {}): Write => ({
  type: 'finish-delivery',
  id: 'd1',
  turnRef: 'r1',
  status: 'consumed',
  outcome: 'success',
  errorCode: null,
  ...over,
})
const result = (id: string, over: { sessionId?: string } = {}): Write => ({
  type: 'insert-result',
  row: { id, sessionId: 's2', requestId: 'd1', sourceMessageId: 'r1', outcome: 'success', ...over },
})

/** A request from s2 in the inbox of s1. */
const withRequest = (target: Target, body: (store: Store) => void): Promise<void> =>
  withStore(target, (store) => {
    givenSession(store, 's2')
    store.acceptDelivery(delivery('d1'))
    body(store)
  })

export function deliveryConformance(target: Target): void {
  test(`${target.name}: an accepted request waits in the inbox, unseen, and raises no rev there`, () =>
    withRequest(target, (store) => {
      assert.equal(store.revOf('s1'), 1)
      assert.deepEqual(store.nextAccepted('s1'), { delivery: { id: 'd1', resultTo: 's2' }, senderSessionId: 's2' })
      assert.deepEqual(store.changesSince('s1', 0).messages, [])
      assert.deepEqual([store.listQueue('s1'), store.loadSession('s1')?.inputs], [[], []])
      const row = store.readMessage('d1')
      assert.deepEqual(
        [row?.seq, row?.inputState, row?.deliveryStatus, row?.origin, row?.headless],
        [null, null, 'accepted', 'delivery', true],
      )
      assert.deepEqual(store.sessionsOwing(), ['s1'])
    }))

  test(`${target.name}: no result is owed for a one-way request`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      store.acceptDelivery(delivery('d1', { reply: 'none' }))
      assert.deepEqual(store.nextAccepted('s1')?.delivery, { id: 'd1', resultTo: null })
    }))

  test(`${target.name}: the inbox is served in the order of arrival`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      store.acceptDelivery(delivery('z', { at: LATER }))
      store.acceptDelivery(delivery('a', { at: AT }))
      assert.equal(store.nextAccepted('s1')?.delivery.id, 'z')
      save(store, 's1', [{ type: 'fail-delivery', id: 'z', errorCode: 'TARGET_UNAVAILABLE' }])
      assert.equal(store.nextAccepted('s1')?.delivery.id, 'a')
      save(store, 's1', [{ type: 'fail-delivery', id: 'a', errorCode: 'TARGET_UNAVAILABLE' }])
      assert.equal(store.nextAccepted('s1'), null)
    }))

  test(`${target.name}: a tool call that sends twice is one request`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      givenSession(store, 's3')
      const first = store.acceptDelivery(delivery('d1', { toolCallId: 'c1', bodyHash: 'h1' }))
      const again = store.acceptDelivery(delivery('d2', { toolCallId: 'c1', bodyHash: 'h1' }))
      const other = store.acceptDelivery(delivery('d3', { toolCallId: 'c1', bodyHash: 'h2' }))
      const elsewhere = store.acceptDelivery(delivery('d4', { toolCallId: 'c1', bodyHash: 'h1', senderSessionId: 's3' }))
      assert.equal(first.outcome, 'done')
      assert.deepEqual([again.outcome, again.item.id, again.outcome === 'existing' && again.sameBody], ['existing', 'd1', true])
      assert.deepEqual([other.outcome, other.outcome === 'existing' && other.sameBody], ['existing', false])
      assert.equal(elsewhere.outcome, 'done')
    }))

  test(`${target.name}: a claim binds the request to its turn, in one commit`, () =>
    withRequest(target, (store) => {
      const [request, row] = save(store, 's1', claim()).messages
      assert.deepEqual([request?.id, request?.seq, request?.inputState, request?.deliveryStatus], ['d1', 1, 'taken', 'delivering'])
      assert.equal(row?.status, 'pending')
      assert.deepEqual(store.loadSession('s1')?.pending[0]?.delivery, { id: 'd1', resultTo: 's2' })
      assert.equal(store.loadSession('s1')?.owed, null)
      assert.equal(store.nextAccepted('s1'), null)
      assert.equal(store.readSession('s1')?.lastText, 'request d1')
    }))

  test(`${target.name}: a claim that loses takes its placeholder with it`, () =>
    withRequest(target, (store) => {
      refused(store, 's1', claim({ agentRev: 2 }))
      refused(store, 's1', claim({ id: 'unknown' }))
      assert.equal(store.readMessage('r1'), null)
      save(store, 's1', claim())
      refused(store, 's1', [{ type: 'claim-delivery', id: 'd1', seq: 3, turnId: 'turn-r2', turnRef: 'r2', agentRev: 1 }])
    }))

  test(`${target.name}: another session's request cannot be claimed, finished or failed`, () =>
    withRequest(target, (store) => {
      refused(store, 's2', claim())
      refused(store, 's2', [{ type: 'fail-delivery', id: 'd1', errorCode: 'CANCELLED' }])
      save(store, 's1', claim())
      refused(store, 's2', [finish()])
    }))

  test(`${target.name}: a finish needs the very turn that was bound`, () =>
    withRequest(target, (store) => {
      refused(store, 's1', [finish()])
      save(store, 's1', claim())
      refused(store, 's1', [finish({ turnRef: 'r9' })])
      refused(store, 's1', [{ type: 'fail-delivery', id: 'd1', errorCode: 'CANCELLED' }])
      save(store, 's1', [closeTurn('r1')], contentOf('r1', 'answer'))
      assert.deepEqual(store.loadSession('s1')?.owed, { delivery: { id: 'd1', resultTo: 's2' }, turnRef: 'r1', row: 'success' })
      const [request] = save(store, 's1', [finish({ outcome: 'interrupted', errorCode: 'TURN_INTERRUPTED' })], {}, LATER).messages
      assert.equal(request?.deliveryStatus, 'consumed')
      assert.deepEqual(
        [request?.delivery?.['outcome'], request?.delivery?.['errorCode'], request?.delivery?.['statusAt'], request?.delivery?.['reply']],
        ['interrupted', 'TURN_INTERRUPTED', LATER, 'completion'],
      )
      refused(store, 's1', [finish()])
      assert.equal(store.loadSession('s1')?.owed, null)
      assert.deepEqual(store.sessionsOwing(), [])
    }))

  test(`${target.name}: a request whose turn row is gone is owed as absent`, () =>
    withRequest(target, (store) => {
      save(store, 's1', claim().slice(0, 1))
      assert.deepEqual(store.loadSession('s1')?.owed, { delivery: { id: 'd1', resultTo: 's2' }, turnRef: 'r1', row: 'absent' })
    }))

  test(`${target.name}: the result is a frozen row in the asker's inbox, whose rev stays`, () =>
    withRequest(target, (store) => {
      save(store, 's1', claim())
      const rev = store.revOf('s2')
      const changes = save(store, 's1', [closeTurn('r1'), finish(), result('x1')], {
        ...contentOf('r1', 'answer'),
        ...contentOf('x1', 'answer'),
      })
      assert.deepEqual(
        changes.messages.map((row) => row.id),
        ['d1', 'r1'],
      )
      assert.equal(store.revOf('s2'), rev)
      assert.deepEqual(store.nextAccepted('s2'), { delivery: { id: 'x1', resultTo: null }, senderSessionId: 's1' })
      const row = store.readMessage('x1')
      assert.deepEqual([row?.sessionId, row?.seq, row?.deliveryStatus, row?.parts], ['s2', null, 'accepted', text('answer')])
      assert.deepEqual(
        [row?.delivery?.['inReplyTo'], row?.delivery?.['sourceMessageId'], row?.delivery?.['outcome']],
        ['d1', 'r1', 'success'],
      )
      save(store, 's2', [
        { type: 'claim-delivery', id: 'x1', seq: 1, turnId: 't2', turnRef: 'r2', agentRev: 1 },
        openTurn('r2', 2, { kind: 'delivery', replyTo: 'x1' }),
      ])
      assert.deepEqual(
        store.changesSince('s2', rev ?? 0).messages.map((each) => each.id),
        ['x1', 'r2'],
      )
    }))

  test(`${target.name}: a request has at most one result, and a second one refuses nothing`, () =>
    withRequest(target, (store) => {
      save(store, 's1', claim())
      save(store, 's1', [closeTurn('r1'), finish(), result('x1')], { ...contentOf('r1', 'one'), ...contentOf('x1', 'one') })
      save(store, 's1', [result('x2')], contentOf('x2', 'two'))
      assert.equal(store.readMessage('x2'), null)
      assert.deepEqual(store.readMessage('x1')?.parts, text('one'))
    }))

  test(`${target.name}: a result for a session that is gone is left out`, () =>
    withRequest(target, (store) => {
      save(store, 's1', claim())
      save(store, 's2', [{ type: 'delete-session' }])
      save(store, 's1', [closeTurn('r1'), finish(), result('x1')], { ...contentOf('r1', 'one'), ...contentOf('x1', 'one') })
      assert.equal(store.readMessage('x1'), null)
      assert.equal(store.readMessage('d1')?.deliveryStatus, 'consumed')
    }))
}

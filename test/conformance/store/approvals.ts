/** Verbs and reads of approvals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import {
  AT,
  LATER,
  closeTurn,
  contentOf,
  givenSession,
  insertApproval,
  openTurn,
  refused,
  save,
  withStore,
  type Target,
} from './fixtures.ts'

const EARLIER = '2025-12-31T23:59:00.000Z'

const decide = (id: string, status: 'allowed' | 'denied' = 'allowed'): Write => ({
  type: 'decide-approval',
  id,
  status,
  reason: null,
  by: 'Ada',
})

export function approvalConformance(target: Target): void {
  test(`${target.name}: an approval is asked, decided and applied, each with its time`, () =>
    withStore(target, (store) => {
      const asked = save(store, 's1', [openTurn('r1', 1), insertApproval('ap1', 'r1')], {}, AT).approvals
      assert.deepEqual(asked, [
        {
          id: 'ap1',
          sessionId: 's1',
          rev: 2,
          messageId: 'r1',
          turnId: 'turn-r1',
          kind: 'tool',
          toolCallId: 'call-ap1',
          toolName: 'Bash',
          input: { command: 'ls' },
          status: 'pending',
          reason: null,
          decidedBy: null,
          no: 1,
          requestedAt: AT,
          decidedAt: null,
          appliedAt: null,
        },
      ])
      save(store, 's1', [decide('ap1')], {}, LATER)
      save(store, 's1', [{ type: 'apply-approval', id: 'ap1' }], {}, LATER)
      const approval = store.readApproval('ap1')
      assert.deepEqual(
        [approval?.status, approval?.decidedBy, approval?.decidedAt, approval?.appliedAt, approval?.rev],
        ['allowed', 'Ada', LATER, LATER, 4],
      )
    }))

  test(`${target.name}: the first answer wins and is applied at most once`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), insertApproval('ap1', 'r1')])
      refused(store, 's1', [{ type: 'apply-approval', id: 'ap1' }])
      save(store, 's1', [decide('ap1', 'denied')])
      refused(store, 's1', [decide('ap1')])
      refused(store, 's1', [{ type: 'expire-approval', id: 'ap1', reason: 'late' }])
      save(store, 's1', [{ type: 'apply-approval', id: 'ap1' }])
      refused(store, 's1', [{ type: 'apply-approval', id: 'ap1' }])
    }))

  test(`${target.name}: an expired card says why and takes no answer`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), insertApproval('ap1', 'r1')])
      save(store, 's1', [{ type: 'expire-approval', id: 'ap1', reason: 'the agent is gone' }])
      const approval = store.readApproval('ap1')
      assert.deepEqual([approval?.status, approval?.reason, approval?.decidedAt], ['expired', 'the agent is gone', null])
      refused(store, 's1', [decide('ap1')])
    }))

  test(`${target.name}: a request that nobody may answer is saved as denied`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), insertApproval('ap1', 'r1', { status: 'denied', reason: 'headless' })])
      const approval = store.readApproval('ap1')
      assert.deepEqual([approval?.status, approval?.reason, approval?.decidedAt, approval?.decidedBy], ['denied', 'headless', AT, null])
      assert.equal(store.readSession('s1')?.pendingApprovals, 0)
    }))

  test(`${target.name}: open approvals are loaded, history is not`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), insertApproval('ap1', 'r1'), insertApproval('ap2', 'r1'), insertApproval('ap3', 'r1')])
      save(store, 's1', [decide('ap2'), decide('ap3'), { type: 'apply-approval', id: 'ap3' }])
      assert.deepEqual(
        store.loadSession('s1')?.approvals.map((open) => [open.id, open.decided]),
        [
          ['ap1', false],
          ['ap2', true],
        ],
      )
      save(store, 's1', [{ type: 'expire-approval', id: 'ap1', reason: 'over' }, closeTurn('r1')], contentOf('r1', 'done'))
      assert.deepEqual(store.loadSession('s1')?.approvals, [])
    }))

  test(`${target.name}: approvals are listed by session and by state, in the order they were asked`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      save(store, 's1', [openTurn('r1', 1), insertApproval('z', 'r1'), insertApproval('a', 'r1')])
      // The clock stepped back meanwhile.
      save(store, 's2', [openTurn('r2', 1), insertApproval('m', 'r2')], {}, EARLIER)
      save(store, 's1', [decide('z')])
      const ids = (filter: { sessionId: string | null; status: 'pending' | null }): string[] =>
        store.listApprovals(filter).map((each) => each.id)
      assert.deepEqual(ids({ sessionId: null, status: null }), ['z', 'a', 'm'])
      const numbers = store.listApprovals({ sessionId: null, status: null }).map((each) => each.no)
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      )
      assert.equal(new Set(numbers).size, 3)
      assert.deepEqual(ids({ sessionId: null, status: 'pending' }), ['a', 'm'])
      assert.deepEqual(ids({ sessionId: 's1', status: null }), ['z', 'a'])
      assert.deepEqual(ids({ sessionId: 's1', status: 'pending' }), ['a'])
    }))
}

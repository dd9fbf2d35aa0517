/** Verbs of assistant rows, tokens, usage and the session itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import {
  AT,
  LATER,
  closeTurn,
  contentOf,
  delivery,
  givenSession,
  insertApproval,
  insertInput,
  insertTaken,
  openTurn,
  refused,
  save,
  text,
  withStore,
  type Target,
} from './fixtures.ts'

const usage = (requestId: string, outputTokens: number): Extract<Write, { type: 'record-usage' }> => ({
  type: 'record-usage',
  messageId: 'r1',
  usage: {
    requestId,
    modelId: 'm1',
    inputTokens: 10,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: null,
    ttftMs: 12.5,
    durationMs: null,
  },
})

export function turnConformance(target: Target): void {
  test(`${target.name}: a fresh turn is one commit of two rows`, () =>
    withStore(target, (store) => {
      const changes = save(store, 's1', [insertTaken('i1', 1, 'turn-r1'), openTurn('r1', 2, { replyTo: 'i1' })])
      assert.deepEqual(
        changes.messages.map((row) => [row.id, row.seq, row.status, row.replyTo, row.rev]),
        [
          ['i1', 1, null, null, 2],
          ['r1', 2, 'pending', 'i1', 2],
        ],
      )
      assert.deepEqual(store.loadSession('s1')?.pending, [
        {
          id: 'r1',
          turnId: 'turn-r1',
          kind: 'user',
          replyTo: 'i1',
          origin: 'interactive',
          headless: false,
          modelId: 'm1',
          sent: true,
          steer: false,
          deferred: false,
          stop: null,
          chunks: 0,
          delivery: null,
        },
      ])
      assert.deepEqual([store.readSession('s1')?.working, store.readSession('s1')?.lastStatus], [true, 'pending'])
    }))

  test(`${target.name}: one pending row, and one deferred beside it, is the most a session can have`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1)])
      refused(store, 's1', [openTurn('r2', 2)])
      save(store, 's1', [{ type: 'defer-turn', messageId: 'r1', deferred: true }, openTurn('r2', 2, { kind: 'autonomous' })])
      refused(store, 's1', [{ type: 'defer-turn', messageId: 'r1', deferred: true }])
      refused(store, 's1', [{ type: 'defer-turn', messageId: 'r2', deferred: true }])
      refused(store, 's1', [{ type: 'defer-turn', messageId: 'r1', deferred: false }])
      save(store, 's1', [closeTurn('r2'), { type: 'defer-turn', messageId: 'r1', deferred: false }], contentOf('r2', 'done'))
      assert.deepEqual(
        store.loadSession('s1')?.pending.map((row) => [row.id, row.deferred]),
        [['r1', false]],
      )
    }))

  test(`${target.name}: a turn is sent at most once`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1, { sent: false })])
      assert.equal(store.loadSession('s1')?.pending[0]?.sent, false)
      save(store, 's1', [{ type: 'mark-sent', messageId: 'r1' }])
      assert.equal(store.loadSession('s1')?.pending[0]?.sent, true)
      refused(store, 's1', [{ type: 'mark-sent', messageId: 'r1' }])
    }))

  test(`${target.name}: a Stop keeps its first time and its last mode, and needs a pending row`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1)])
      save(store, 's1', [{ type: 'request-stop', messageId: 'r1', mode: 'hold', by: 'Ada' }], {}, AT)
      save(store, 's1', [{ type: 'request-stop', messageId: 'r1', mode: 'run', by: null }], {}, LATER)
      assert.equal(store.readMessage('r1')?.stopRequestedAt, AT)
      assert.equal(store.loadSession('s1')?.pending[0]?.stop, 'run')
      save(store, 's1', [closeTurn('r1', { status: 'paused' })], contentOf('r1', ''))
      refused(store, 's1', [{ type: 'request-stop', messageId: 'r1', mode: 'hold', by: null }])
    }))

  test(`${target.name}: a row closes once, with its parts, its metadata and what ended it`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1)])
      const write = closeTurn('r1', {
        status: 'error',
        errorCode: 'PROVIDER_ERROR',
        errorText: 'overloaded',
        token: { token: 'tok', epoch: 3 },
        content: { metadata: { by: 'core', durationMs: 5 } },
      })
      const [row] = save(store, 's1', [write], { r1: { parts: text('half'), metadata: { by: 'stream', model: 'm1' } } }, LATER).messages
      assert.deepEqual(
        [row?.status, row?.errorCode, row?.errorText, row?.boundary, row?.parts, row?.metadata, row?.updatedAt],
        ['error', 'PROVIDER_ERROR', 'overloaded', 'turn', text('half'), { by: 'core', model: 'm1', durationMs: 5 }, LATER],
      )
      assert.deepEqual([store.readSession('s1')?.lastText, store.readSession('s1')?.lastStatus], ['half', 'error'])
      refused(store, 's1', [write], contentOf('r1', 'again'))
      refused(store, 's1', [closeTurn('unknown')], contentOf('unknown', ''))
    }))

  test(`${target.name}: closing a row without its content is a mistake that saves nothing`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1)])
      const rev = store.revOf('s1')
      assert.throws(() => save(store, 's1', [closeTurn('r1')]), /no content was resolved for message r1/)
      assert.equal(store.revOf('s1'), rev)
      save(store, 's1', [closeTurn('r1')], contentOf('r1', 'after that the store works on'))
    }))

  test(`${target.name}: a roll closes one row and opens the next in one commit`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), insertInput('i1', { inputState: 'offered' })])
      const changes = save(
        store,
        's1',
        [
          closeTurn('r1', { boundary: 'row-roll' }),
          { type: 'take-input', id: 'i1', from: ['offered'], seq: 2, turnId: 'turn-r1', unanswered: false },
          openTurn('r2', 3, { turnId: 'turn-r1', rollOf: 'r1', replyTo: 'i1' }),
        ],
        contentOf('r1', 'before'),
      )
      assert.equal(changes.messages.length, 3)
      assert.deepEqual(
        store.listMessages('s1', { limit: 10, before: null }).map((row) => [row.id, row.turnId, row.boundary, row.rollOf]),
        [
          ['r1', 'turn-r1', 'row-roll', null],
          ['i1', 'turn-r1', null, null],
          ['r2', 'turn-r1', null, 'r1'],
        ],
      )
    }))

  test(`${target.name}: only a row that was never sent can be removed, and it leaves a tombstone`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1, { sent: false })])
      const { rev, removed } = save(store, 's1', [{ type: 'remove-turn', messageId: 'r1' }])
      assert.deepEqual(removed, ['r1'])
      assert.equal(store.readMessage('r1'), null)
      assert.deepEqual(store.changesSince('s1', rev - 1).removed, ['r1'])
      assert.deepEqual(store.changesSince('s1', rev).removed, [])
      save(store, 's1', [openTurn('r2', 2, { sent: true })])
      refused(store, 's1', [{ type: 'remove-turn', messageId: 'r2' }])
    }))

  test(`${target.name}: the session owns the resume token and its epoch`, () =>
    withStore(target, (store) => {
      save(store, 's1', [{ type: 'set-resume', token: 'tok', epoch: 1 }])
      const kept = store.loadSession('s1')?.session
      assert.deepEqual([kept?.resumeToken, kept?.resumeEpoch], ['tok', 1])
      save(store, 's1', [{ type: 'set-resume', token: null, epoch: 2 }])
      const dropped = store.loadSession('s1')?.session
      assert.deepEqual([dropped?.resumeToken, dropped?.resumeEpoch], [null, 2])
    }))

  test(`${target.name}: a provider call that is reported twice is recorded once and refuses nothing`, () =>
    withStore(target, (store) => {
      save(store, 's1', [openTurn('r1', 1), usage('q1', 5), usage('q1', 9)])
      save(store, 's1', [usage('q1', 9), usage('q2', 1)])
      assert.deepEqual(store.listUsage('s1', 'r1'), [
        { ...usage('q1', 5).usage, at: AT },
        { ...usage('q2', 1).usage, at: AT },
      ])
      assert.deepEqual([store.listUsage('s1', 'r2'), store.listUsage('s2', 'r1')], [[], []])
    }))

  test(`${target.name}: a quarantine and its end stand on the session`, () =>
    withStore(target, (store) => {
      save(store, 's1', [{ type: 'set-phase', phase: 'quarantined', reason: 'a bug' }])
      assert.deepEqual([store.readSession('s1')?.phase, store.readSession('s1')?.quarantineReason], ['quarantined', 'a bug'])
      save(store, 's1', [{ type: 'set-phase', phase: 'active', reason: null }])
      assert.deepEqual([store.loadSession('s1')?.session.phase, store.readSession('s1')?.quarantineReason], ['active', null])
    }))

  test(`${target.name}: deleting a session removes all its rows and no other session's`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      save(store, 's1', [openTurn('r1', 1), insertInput('i1'), insertApproval('ap1', 'r1')])
      save(store, 's2', [openTurn('r2', 1)])
      const before = store.revOf('s1') ?? 0
      const changes = save(store, 's1', [{ type: 'delete-session' }])
      assert.deepEqual([changes.rev, changes.messages, changes.approvals], [before + 1, [], []])
      assert.deepEqual(
        [store.revOf('s1'), store.loadSession('s1'), store.readSession('s1'), store.readMessage('r1'), store.readApproval('ap1')],
        [null, null, null, null, null],
      )
      assert.deepEqual(store.sessionsOwing(), ['s2'])
      assert.deepEqual(store.changesSince('s1', 0), { rev: 0, messages: [], approvals: [], removed: [] })
    }))

  test(`${target.name}: a session that still owes a result is not deleted`, () =>
    withStore(target, (store) => {
      givenSession(store, 's2')
      store.acceptDelivery(delivery('d1'))
      refused(store, 's1', [{ type: 'delete-session' }])
      save(store, 's1', [{ type: 'fail-delivery', id: 'd1', errorCode: 'TARGET_SESSION_DELETED' }, { type: 'delete-session' }])
      assert.equal(store.readSession('s1'), null)
    }))
}

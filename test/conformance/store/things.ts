/** Sessions, agents, providers, and the host's own facts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionChange } from '../../../packages/runtime/src/core/types.ts'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import type { NewSession } from '../../../packages/runtime/src/store/store.ts'
import {
  AT,
  LATER,
  closeTurn,
  contentOf,
  delivery,
  givenAgent,
  givenSession,
  insertApproval,
  insertInput,
  insertTaken,
  openTurn,
  save,
  withStore,
  type Target,
} from './fixtures.ts'

const newSession = (id: string, over: Partial<NewSession> = {}): NewSession => ({
  id,
  agentId: 'a1',
  name: 'Name',
  description: 'What for',
  workspaceKind: 'user',
  workspacePath: '/somewhere',
  at: AT,
  idempotencyKey: null,
  bodyHash: null,
  ...over,
})

const update = (change: Partial<SessionChange>): Write => ({
  type: 'update-session',
  change: { name: null, description: null, agentId: null, workspacePath: null, ...change },
})

export function thingConformance(target: Target): void {
  test(`${target.name}: a session is read as it was given`, () =>
    withStore(target, (store) => {
      const made = store.insertSession(newSession('s9'))
      assert.deepEqual(made.item, {
        id: 's9',
        rev: 1,
        agentId: 'a1',
        name: 'Name',
        description: 'What for',
        workspaceKind: 'user',
        workspacePath: '/somewhere',
        phase: 'active',
        quarantineReason: null,
        queued: 0,
        held: 0,
        unknown: 0,
        pendingApprovals: 0,
        working: false,
        stopping: false,
        lastStatus: null,
        lastText: '',
        createdAt: AT,
        updatedAt: AT,
      })
      assert.deepEqual(store.readSession('s9'), made.item)
      assert.equal(store.readSession('nobody'), null)
    }))

  test(`${target.name}: what a list entry says is counted from the rows`, () =>
    withStore(target, (store) => {
      save(store, 's1', [
        openTurn('r1', 1),
        insertInput('i1', { queuePos: 1 }),
        insertInput('i2', { queuePos: 2, inputState: 'steering' }),
        insertInput('i3', { queuePos: 3, inputState: 'offered' }),
        insertInput('i4', { queuePos: 4, inputState: 'held', heldReason: 'stopped' }),
        insertInput('i5', { queuePos: 5, inputState: 'unknown' }),
        insertTaken('i6', 2, 't'),
        insertApproval('ap1', 'r1'),
      ])
      const [entry] = store.listSessions({ limit: 1, before: null, agentId: null })
      assert.deepEqual(
        [entry?.queued, entry?.held, entry?.unknown, entry?.pendingApprovals, entry?.working, entry?.lastStatus],
        [3, 1, 1, 1, true, 'pending'],
      )
    }))

  test(`${target.name}: a key makes one session, and its second use tells whether the body was the same`, () =>
    withStore(target, (store) => {
      assert.equal(store.insertSession(newSession('s2', { idempotencyKey: 'k', bodyHash: 'h' })).outcome, 'done')
      const same = store.insertSession(newSession('s3', { idempotencyKey: 'k', bodyHash: 'h' }))
      const other = store.insertSession(newSession('s4', { idempotencyKey: 'k', bodyHash: 'x' }))
      assert.deepEqual([same.outcome, same.item.id, same.outcome === 'existing' && same.sameBody], ['existing', 's2', true])
      assert.deepEqual([other.outcome, other.outcome === 'existing' && other.sameBody], ['existing', false])
      assert.deepEqual([store.readSession('s3'), store.readSession('s4')], [null, null])
    }))

  test(`${target.name}: sessions are listed newest first in pages, also past one that is gone`, () =>
    withStore(target, (store) => {
      givenAgent(store, 'a2')
      for (const id of ['s2', 's3', 's4', 's5']) store.insertSession(newSession(id, { agentId: id === 's3' ? 'a2' : 'a1' }))
      const page = (limit: number, before: string | null, agentId: string | null = null): string[] =>
        store.listSessions({ limit, before, agentId }).map((each) => each.id)
      assert.deepEqual(page(2, null), ['s5', 's4'])
      assert.deepEqual(page(2, 's4'), ['s3', 's2'])
      assert.deepEqual(page(9, 's2'), ['s1'])
      assert.deepEqual(page(9, null, 'a2'), ['s3'])
      assert.deepEqual(page(2, 's4', 'a1'), ['s2', 's1'])
      save(store, 's4', [{ type: 'delete-session' }])
      assert.deepEqual(page(9, 's4'), ['s3', 's2', 's1'])
    }))

  test(`${target.name}: a session changes in the fields that are named, by a commit of its owner`, () =>
    withStore(target, (store) => {
      givenAgent(store, 'a2')
      save(store, 's1', [update({ name: 'New', agentId: 'a2' })], {}, LATER)
      const renamed = store.readSession('s1')
      assert.deepEqual(
        [renamed?.name, renamed?.agentId, renamed?.description, renamed?.workspaceKind, renamed?.rev, renamed?.updatedAt],
        ['New', 'a2', '', 'system', 2, LATER],
      )
      save(store, 's1', [update({ description: 'What for', workspacePath: '/elsewhere' })])
      const moved = store.readSession('s1')
      assert.deepEqual(
        [moved?.name, moved?.description, moved?.workspaceKind, moved?.workspacePath],
        ['New', 'What for', 'user', '/elsewhere'],
      )
      assert.deepEqual([store.sessionsOfAgent('a1'), store.sessionsOfAgent('a2')], [[], ['s1']])
    }))

  test(`${target.name}: sessions that owe something are found, others are not`, () =>
    withStore(target, (store) => {
      for (const id of ['quiet', 'pending', 'queued', 'steering', 'offered', 'held', 'unknown', 'asking', 'inbox', 'claimed'])
        givenSession(store, id)
      save(store, 'quiet', [insertTaken('q1', 1, 't'), openTurn('q2', 2)])
      save(store, 'quiet', [closeTurn('q2')], contentOf('q2', 'done'))
      save(store, 'pending', [openTurn('p1', 1)])
      for (const state of ['queued', 'steering', 'offered', 'held', 'unknown'] as const)
        save(store, state, [insertInput(`in-${state}`, { inputState: state })])
      save(store, 'asking', [openTurn('k1', 1), insertApproval('ap1', 'k1')])
      save(store, 'asking', [closeTurn('k1')], contentOf('k1', ''))
      store.acceptDelivery(delivery('d1', { sessionId: 'inbox', senderSessionId: 's1' }))
      store.acceptDelivery(delivery('d2', { sessionId: 'claimed', senderSessionId: 's1' }))
      save(store, 'claimed', [{ type: 'claim-delivery', id: 'd2', seq: 1, turnId: 't', turnRef: 'gone', agentRev: 1 }])
      assert.deepEqual(store.sessionsOwing().toSorted(), ['asking', 'claimed', 'inbox', 'offered', 'pending', 'queued', 'steering'])
    }))

  test(`${target.name}: the transcript is read in pages, newest last`, () =>
    withStore(target, (store) => {
      save(
        store,
        's1',
        [1, 2, 3, 4, 5].map((seq) => insertTaken(`i${seq}`, seq, 't')),
      )
      const page = (limit: number, before: number | null): string[] => store.listMessages('s1', { limit, before }).map((row) => row.id)
      assert.deepEqual(page(2, null), ['i4', 'i5'])
      assert.deepEqual(page(2, 4), ['i2', 'i3'])
      assert.deepEqual(page(9, 2), ['i1'])
      assert.deepEqual(page(9, 1), [])
    }))

  test(`${target.name}: a provider is kept, changed at its rev, and not deleted while an agent names it`, () =>
    withStore(target, (store) => {
      const models = [{ id: 'm', name: null, contextWindow: 200_000, pricing: { input: 1, output: 2, cacheRead: null, cacheWrite: 0.5 } }]
      const made = store.insertProvider({
        id: 'p2',
        name: 'P',
        protocol: 'openai-chat',
        baseUrl: 'https://example.test',
        models,
        at: AT,
        idempotencyKey: 'k',
        bodyHash: 'h',
      })
      assert.deepEqual(made.item, {
        id: 'p2',
        rev: 1,
        name: 'P',
        protocol: 'openai-chat',
        baseUrl: 'https://example.test',
        models,
        createdAt: AT,
        updatedAt: AT,
      })
      const again = store.insertProvider({ ...made.item, id: 'p3', at: AT, idempotencyKey: 'k', bodyHash: 'x' })
      assert.deepEqual([again.outcome, again.item.id, again.outcome === 'existing' && again.sameBody], ['existing', 'p2', false])
      assert.equal(store.updateProvider('p2', 1, { models: [] }, LATER).outcome, 'done')
      assert.deepEqual([store.readProvider('p2')?.models, store.readProvider('p2')?.name, store.readProvider('p2')?.rev], [[], 'P', 2])
      assert.deepEqual(store.updateProvider('p2', 1, {}, LATER), { outcome: 'stale', rev: 2 })
      assert.deepEqual(store.updateProvider('nobody', 1, {}, LATER), { outcome: 'missing' })
      assert.deepEqual(store.deleteProvider('p1', 1), { outcome: 'in-use', by: 'a1' })
      assert.deepEqual(store.deleteProvider('p2', 1), { outcome: 'stale', rev: 2 })
      assert.equal(store.deleteProvider('p2', 2).outcome, 'done')
      assert.deepEqual(
        store.listProviders().map((each) => each.id),
        ['p1'],
      )
    }))

  test(`${target.name}: an agent is kept, changed at its rev, and not deleted while a session is its`, () =>
    withStore(target, (store) => {
      const agent = store.readAgent('a1')
      assert.ok(agent !== null)
      const keys = { at: AT, idempotencyKey: 'k', bodyHash: 'h' }
      const { rev: _rev, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = agent
      const given = {
        ...fields,
        id: 'a2',
        disabledTools: ['Bash'],
        channels: [{ kind: 'chat', name: 'desk' }],
        language: 'nl',
        providerId: null,
      }
      assert.deepEqual(store.insertAgent({ ...given, ...keys }).item, { ...given, rev: 1, createdAt: AT, updatedAt: AT })
      assert.equal(store.insertAgent({ ...given, ...keys, id: 'a3' }).outcome, 'existing')
      assert.equal(store.updateAgent('a2', 1, { permissionMode: 'plan', language: null }, LATER).outcome, 'done')
      assert.deepEqual(store.readAgent('a2'), { ...given, permissionMode: 'plan', language: null, rev: 2, createdAt: AT, updatedAt: LATER })
      assert.deepEqual(store.updateAgent('a2', 1, {}, LATER), { outcome: 'stale', rev: 2 })
      assert.equal(store.deleteAgent('a2', 2).outcome, 'done')
      assert.deepEqual(store.deleteAgent('a2', 2), { outcome: 'missing' })
      assert.deepEqual(
        store.listAgents().map((each) => each.id),
        ['a1'],
      )
      const rev = store.revOf('s1')
      assert.equal(store.deleteAgent('a1', 1).outcome, 'done')
      assert.equal(store.readSession('s1')?.agentId, null)
      assert.equal(store.revOf('s1'), rev, 'the session itself has not changed')
    }))

  test(`${target.name}: the stream epoch rises at every asking`, () =>
    withStore(target, (store, { another }) => {
      assert.deepEqual([store.nextStreamEpoch(), store.nextStreamEpoch()], [1, 2])
      if (another !== null) assert.equal(another().nextStreamEpoch(), 3)
    }))

  test(`${target.name}: the answer of a POST without a row is remembered as the first one was`, () =>
    withStore(target, (store) => {
      store.rememberAnswer('k', { bodyHash: 'h', status: 202, body: '{"a":1}' }, AT)
      store.rememberAnswer('k', { bodyHash: 'x', status: 500, body: '' }, LATER)
      assert.deepEqual(store.recallAnswer('k'), { bodyHash: 'h', status: 202, body: '{"a":1}' })
      store.forgetAnswers(AT)
      assert.notEqual(store.recallAnswer('k'), null)
      store.forgetAnswers(LATER)
      assert.equal(store.recallAnswer('k'), null)
    }))

  test(`${target.name}: a process is known by its pid and its start together`, () =>
    withStore(target, (store) => {
      const one = { pid: 7, startTime: '100', sessionId: 's1', marker: 'm1', at: AT }
      const two = { pid: 7, startTime: '200', sessionId: null, marker: 'm2', at: LATER }
      store.addProcess(one)
      store.addProcess(two)
      store.addProcess({ ...two, marker: 'm3' })
      assert.deepEqual(store.listProcesses(), [one, { ...two, marker: 'm3' }])
      store.removeProcess(7, '100')
      store.removeProcess(7, '300')
      assert.deepEqual(store.listProcesses(), [{ ...two, marker: 'm3' }])
    }))
}

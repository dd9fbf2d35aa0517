/** A store that cannot be read for a moment: nothing is lost, nothing waits for ever, no window is left with half of the truth. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import { StoreError } from '../../packages/runtime/src/store/errors.ts'
import type { Store } from '../../packages/runtime/src/store/store.ts'
import { hastyClock } from '../support/clock.ts'
import { furnishSession, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts, type TestHost } from '../support/host.ts'

afterEach(() => stopTestHosts())

type Trouble = { [Name in keyof Store]?: number }

/** Each call counts down what is asked for in `trouble` and throws as the store does when its file cannot be used. */
function troubled(trouble: Trouble, error: () => Error = () => new StoreError('UNAVAILABLE', 'disk I/O error')) {
  return (store: Store): Store =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const left = trouble[name] ?? 0
        if (left === 0) return target[name]
        return () => {
          trouble[name] = left - 1
          throw error()
        }
      },
    })
}

const answer = (host: TestHost, sessionId: string, messageId: string): Promise<Message> =>
  until(
    'the answer',
    async () =>
      (await host.client.sessions.transcript(sessionId)).items.find((row) => row.replyTo === messageId && row.status !== 'pending') ?? null,
  )

async function answersNext(host: TestHost, sessionId: string): Promise<void> {
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say next' })
  assert.equal((await answer(host, sessionId, messageId)).status, 'success')
}

test('a commit whose changes cannot be told still does what it decided, and its readers come back and see all of it', async () => {
  const trouble: Trouble = {}
  const wrap = (store: Store): Store => ({
    ...store,
    // It is saved, and nothing but its rev can be read.
    commit(commit, content) {
      const result = store.commit(commit, content)
      if (trouble.commit !== 1) return result
      trouble.commit = 0
      trouble.changesSince = 1
      return { outcome: 'unknown', message: 'not confirmed' }
    },
    changesSince(sessionId, rev) {
      if (trouble.changesSince !== 1) return store.changesSince(sessionId, rev)
      trouble.changesSince = 0
      throw new StoreError('UNAVAILABLE', 'disk I/O error')
    },
  })
  const host = await startTestHost({ store: wrap })
  const { sessionId } = await furnishSession(host.client)
  const rows = new Map<string, string | null>()
  let ends = 0
  const stream = host.client.stream({ only: sessionId })
  const reading = (async () => {
    for await (const event of stream) {
      if (event.type === 'row') rows.set(event.row.id, event.row.status)
      if (event.type === 'turn' && event.phase === 'ended') ends += 1
    }
  })()
  await until('the reader to be there', async () => {
    await answersNext(host, sessionId)
    return ends > 0
  })
  trouble.commit = 1
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say told' })
  assert.deepEqual([trouble.commit, trouble.changesSince], [0, 0])
  const row = await answer(host, sessionId, messageId)
  assert.equal(row.status, 'success')
  await until('the reader to have both rows', () => rows.has(messageId) && rows.get(row.id) === 'success')
  stream.close()
  await reading
})

test('an end that cannot be read back is tried again, and the turn ends once', async () => {
  const trouble: Trouble = {}
  const error = new StoreError('UNAVAILABLE', 'disk I/O error')
  const wrap = (store: Store): Store => ({
    ...troubled(trouble, () => error)(store),
    revOf: (id) => {
      if ((trouble.revOf ?? 0) === 0) return store.revOf(id)
      trouble.revOf = 0
      throw error
    },
    commit(commit, content) {
      if (trouble.commit !== 1 || !commit.writes.some((write) => write.type === 'close-turn')) return store.commit(commit, content)
      trouble.commit = 0
      trouble.revOf = 1
      return { outcome: 'unknown', message: 'not confirmed' }
    },
  })
  const host = await startTestHost({ store: wrap, clock: hastyClock(50) })
  const { sessionId } = await furnishSession(host.client)
  trouble.commit = 1
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say kept' })
  assert.equal((await answer(host, sessionId, messageId)).status, 'success')
  assert.deepEqual([trouble.commit, trouble.revOf], [0, 0])
  await answersNext(host, sessionId)
})

test('a store that throws on a command refuses it, and on an event of the agent costs that session, never the host', async () => {
  let broken: 'open-turn' | 'close-turn' | null = null
  const wrap = (store: Store): Store => ({
    ...store,
    commit(commit, content) {
      if (broken !== null && commit.writes.some((write) => write.type === broken)) {
        broken = null
        throw new Error('a write without its content')
      }
      return store.commit(commit, content)
    },
  })
  const host = await startTestHost({ store: wrap })
  const { sessionId } = await furnishSession(host.client)
  broken = 'open-turn'
  await assert.rejects(host.client.sessions.send(sessionId, { text: 'say never' }), /inside the host/)
  assert.deepEqual((await host.client.sessions.transcript(sessionId)).items, [])
  await answersNext(host, sessionId)
  broken = 'close-turn'
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say x' })
  assert.deepEqual((await answer(host, sessionId, messageId)).errorCode, 'INTERNAL_QUARANTINE')
  await host.client.sessions.release(sessionId)
  await answersNext(host, sessionId)
})

test('an agent whose facts, or whose message, cannot be read ends its turn with a code, and the next one works', async () => {
  const trouble: Trouble = {}
  // The commit that opens the turn is the last thing before the agent is looked up and the message is read.
  let armed: Trouble = {}
  const wrap = (store: Store): Store => {
    const inner = troubled(trouble)(store)
    const armedCommit: Store['commit'] = (commit, content) => {
      const outcome = store.commit(commit, content)
      if (commit.writes.some((write) => write.type === 'open-turn' || write.type === 'mark-sent')) {
        Object.assign(trouble, armed)
        armed = {}
      }
      return outcome
    }
    return new Proxy(inner, { get: (target, name: keyof Store) => (name === 'commit' ? armedCommit : target[name]) })
  }
  const host = await startTestHost({ store: wrap })
  const { sessionId } = await furnishSession(host.client)
  armed = { readAgent: 1 }
  const cold = await host.client.sessions.send(sessionId, { text: 'say x' })
  assert.equal((await answer(host, sessionId, cold.messageId)).errorCode, 'CONNECT_FAILED')
  await answersNext(host, sessionId)
  armed = { readMessage: 1 }
  const warm = await host.client.sessions.send(sessionId, { text: 'say x' })
  assert.equal((await answer(host, sessionId, warm.messageId)).errorCode, 'AGENT_ERROR')
  await answersNext(host, sessionId)
})

test('an inbox that cannot be read does not hold up the queue', async () => {
  const trouble: Trouble = {}
  const host = await startTestHost({ store: troubled(trouble) })
  const { sessionId } = await furnishSession(host.client)
  await host.client.sessions.send(sessionId, { text: 'wait a' })
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say second', when: 'queue' })
  trouble.nextAccepted = 1
  host.driver.release('a')
  assert.equal((await answer(host, sessionId, messageId)).status, 'success')
  assert.equal(trouble.nextAccepted, 0)
})

test('while nothing can be saved the agent is ended, not left at work', async () => {
  let broken = false
  const host = await startTestHost({
    clock: hastyClock(50),
    store: (store) => ({
      ...store,
      commit: (commit, content) => (broken ? { outcome: 'failed', message: 'disk full' } : store.commit(commit, content)),
    }),
  })
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say x\nwait a\nask Bash {} -> never' })
  await until('the agent to wait', () => (host.host.engine.runtime.session(sessionId)?.turn?.n ?? 0) > 1)
  broken = true
  host.driver.release('a')
  await until('the agent to be gone', () => host.host.engine.connections.size === 0)
  broken = false
  assert.equal((await answer(host, sessionId, messageId)).errorCode, 'TERMINAL_PERSISTENCE_FAILED')
  await answersNext(host, sessionId)
})

test('a list and a session tell one status', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'fail PROVIDER_ERROR no' })
  await answer(host, sessionId, messageId)
  const snapshot = await host.client.sessions.get(sessionId)
  const [listed] = (await host.client.sessions.list()).items
  assert.deepEqual([snapshot.status, snapshot.session.status], [listed?.status, listed?.status])
  assert.equal(listed?.status, 'error')
})

/** A session that nobody named is called by the first words of its first message (decision 0007). */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Store } from '../../packages/runtime/src/store/store.ts'
import { furnishSession } from '../support/daemon.ts'
import { startTestHost, stopTestHosts } from '../support/host.ts'

afterEach(() => stopTestHosts())

test('an unnamed session is named by its first message and by no later one', async () => {
  const { client } = await startTestHost()
  const { sessionId, agentId } = await furnishSession(client)
  const { cursor } = await client.sessions.send(sessionId, { text: '## say **hello**\nand more' })
  const { session } = await client.sessions.get(sessionId)
  assert.equal(session.name, 'say hello')
  assert.ok(cursor.split('.')[1] !== '1', 'the answer comes when the name is saved')
  await client.sessions.send(sessionId, { text: 'say something else' })
  assert.equal((await client.sessions.get(sessionId)).session.name, 'say hello')
  const named = await client.sessions.create({ agentId, name: 'mine' })
  await client.sessions.send(named.id, { text: 'say hello' })
  assert.equal((await client.sessions.get(named.id)).session.name, 'mine')
})

test('a session that changes while it is named is read again, and a name given meanwhile stands', async () => {
  let stale = 0
  let taken: string | null = null
  const store = (real: Store): Store => ({
    ...real,
    readSession(id) {
      const record = real.readSession(id)
      if (record === null) return null
      if (stale > 0) {
        stale -= 1
        return { ...record, rev: record.rev - 1 }
      }
      return taken === null ? record : { ...record, name: taken }
    },
  })
  const { client } = await startTestHost({ store })
  const first = await furnishSession(client)
  stale = 2
  await client.sessions.send(first.sessionId, { text: 'say hello' })
  assert.equal((await client.sessions.get(first.sessionId)).session.name, 'say hello')
  const second = await client.sessions.create({ agentId: first.agentId })
  taken = 'theirs'
  await client.sessions.send(second.id, { text: 'say hello' })
  taken = null
  assert.equal((await client.sessions.get(second.id)).session.name, '')
})

test('a name that cannot be saved costs no message', async () => {
  const store = (real: Store): Store => ({
    ...real,
    commit: (commit, content) =>
      commit.writes.some((write) => write.type === 'update-session')
        ? { outcome: 'failed', message: 'disk' }
        : real.commit(commit, content),
  })
  const { client } = await startTestHost({ store })
  const { sessionId } = await furnishSession(client)
  const { messageId } = await client.sessions.send(sessionId, { text: 'say hello' })
  assert.ok((await client.sessions.transcript(sessionId)).items.some((row) => row.id === messageId))
  assert.equal((await client.sessions.get(sessionId)).session.name, '')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../../packages/runtime/src/store/errors.ts'
import { furnishSession, makeTempDir, until } from '../support/daemon.ts'
import { raw, startTestHost, type TestHost } from '../support/host.ts'

const post = async (
  host: TestHost,
  sessionId: string,
  body: unknown,
  key: string,
): Promise<{ status: number; body: { messageId?: string; turnId?: string; code?: string } }> => {
  const response = await raw(host, `/v1/sessions/${sessionId}/messages`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'idempotency-key': key },
  })
  return { status: response.status, body: (await response.json()) as { messageId?: string; turnId?: string; code?: string } }
}

test('BUG-39 a client that repeats an accepted request gets the same ids, one row and one turn: at once, later, after a restart', async () => {
  const dir = makeTempDir('idem')
  let host = await startTestHost({ dataDir: dir.path })
  try {
    const { sessionId } = await furnishSession(host.client)
    // The answer is dropped on its way: the client hears nothing and asks again, several times at once.
    const dropped = new AbortController()
    const lost = raw(host, `/v1/sessions/${sessionId}/messages`, {
      method: 'POST',
      body: '{"text":"say once"}',
      headers: { 'idempotency-key': 'k1' },
      signal: dropped.signal,
    })
    await until(
      'the row',
      () =>
        host.host.engine.runtime.session(sessionId)?.turn != null ||
        host.host.transcript(sessionId, { limit: 10, before: null }).items.length > 0,
    )
    dropped.abort()
    await lost.catch(() => undefined)
    const together = await Promise.all([1, 2, 3].map(() => post(host, sessionId, { text: 'say once' }, 'k1')))
    const [first] = together
    assert.ok(first !== undefined)
    for (const each of together)
      assert.deepEqual([each.status, each.body.messageId, each.body.turnId], [202, first.body.messageId, first.body.turnId])
    await until('the turn to end', async () =>
      (await host.client.sessions.transcript(sessionId)).items.some((row) => row.status === 'success'),
    )
    await host.stop()
    host = await startTestHost({ dataDir: dir.path })
    const later = await post(host, sessionId, { text: 'say once' }, 'k1')
    assert.deepEqual([later.status, later.body.messageId], [202, first.body.messageId])
    // The spelling of the JSON is no other body; another text is.
    assert.equal((await post(host, sessionId, { text: 'say twice' }, 'k1')).body.code, 'IDEMPOTENCY_KEY_REUSED')
    const { items } = await host.client.sessions.transcript(sessionId)
    assert.deepEqual(
      items.map((row) => row.role),
      ['user', 'assistant'],
    )
    // The same text with a new key is a second message.
    const second = await post(host, sessionId, { text: 'say once' }, 'k2')
    assert.notEqual(second.body.messageId, first.body.messageId)
    await until(
      'two answers',
      async () => (await host.client.sessions.transcript(sessionId)).items.filter((row) => row.status === 'success').length === 2,
    )
  } finally {
    await host.stop()
    dir.remove()
  }
})

test('concurrent first requests with one key make one message', async () => {
  const host = await startTestHost()
  try {
    const { sessionId } = await furnishSession(host.client)
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(host, sessionId, { text: 'say hi' }, 'same')))
    assert.equal(new Set(answers.map((each) => each.body.messageId)).size, 1, JSON.stringify(answers))
    await until('the answer', async () => (await host.client.sessions.transcript(sessionId)).items.length === 2)
  } finally {
    await host.stop()
  }
})

test('keys of other POSTs: the same thing, not a second one; a Stop is not repeated on another turn', async () => {
  const host = await startTestHost()
  try {
    const { sessionId, agentId } = await furnishSession(host.client)
    const one = await host.client.sessions.create({ agentId, name: 'n' }, { idempotencyKey: 'session' })
    const two = await host.client.sessions.create({ agentId, name: 'n' }, { idempotencyKey: 'session' })
    assert.equal(one.id, two.id)
    await assert.rejects(host.client.sessions.create({ agentId, name: 'other' }, { idempotencyKey: 'session' }), /other body/)
    await host.client.sessions.send(sessionId, { text: 'wait a' })
    await until('the turn', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
    const stopped = await host.client.sessions.stop(sessionId, {}, { idempotencyKey: 'stop' })
    await until('its end', async () => (await host.client.sessions.get(sessionId)).turn === null)
    await host.client.sessions.send(sessionId, { text: 'wait b' })
    await until('the next turn', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
    assert.deepEqual(await host.client.sessions.stop(sessionId, {}, { idempotencyKey: 'stop' }), stopped)
    assert.equal((await host.client.sessions.get(sessionId)).turn?.phase, 'open', 'the repeated answer stopped nothing')
  } finally {
    await host.stop()
  }
})

test('a command repeated while it runs is one command, and one whose answer cannot be kept is not refused', async () => {
  let failures = 0
  const host = await startTestHost({
    store: (store) => ({
      ...store,
      rememberAnswer(...answer) {
        if (failures > 0) {
          failures -= 1
          throw new StoreError('UNAVAILABLE', 'disk I/O error')
        }
        store.rememberAnswer(...answer)
      },
    }),
  })
  try {
    const { sessionId } = await furnishSession(host.client)
    await host.client.sessions.send(sessionId, { text: 'ask Bash {"command":"ls"} -> x' })
    const card = await until('the card', async () => (await host.client.approvals.list({ status: 'pending' })).items[0] ?? null)
    failures = 1
    const how = { idempotencyKey: 'yes' }
    const answers = await Promise.all([1, 2, 3].map(() => host.client.approvals.answer(card.id, { decision: 'allow' }, how)))
    answers.push(await host.client.approvals.answer(card.id, { decision: 'allow' }, how))
    assert.deepEqual(
      answers.map((each) => each.status),
      ['allowed', 'allowed', 'allowed', 'allowed'],
    )
    await assert.rejects(host.client.approvals.answer(card.id, { decision: 'deny' }, how), /other body/)
    // A refusal leaves no key.
    await assert.rejects(
      host.client.approvals.answer(card.id, { decision: 'deny' }, { idempotencyKey: 'no' }),
      /APPROVAL_NOT_PENDING|answered/,
    )
  } finally {
    await host.stop()
  }
})

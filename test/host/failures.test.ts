/** Real failures of systems like this one, as scenarios over a real host with the scripted agent. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import { createScriptedDriver } from '../../packages/runtime/src/driver/kit/index.ts'
import { TIMER_MS } from '../../packages/runtime/src/host/timers.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import { hastyClock, unsteadyClock } from '../support/clock.ts'
import { DiedEarly, furnishSession, makeTempDir, startDaemon, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts, type TestHost } from '../support/host.ts'

afterEach(() => stopTestHosts())

const rows = async (host: TestHost, sessionId: string): Promise<Message[]> => (await host.client.sessions.transcript(sessionId)).items
const send = (
  host: TestHost,
  sessionId: string,
  text: string,
  when: 'steer' | 'queue' = 'queue',
): Promise<{ messageId: string; turnId: string | null }> => host.client.sessions.send(sessionId, { text, when })
const answer = (host: TestHost, sessionId: string, messageId: string): Promise<Message> =>
  until(
    'the answer',
    async () => (await rows(host, sessionId)).find((row) => row.replyTo === messageId && row.status !== 'pending') ?? null,
  )
const idle = (host: TestHost, sessionId: string): Promise<true> =>
  until('the session to be idle', async () => (await host.client.sessions.get(sessionId)).turn === null)

test('BUG-07 queued messages survive the idle timer and a restart, and a failed one does not let the next run silently', async () => {
  const dir = makeTempDir('queue')
  let host = await startTestHost({ dataDir: dir.path, timers: { ...TIMER_MS, idle: 50 } })
  const { sessionId } = await furnishSession(host.client)
  await send(host, sessionId, 'wait a')
  const queued = [
    await send(host, sessionId, 'fail PROVIDER_ERROR no'),
    await send(host, sessionId, 'say two'),
    await send(host, sessionId, 'say three'),
  ]
  await host.client.sessions.stop(sessionId)
  await idle(host, sessionId)
  await until('the idle timer to close the connection', () => host.host.engine.connections.size === 0)
  const held = async (): Promise<unknown[]> =>
    (await host.client.sessions.get(sessionId)).queue.map((row) => [row.id, row.inputState, row.heldReason])
  const expected = queued.map(({ messageId }) => [messageId, 'held', 'stopped'])
  assert.deepEqual(await held(), expected)
  await host.stop()
  host = await startTestHost({ dataDir: dir.path })
  assert.deepEqual(await held(), expected)
  await host.client.sessions.runQueue(sessionId)
  assert.equal((await answer(host, sessionId, queued[0]?.messageId ?? '')).status, 'error')
  assert.deepEqual(
    await held(),
    expected.slice(1).map(([id]) => [id, 'held', 'failed']),
  )
  await host.client.sessions.runQueue(sessionId)
  for (const { messageId } of queued.slice(1)) assert.equal((await answer(host, sessionId, messageId)).status, 'success')
  await host.stop()
  dir.remove()
})

test('BUG-11 whatever way a turn fails, its row is final and the next message reaches the agent', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  for (const [script, status] of [
    ['die', 'interrupted'],
    ['say half\ndie', 'interrupted'],
    ['fail AGENT_ERROR at once', 'error'],
    ['say half\nfail PROVIDER_ERROR 500 in the middle', 'error'],
    ['say x\nautonomous die', 'success'],
  ] as const) {
    const { messageId } = await send(host, sessionId, script)
    assert.equal((await answer(host, sessionId, messageId)).status, status, script)
    await until('nothing to be busy', async () =>
      ['idle', 'error', 'held'].includes((await host.client.sessions.get(sessionId)).session.status),
    )
    assert.equal(host.host.engine.streams.hasLiveStream(sessionId), false)
    const next = await send(host, sessionId, 'say next')
    assert.equal((await answer(host, sessionId, next.messageId)).status, 'success', `after ${script}`)
  }
  assert.ok((await rows(host, sessionId)).every((row) => row.status !== 'pending'))
})

test('BUG-12 a Stop at every moment ends the row as paused within 2.5 s, with nothing said after it', async () => {
  // A child process takes a moment to come up: time enough to stop before it has.
  const driver = createScriptedDriver({ transport: 'stdio' })
  const host = await startTestHost({ drivers: [driver] })
  const { sessionId } = await furnishSession(host.client)
  const stopAfter = async (script: string, moment: (turnId: string) => Promise<unknown>): Promise<Message> => {
    const { messageId, turnId } = await send(host, sessionId, script)
    await moment(turnId ?? '')
    const asked = performance.now()
    await host.client.sessions.stop(sessionId)
    const row = await answer(host, sessionId, messageId)
    assert.ok(performance.now() - asked <= 2500, `${script}: ${performance.now() - asked} ms`)
    assert.equal(row.status, 'paused', script)
    assert.equal(row.errorCode, null)
    return row
  }
  const shown = (): Promise<unknown> =>
    until('something to be shown', () => (host.host.engine.runtime.session(sessionId)?.turn?.n ?? 0) > 2)
  const open = (): Promise<unknown> =>
    until('the turn to be open', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
  const connecting = (): Promise<unknown> =>
    until('the turn to connect', () => host.host.engine.runtime.session(sessionId)?.turn?.phase === 'starting')
  await stopAfter('say never', connecting)
  await stopAfter('wait a', open)
  const row = await stopAfter('say first\nwait b\nsay second', shown)
  assert.ok(!JSON.stringify(row.parts).includes('second'))
  await stopAfter('tool Bash {"command":"x"} wait c -> never', shown)
  await stopAfter('ask Bash {"command":"x"} -> never', () =>
    until('the card', async () => (await host.client.approvals.list({ sessionId, status: 'pending' })).items.length === 1),
  )
  assert.deepEqual((await host.client.approvals.list({ sessionId, status: 'pending' })).items, [])
  // An agent that does not hear the interrupt is closed; an agent that clings is killed.
  await stopAfter('stubborn\nsay x\nwait d', shown)
  const { messageId } = await send(host, sessionId, 'say works')
  assert.equal((await answer(host, sessionId, messageId)).status, 'success')
})

test('BUG-12 a late Stop never hits the next turn', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const first = await send(host, sessionId, 'say one')
  await answer(host, sessionId, first.messageId)
  const second = await send(host, sessionId, 'wait a\nsay two')
  await assert.rejects(host.client.sessions.stop(sessionId, { turnId: first.turnId ?? '' }), /That turn is over/)
  host.driver.release('a')
  assert.equal((await answer(host, sessionId, second.messageId)).status, 'success')
})

test('BUG-13 a leftover end of a failed turn is dropped, and the next turn gets its own answer', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const { runtime } = host.host.engine
  const first = await send(host, sessionId, 'fail PROVIDER_ERROR no')
  await answer(host, sessionId, first.messageId)
  const second = await send(host, sessionId, 'say mine\nwait a')
  await until('the second turn to speak', () => (runtime.session(sessionId)?.turn?.n ?? 0) > 1)
  const generation = runtime.session(sessionId)?.lastGeneration ?? 0
  // The trailer comes late, from the old connection and even under the new one's number.
  for (const from of [generation - 1, generation]) {
    runtime.driverEvent(sessionId, from, { type: 'turn-complete', turnId: first.turnId ?? '', outcome: 'success' })
    runtime.driverEvent(sessionId, from, { type: 'error', turnId: first.turnId ?? '', code: 'AGENT_ERROR', message: 'late', status: null })
  }
  runtime.driverEvent(sessionId, generation - 1, { type: 'connection-closed', code: 'AGENT_PROCESS_LOST', message: 'late' })
  assert.equal(runtime.session(sessionId)?.turn?.id, second.turnId)
  host.driver.release('a')
  const row = await answer(host, sessionId, second.messageId)
  assert.equal(row.status, 'success')
  assert.ok(JSON.stringify(row.parts).includes('mine'))
})

test(
  'BUG-21 BUG-32 a second host on one data directory is refused with the owner’s pid; after its SIGKILL the next one starts',
  { timeout: 60_000 },
  async () => {
    const dir = makeTempDir('lock')
    const owner = await startDaemon({ dataDir: dir.path })
    await assert.rejects(startTestHost({ dataDir: dir.path }), new RegExp(`pid ${owner.pid}`))
    await assert.rejects(startDaemon({ dataDir: dir.path, env: { NODE_NO_WARNINGS: '1' } }), DiedEarly)
    assert.ok(owner.alive())
    await owner.kill()
    const next = await startDaemon({ dataDir: dir.path })
    await next.kill('SIGTERM')
    dir.remove()
  },
)

test('BUG-35 the clock jumps by ten minutes either way: one turn each, in the order they were sent', async () => {
  const host = await startTestHost({ clock: unsteadyClock(600_000) })
  const { sessionId } = await furnishSession(host.client)
  const sent = []
  for (const n of [1, 2, 3, 4, 5]) sent.push(await send(host, sessionId, `say ${n}`))
  await until('five answers', async () => (await rows(host, sessionId)).filter((row) => row.status === 'success').length === 5)
  const all = await rows(host, sessionId)
  assert.deepEqual(
    all.filter((row) => row.role === 'user').map((row) => row.id),
    sent.map((each) => each.messageId),
  )
  for (const [index, row] of all.entries()) assert.equal(row.role, index % 2 === 0 ? 'user' : 'assistant')
  for (const [index, row] of all.entries())
    if (row.role === 'assistant') assert.equal(row.replyTo, all[index - 1]?.id, 'the reply names what it answers')
})

test('BUG-40 half a character from a person or an agent is made whole at the door, whole ones stay as they are', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const family = '👨‍👩‍👧‍👦 外注 שלום e\u0301'
  const { messageId } = await send(host, sessionId, `say \ud83d cut \udc68 \0 ${family}\ngarble`)
  const row = await answer(host, sessionId, messageId)
  const input = (await rows(host, sessionId)).find((each) => each.id === messageId)
  for (const text of [JSON.stringify(input?.parts), JSON.stringify(row.parts)]) {
    assert.ok(text.isWellFormed() && !/\\ud[89a-f]/i.test(text), text)
    assert.ok(text.includes(family))
  }
  assert.ok(JSON.stringify(input?.parts).includes('\ufffd cut \ufffd \u2400'))
  const { session } = await host.client.sessions.get(sessionId)
  assert.ok(session.lastText.isWellFormed())
})

test('BUG-56 no secret of the host stands in rows, logs, answers or streams', async () => {
  const dir = makeTempDir('canary')
  const written: string[] = []
  const original = process.stderr.write.bind(process.stderr)
  process.stderr.write = (text: string | Uint8Array) => {
    written.push(text.toString())
    return true
  }
  const canary = 'sk-canary-5f0e7'
  try {
    const host = await startTestHost({ dataDir: dir.path, logLevel: 'debug' })
    const provider = await host.client.providers.create({
      name: 'p',
      protocol: 'anthropic',
      baseUrl: 'http://127.0.0.1:9',
      apiKey: canary,
      models: [{ id: 'm' }],
    })
    const agent = await host.client.agents.create({ name: 'a', type: 'scripted', providerId: provider.id, modelId: 'm' })
    const session = await host.client.sessions.create({ agentId: agent.id })
    await send(host, session.id, 'say x\nfail PROVIDER_AUTH_FAILED 401 no')
    await idle(host, session.id)
    const tried = await host.client.providers.test(provider.id)
    const shown = JSON.stringify([
      await host.client.providers.list(),
      await host.client.sessions.get(session.id),
      await rows(host, session.id),
      tried,
      await host.client.info(),
    ])
    const { token } = host
    await host.stop()
    const store = openSqliteStore({ path: `${dir.path}/wheelhouse.db` })
    const stored = JSON.stringify([
      store.listProviders(),
      store.listAgents(),
      store.listSessions({ limit: 10, before: null, agentId: null }),
      store.listMessages(session.id, { limit: 10, before: null }),
    ])
    store.close()
    for (const secret of [canary, token])
      for (const [where, text] of Object.entries({ shown, stored, log: written.join('') }))
        assert.ok(!text.includes(secret), `${where} holds a secret`)
  } finally {
    process.stderr.write = original
    dir.remove()
  }
})

test('an answer that never comes expires with its card, and the turn goes on', async () => {
  const host = await startTestHost({ clock: hastyClock(2000), timers: { ...TIMER_MS, 'approval-expiry': 60_000 } })
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await send(host, sessionId, 'ask Bash {"command":"x"} -> never')
  const row = await answer(host, sessionId, messageId)
  assert.equal(row.status, 'success')
  const [card] = (await host.client.approvals.list({ sessionId })).items
  assert.equal(card?.status, 'expired')
})

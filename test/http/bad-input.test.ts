/** What a person or program may get wrong: each is a problem+json with a stable code, nothing is written, the host lives. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { listAll } from '@wheelhouse/client'
import { ERRORS, LIMITS, type ErrorCode, type Problem } from '@wheelhouse/client/protocol'
import { startServer } from '../../packages/runtime/src/server/http.ts'
import { furnishSession, until } from '../support/daemon.ts'
import { raw, startTestHost, type TestHost } from '../support/host.ts'

let host: TestHost
let sessionId: string
let agentId: string
let providerId: string

before(async () => {
  host = await startTestHost()
  ;({ sessionId, agentId, providerId } = await furnishSession(host.client))
})
after(() => host.stop())

async function refused(response: Response, code: ErrorCode): Promise<Problem> {
  const problem = (await response.json()) as Problem
  assert.equal(problem.code, code, JSON.stringify(problem))
  assert.equal(response.status, ERRORS[code].status)
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.equal(problem.type, `urn:wheelhouse:error:${code}`)
  assert.ok(problem.detail.length > 0)
  return problem
}

/** A refusal, and the session's transcript and queue as they were. */
async function refusedWithoutTrace(make: () => Promise<Response>, code: ErrorCode): Promise<Problem> {
  const look = async (): Promise<string> =>
    JSON.stringify([await host.client.sessions.transcript(sessionId), await host.client.sessions.get(sessionId)])
  const was = await look()
  const problem = await refused(await make(), code)
  assert.equal(await look(), was)
  return problem
}

const send = (body: unknown, id = sessionId, headers: { [name: string]: string } = {}): Promise<Response> =>
  raw(host, `/v1/sessions/${id}/messages`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })

test('an unknown session, message, agent, provider, approval and route', async () => {
  await refused(await send({ text: 'x' }, 'nobody'), 'SESSION_NOT_FOUND')
  await refused(await raw(host, '/v1/sessions/nobody'), 'SESSION_NOT_FOUND')
  await refused(await raw(host, '/v1/sessions/nobody/stream'), 'SESSION_NOT_FOUND')
  await refused(await raw(host, '/v1/sessions/nobody/stop', { method: 'POST', body: '{}' }), 'SESSION_NOT_FOUND')
  await refused(await raw(host, `/v1/sessions/${sessionId}/messages/nobody`, { method: 'DELETE' }), 'MESSAGE_NOT_FOUND')
  await refused(await raw(host, '/v1/agents/nobody'), 'AGENT_NOT_FOUND')
  await refused(await raw(host, '/v1/providers/nobody'), 'PROVIDER_NOT_FOUND')
  await refused(await raw(host, '/v1/approvals/nobody', { method: 'POST', body: '{"decision":"allow"}' }), 'APPROVAL_NOT_FOUND')
  await refused(await raw(host, '/v1/nothing'), 'NOT_FOUND')
  await refused(await raw(host, '/v1/sessions', { method: 'PUT', body: '{}' }), 'NOT_FOUND')
})

test('a malformed, oversized, empty or wrongly typed body', async () => {
  await refusedWithoutTrace(() => send('{"text":'), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send('[]'), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({}), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ text: '  ' }), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ text: 'x', parts: [{ type: 'text', text: 'x' }] }), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ parts: [{ type: 'file', url: 'file:///etc/passwd', mediaType: 'x' }] }), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ text: 'x', when: 'never' }), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ text: 'x', origin: 'delivery' }), 'INVALID_REQUEST')
  await refusedWithoutTrace(() => send({ text: 'x'.repeat(LIMITS.messageTextBytes + 1) }), 'BODY_TOO_LARGE')
  await refusedWithoutTrace(() => send(JSON.stringify({ text: 'x'.repeat(LIMITS.requestBodyBytes) })), 'BODY_TOO_LARGE')
  await refusedWithoutTrace(() => send('text=x', sessionId, { 'content-type': 'text/plain' }), 'UNSUPPORTED_MEDIA_TYPE')
  await refusedWithoutTrace(() => send({ text: 'x' }, sessionId, { 'idempotency-key': 'ä b' }), 'INVALID_REQUEST')
})

test('a body that cannot be taken is told by its field, in words a person can act on', async () => {
  const detailOf = async (path: string, body: unknown): Promise<string> =>
    (await refused(await raw(host, path, { method: 'POST', body: JSON.stringify(body) }), 'INVALID_REQUEST')).detail
  assert.equal(await detailOf('/v1/agents', { name: ' ' }), 'name: It must not be empty. type: It is missing.')
  assert.match(
    await detailOf('/v1/agents', { name: 'x', type: 'scripted', permissionMode: 'nope' }),
    /^permissionMode: Invalid option: expected one of "default"\|/,
  )
  assert.equal(
    await detailOf('/v1/sessions', { agentId, workspace: { kind: 'user', path: 'relative' } }),
    'The folder (workspace.path) needs its full path, from the root on.',
  )
  assert.equal(await detailOf(`/v1/sessions/${sessionId}/messages`, { text: ' ' }), 'The message is empty.')
})

test('a workspace that is missing, no folder, or vanished', async () => {
  const make = (path: string): Promise<Response> =>
    raw(host, '/v1/sessions', { method: 'POST', body: JSON.stringify({ agentId, workspace: { kind: 'user', path } }) })
  const problem = await refused(await make('/no/such/folder'), 'WORKSPACE_MISSING')
  assert.match(problem.detail, /\/no\/such\/folder/)
  await refused(await make('relative'), 'INVALID_REQUEST')
  const file = join(host.dataDir, 'a-file')
  writeFileSync(file, '')
  await refused(await make(file), 'WORKSPACE_NOT_A_DIRECTORY')
})

test('BUG-45 a deleted or replaced folder is named as such, and the session works when it is back', async () => {
  const folder = join(host.dataDir, 'project')
  mkdirSync(folder)
  const session = await host.client.sessions.create({ agentId, workspace: { kind: 'user', path: folder } })
  const say = (): Promise<Response> => send({ text: 'say hi' }, session.id)
  rmSync(folder, { recursive: true })
  const missing = await refused(await say(), 'WORKSPACE_MISSING')
  assert.ok(missing.detail.includes(folder) && !/install|ENOENT|spawn/i.test(missing.detail))
  writeFileSync(folder, 'now a file')
  await refused(await say(), 'WORKSPACE_NOT_A_DIRECTORY')
  assert.deepEqual((await host.client.sessions.transcript(session.id)).items, [])
  rmSync(folder)
  mkdirSync(folder)
  assert.equal((await say()).status, 202)
  await until('the answer', async () => (await host.client.sessions.transcript(session.id)).items.some((row) => row.status === 'success'))
  // Removed in a turn, then pointed elsewhere: usable at once.
  rmSync(folder, { recursive: true })
  const { session: now } = await host.client.sessions.get(session.id)
  const moved = await host.client.sessions.update(session.id, { workspace: { kind: 'user', path: host.dataDir } }, now.rev)
  assert.equal(moved.workspace.path, host.dataDir)
  assert.equal((await say()).status, 202)
})

test('a session without an agent, an agent without a model, an unregistered driver', async () => {
  const bare = await host.client.agents.create({ name: 'bare', type: 'scripted' })
  const session = await host.client.sessions.create({ agentId: bare.id })
  await refused(await send({ text: 'x' }, session.id), 'AGENT_HAS_NO_MODEL')
  await host.client.agents.remove(bare.id, bare.rev)
  await refused(await send({ text: 'x' }, session.id), 'SESSION_HAS_NO_AGENT')
  await refused(
    await raw(host, '/v1/agents', { method: 'POST', body: JSON.stringify({ name: 'x', type: 'unheard-of' }) }),
    'DRIVER_NOT_REGISTERED',
  )
  await refused(
    await raw(host, '/v1/agents', { method: 'POST', body: JSON.stringify({ name: 'x', type: 'scripted', permissionMode: 'auto' }) }),
    'NOT_SUPPORTED',
  )
  await refused(await raw(host, '/v1/sessions', { method: 'POST', body: JSON.stringify({ agentId: 'nobody' }) }), 'AGENT_NOT_FOUND')
})

test('a stale or missing rev changes nothing', async () => {
  const patch = (headers: { [name: string]: string }): Promise<Response> =>
    raw(host, `/v1/agents/${agentId}`, { method: 'PATCH', body: '{"name":"other"}', headers })
  await refused(await patch({}), 'PRECONDITION_REQUIRED')
  await refused(await patch({ 'if-match': '99' }), 'STALE_REV')
  await refused(await patch({ 'if-match': 'x' }), 'INVALID_REQUEST')
  await refused(await raw(host, `/v1/sessions/${sessionId}`, { method: 'DELETE', headers: { 'if-match': '99' } }), 'STALE_REV')
  await refused(await raw(host, `/v1/providers/${providerId}`, { method: 'DELETE', headers: { 'if-match': '1' } }), 'RESOURCE_IN_USE')
  assert.equal((await host.client.agents.get(agentId)).name, 'a-one')
})

test('an unreadable cursor is refused, an unknown one is answered by exactly one resync', async () => {
  for (const cursor of ['x', '1.2', '1.2.3.4', '-1.2.3'])
    await refused(await raw(host, `/v1/sessions/${sessionId}/stream?cursor=${cursor}`), 'INVALID_CURSOR')
  await refused(await raw(host, '/v1/stream?cursor=nothing'), 'INVALID_CURSOR')
  for (const cursor of ['1.2.3', '9007199254740991.1.0']) {
    const events: string[] = []
    const stream = host.client.stream({ only: sessionId, sessions: [[sessionId, cursor]] })
    for await (const event of stream) {
      events.push(event.type)
      if (event.type === 'resync') assert.equal(event.reason, 'cursor-unknown')
      break
    }
    stream.close()
    assert.deepEqual(events, ['resync'])
  }
})

test('a body far over the limit gets its answer, also while it is being sent', async () => {
  for (let n = 0; n < 3; n += 1)
    await refused(await send(JSON.stringify({ text: 'x'.repeat(3 * LIMITS.requestBodyBytes) })), 'BODY_TOO_LARGE')
})

test('a list cursor that is none is refused', async () => {
  await refused(await raw(host, '/v1/sessions?cursor=zzz'), 'INVALID_CURSOR')
})

test('a value nested deeper than the stack is refused, and the host lives', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  await refused(
    await raw(host, '/v1/approvals/x', { method: 'POST', body: `{"decision":"allow","updatedInput":${deep}}` }),
    'INVALID_REQUEST',
  )
})

test('approvals: unknown decision, and one that is no longer pending', async () => {
  const session = await host.client.sessions.create({ agentId })
  await host.client.sessions.send(session.id, { text: 'ask Bash {"command":"rm -rf x"} -> ok' })
  const approval = await until(
    'the card',
    async () => (await host.client.approvals.list({ sessionId: session.id, status: 'pending' })).items[0] ?? null,
  )
  const answer = (body: unknown): Promise<Response> =>
    raw(host, `/v1/approvals/${approval.id}`, { method: 'POST', body: JSON.stringify(body) })
  await refused(await answer({ decision: 'perhaps' }), 'INVALID_REQUEST')
  assert.equal((await answer({ decision: 'deny', reason: 'no' })).status, 200)
  await refused(await answer({ decision: 'allow' }), 'APPROVAL_NOT_PENDING')
})

test('BUG-54 no token, a wrong one, another Host, a foreign Origin: refused before routing', async () => {
  for (const path of ['/v1/sessions', '/v1/stream', '/v1/nothing', '/metrics', '/openapi.json', `/v1/sessions/${sessionId}/stream`]) {
    await refused(await raw(host, path, { noToken: true }), 'UNAUTHENTICATED')
    await refused(await raw(host, path, { headers: { authorization: 'Bearer wrong' } }), 'UNAUTHENTICATED')
    await refused(await raw(host, path, { headers: { origin: 'https://evil.test' } }), 'ORIGIN_NOT_ALLOWED')
    await refused(await raw(host, path, { headers: { origin: 'null' } }), 'ORIGIN_NOT_ALLOWED')
    for (const name of ['evil.test', `evil.test:${host.server.port}`, `127.0.0.1.evil.test:${host.server.port}`, '127.0.0.1:1'])
      assert.equal(await codeFor(path, name), 'HOST_NOT_ALLOWED')
  }
  await refused(
    await raw(host, '/v1/sessions', { method: 'POST', noToken: true, body: 'x', headers: { 'content-type': 'text/plain' } }),
    'UNAUTHENTICATED',
  )
  assert.equal((await raw(host, '/healthz', { noToken: true })).status, 200)
  assert.equal(await codeFor('/healthz', 'evil.test'), 'HOST_NOT_ALLOWED')
  assert.equal((await raw(host, '/v1/info')).headers.get('access-control-allow-origin'), null)
})

test('BUG-54 no spelling of a path leads past the credential', async () => {
  const port = host.server.port
  for (const path of [
    '/%761/info',
    '/v%31/sessions',
    `/%76%31/sessions/${sessionId}/messages`,
    '/%6detrics',
    '/openapi%2ejson',
    `http://127.0.0.1:${port}/v1/sessions`,
    `http://127.0.0.1:${port}/metrics`,
  ])
    assert.equal(await codeFor(path, `127.0.0.1:${port}`, null), 'UNAUTHENTICATED', path)
})

test('an address that cannot be read, or an id that is none, is a problem like any other', async () => {
  const name = `127.0.0.1:${host.server.port}`
  assert.equal(await codeFor('/v1/%zz', name), 'INVALID_REQUEST')
  assert.equal(await codeFor('/v1/%zz', name, null), 'UNAUTHENTICATED')
  assert.equal(await codeFor('/v1/%zz', 'evil.test'), 'HOST_NOT_ALLOWED')
  await refused(await raw(host, `/v1/sessions/${'a'.repeat(300)}`), 'NOT_FOUND')
})

test('an empty body with the media type of JSON is an empty body', async () => {
  const headers = { 'content-type': 'application/json' }
  const response = await raw(host, `/v1/sessions/${sessionId}/queue/run`, { method: 'POST', headers })
  assert.equal(response.status, 202)
  await refused(await raw(host, `/v1/sessions/${sessionId}/messages`, { method: 'POST', headers }), 'INVALID_REQUEST')
})

test('HEAD opens no stream', async () => {
  for (const path of ['/v1/stream', `/v1/sessions/${sessionId}/stream`])
    assert.equal((await raw(host, path, { method: 'HEAD' })).status, 404)
})

// Only Linux has more loopback addresses than one without being told.
test('any loopback address that is listened on may be called by its name', { skip: process.platform !== 'linux' }, async () => {
  const server = await startServer({ host: host.host, port: 0, address: '127.0.0.2', webDir: 'none' })
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
  await server.close()
})

test('the page and its files need no credential', async () => {
  const webDir = join(host.dataDir, 'web')
  mkdirSync(join(webDir, 'assets'), { recursive: true })
  writeFileSync(join(webDir, 'index.html'), 'the page')
  writeFileSync(join(webDir, 'assets', 'a.js'), 'a file')
  const server = await startServer({ host: host.host, port: 0, address: '127.0.0.1', webDir })
  const text = async (path: string): Promise<string> => (await fetch(server.url + path)).text()
  assert.deepEqual(await Promise.all(['/', '/sessions/x', '/assets/a.js'].map(text)), ['the page', 'the page', 'a file'])
  assert.equal((await fetch(`${server.url}/assets/none.js`)).status, 404)
  await server.close()
})

/** fetch does not let a program choose the Host header. */
function codeFor(path: string, name: string, token: string | null = host.token): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL(host.url)
    const call = request(
      {
        host: url.hostname,
        port: url.port,
        path,
        headers: { host: name, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      },
      (response) => {
        let body = ''
        response.on('data', (data: Buffer) => (body += data.toString()))
        response.on('end', () => resolve((JSON.parse(body) as Problem).code))
      },
    )
    call.on('error', reject)
    call.end()
  })
}

test('the host is alive after all of this', async () => {
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say alive' })
  await until('the answer', async () =>
    (await host.client.sessions.transcript(sessionId)).items.some((row) => row.replyTo === messageId && row.status === 'success'),
  )
})

test('lists are paged, and a cursor that leads nowhere is refused', async () => {
  const { sessionId: paged } = await furnishSession(host.client, { key: 'paged' })
  for (let no = 0; no < 3; no += 1) {
    const { messageId } = await host.client.sessions.send(paged, { text: `ask Bash {"command":"${no}"} -> x` })
    const card = await until(
      'the card',
      async () => (await host.client.approvals.list({ sessionId: paged, status: 'pending' })).items[0] ?? null,
    )
    await host.client.approvals.answer(card.id, { decision: 'allow' })
    await until('the end', async () =>
      (await host.client.sessions.transcript(paged)).items.some((row) => row.replyTo === messageId && row.status === 'success'),
    )
  }
  const all = await host.client.approvals.list({ sessionId: paged })
  const pages = await listAll((query) => host.client.approvals.list({ ...query, sessionId: paged, limit: 2 }))
  assert.deepEqual([all.items.length, all.nextCursor, pages], [3, null, all.items])
  for (const path of ['/v1/approvals?cursor=x', '/v1/agents?cursor=gone', '/v1/providers?cursor=gone']) {
    const answer = await raw(host, path)
    assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [400, 'INVALID_CURSOR'], path)
  }
})

test('terms of the world that cannot be seen whole are refused', async () => {
  const agent = (change: object): Promise<Response> =>
    raw(host, '/v1/agents', { method: 'POST', body: JSON.stringify({ name: 'a', type: 'scripted', ...change }) })
  for (const change of [
    { modelId: '' },
    { modelId: '  ' },
    { modelId: 'a\0b' },
    { modelId: 'a\ud83d' },
    { disabledTools: ['Ba\0sh'] },
    { channels: [{ kind: 'ma\nil', name: 'x' }] },
  ])
    await refused(await agent(change), 'INVALID_REQUEST')
  const answer = (updatedInput: unknown): Promise<Response> =>
    raw(host, '/v1/approvals/gone', { method: 'POST', body: JSON.stringify({ decision: 'allow', updatedInput }) })
  for (const updatedInput of ['text', null, [], 7]) await refused(await answer(updatedInput), 'INVALID_REQUEST')
  await refused(await answer({}), 'APPROVAL_NOT_FOUND')
})

test('waiting messages are bounded by their size, too', async () => {
  const { sessionId: id } = await furnishSession(host.client, { key: 'heavy' })
  await host.client.sessions.send(id, { text: 'wait heavy' })
  const text = 'x'.repeat(LIMITS.messageTextBytes)
  for (let sent = 0; sent < LIMITS.queueBytes / LIMITS.messageTextBytes; sent += 1)
    assert.equal((await send({ text, when: 'queue' }, id)).status, 202)
  await refused(await send({ text, when: 'queue' }, id), 'QUEUE_FULL')
})

test('what is no HTTP request is answered as everything else', async () => {
  const { port, hostname } = new URL(host.url)
  const said = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let heard = ''
      const socket = connect(Number(port), hostname, () => socket.write(text))
      socket.on('data', (piece) => (heard += String(piece)))
      socket.on('close', () => resolve(heard))
      socket.on('error', reject)
    })
  for (const text of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nhost: x\r\nbig: ${'x'.repeat(40_000)}\r\n\r\n`]) {
    const [head = '', body = ''] = (await said(text)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 400 [\s\S]*application\/problem\+json/)
    assert.equal((JSON.parse(body) as Problem).code, 'INVALID_REQUEST')
  }
})

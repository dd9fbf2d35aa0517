import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { HostInfo, Problem } from '@wheelhouse/client/protocol'
import { furnishSession, until } from '../support/daemon.ts'
import { raw, startTestHost, type TestHost } from '../support/host.ts'

let host: TestHost
before(async () => {
  host = await startTestHost()
})
after(() => host.stop())

test('the description names every route with its body', async () => {
  const document = (await (await raw(host, '/openapi.json')).json()) as {
    openapi: string
    paths: { [path: string]: { [method: string]: { requestBody?: unknown } } }
  }
  assert.match(document.openapi, /^3\./)
  for (const [path, methods] of Object.entries({
    '/v1/info': ['get'],
    '/v1/providers': ['get', 'post'],
    '/v1/providers/{id}': ['get', 'patch', 'delete'],
    '/v1/agents': ['get', 'post'],
    '/v1/sessions': ['get', 'post'],
    '/v1/sessions/{id}/messages': ['get', 'post'],
    '/v1/sessions/{id}/stop': ['post'],
    '/v1/sessions/{id}/queue/run': ['post'],
    '/v1/stream': ['get'],
    '/v1/approvals/{id}': ['post'],
  })) {
    for (const method of methods) assert.ok(document.paths[path]?.[method], `${method} ${path}`)
    if (methods.includes('post') && !path.endsWith('run')) assert.ok(document.paths[path]?.['post']?.requestBody, path)
  }
})

test('info tells version, limits and drivers; metrics are for Prometheus', async () => {
  const info = (await (await raw(host, '/v1/info')).json()) as HostInfo
  assert.equal(info.protocol, 1)
  assert.equal(info.limits['queueLength'], 100)
  assert.deepEqual(
    info.drivers.map(({ type, installed }) => [type, installed]),
    [['scripted', true]],
  )
  const { sessionId } = await furnishSession(host.client)
  await host.client.sessions.send(sessionId, { text: 'wait x' })
  await until('the turn', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
  const metrics = await (await raw(host, '/metrics')).text()
  assert.match(metrics, /^wheelhouse_sessions\{status="working"\} 1$/m)
  assert.match(metrics, /^wheelhouse_connections 1$/m)
  host.driver.release('x')
})

test('a one-time link logs a browser in, once; its cookie works for reading, and for writing from the own page alone', async () => {
  const { code } = await host.client.createLoginCode()
  const login = (given: string, origin: string | null): Promise<Response> =>
    raw(host, '/v1/login', {
      method: 'POST',
      noToken: true,
      body: JSON.stringify({ code: given }),
      headers: origin === null ? {} : { origin },
    })
  const codeOf = async (response: Response): Promise<string> => ((await response.json()) as Problem).code
  assert.equal(await codeOf(await login('wrong', host.url)), 'LOGIN_CODE_INVALID')
  assert.equal(await codeOf(await login(code, null)), 'ORIGIN_NOT_ALLOWED')
  const answer = await login(code, host.url)
  assert.equal(answer.status, 204)
  const set = answer.headers.get('set-cookie') ?? ''
  assert.match(set, /HttpOnly; SameSite=Strict/)
  assert.equal(await codeOf(await login(code, host.url)), 'LOGIN_CODE_INVALID')
  const cookie = set.split(';')[0] ?? ''
  const by = (path: string, init: RequestInit = {}): Promise<Response> =>
    raw(host, path, { ...init, noToken: true, headers: { cookie, ...(init.headers as object) } })
  assert.equal((await by('/v1/info')).status, 200)
  assert.equal(await codeOf(await by('/v1/login-codes', { method: 'POST', body: '{}' })), 'ORIGIN_NOT_ALLOWED')
  assert.equal((await by('/v1/login-codes', { method: 'POST', body: '{}', headers: { origin: host.url } })).status, 201)
  // A wrong bearer token is not made good by a cookie.
  assert.equal(await codeOf(await by('/v1/info', { headers: { authorization: 'Bearer wrong' } })), 'UNAUTHENTICATED')
  assert.equal((await by('/v1/logout', { method: 'POST', body: '{}', headers: { origin: host.url } })).status, 204)
  assert.equal(await codeOf(await by('/v1/info')), 'UNAUTHENTICATED')
})

test('a session is renamed and deleted by its rev; deleting ends its turn and tells every reader', async () => {
  const { sessionId } = await furnishSession(host.client, { key: 'delete' })
  await host.client.sessions.send(sessionId, { text: 'wait never' })
  await until('the turn', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
  const { session } = await host.client.sessions.get(sessionId)
  const renamed = await host.client.sessions.update(sessionId, { name: '  A new name  ' }, session.rev)
  assert.equal(renamed.name, 'A new name')
  const events: string[] = []
  const stream = host.client.stream({ sessions: [[sessionId, null]] })
  const reading = (async () => {
    for await (const event of stream) {
      events.push(event.type)
      if (event.type === 'snapshot') await host.client.sessions.remove(sessionId, renamed.rev)
      if (event.type === 'session-removed') break
    }
  })()
  await reading
  stream.close()
  assert.ok(events.includes('session-removed'))
  await assert.rejects(host.client.sessions.get(sessionId), /No such session/)
  await until(
    'its agent to be gone',
    () => host.host.engine.connections.size === 0 || [...host.host.engine.runtime.loaded()].every((each) => each.id !== sessionId),
  )
})

test('the stream of one session ends with the session', async () => {
  const { sessionId } = await furnishSession(host.client, { key: 'ends' })
  const response = await raw(host, `/v1/sessions/${sessionId}/stream`)
  const { session } = await host.client.sessions.get(sessionId)
  await host.client.sessions.remove(sessionId, session.rev)
  assert.match(await response.text(), /event: session-removed/)
})

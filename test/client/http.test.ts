import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, WheelhouseError } from '../../packages/client/src/index.ts'
import { json, problem, serve } from './server.ts'

/** Waits are counted, not waited. */
function clientOf(baseUrl: string) {
  const waits: number[] = []
  const client = createClient({
    baseUrl,
    token: 'secret',
    wait: (ms) => {
      waits.push(ms)
      return Promise.resolve()
    },
  })
  return { client, waits }
}

test('a POST whose answer is lost is repeated with the same Idempotency-Key', async (t) => {
  const keys: (string | undefined)[] = []
  const url = await serve(t, (request, response) => {
    keys.push(request.headers['idempotency-key'] as string | undefined)
    if (keys.length < 3) response.destroy()
    else json(response, 202, { messageId: 'm', turnId: null, disposition: 'queued', cursor: '1.1.0' })
  })
  const { client } = clientOf(url)
  const sent = await client.sessions.send('s', { text: 'hello' })
  assert.equal(sent.messageId, 'm')
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys).size, 1)
  assert.match(keys[0] ?? '', /^[0-9a-f]{32}$/)
})

test('a retryable 503 is repeated after its Retry-After, and given up after four tries', async (t) => {
  let calls = 0
  const url = await serve(t, (_request, response) => {
    calls += 1
    problem(response, 503, 'HELD', true, { 'retry-after': '1' })
  })
  const { client, waits } = clientOf(url)
  await assert.rejects(client.sessions.send('s', { text: 'hello' }), (error) => error instanceof WheelhouseError && error.code === 'HELD')
  assert.equal(calls, 4)
  assert.deepEqual(waits, [1000, 1000, 1000])
})

test('a refusal is not repeated and keeps its problem', async (t) => {
  let calls = 0
  const url = await serve(t, (_request, response) => {
    calls += 1
    problem(response, 409, 'TURN_NOT_CURRENT', false)
  })
  const { client } = clientOf(url)
  await assert.rejects(client.sessions.stop('s', { turnId: 'old' }), (error) => {
    assert.ok(error instanceof WheelhouseError)
    assert.equal(error.code, 'TURN_NOT_CURRENT')
    assert.equal(error.retryable, false)
    return true
  })
  assert.equal(calls, 1)
})

test('a DELETE that was done although its answer was lost succeeds', async (t) => {
  let calls = 0
  const url = await serve(t, (request, response) => {
    calls += 1
    assert.equal(request.headers['if-match'], '7')
    if (calls === 1) response.destroy()
    else problem(response, 404, 'AGENT_NOT_FOUND', false)
  })
  await clientOf(url).client.agents.remove('a', 7)
  assert.equal(calls, 2)
})

test('a DELETE of what never was is refused', async (t) => {
  const url = await serve(t, (_request, response) => problem(response, 404, 'AGENT_NOT_FOUND', false))
  await assert.rejects(clientOf(url).client.agents.remove('a', 7), { code: 'AGENT_NOT_FOUND' })
})

test('no host at all is a network failure after bounded tries', async () => {
  const { client, waits } = clientOf('http://127.0.0.1:1')
  await assert.rejects(client.info(), (error) => error instanceof WheelhouseError && error.failure === 'network' && error.retryable)
  assert.deepEqual(waits, [200, 800, 2000])
})

test('an answer that is not of this protocol says so', async (t) => {
  const url = await serve(t, (_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' })
    response.end('<html>')
  })
  await assert.rejects(clientOf(url).client.info(), (error) => error instanceof WheelhouseError && error.failure === 'not-wheelhouse')
})

test('an aborted call stops at once and is not repeated', async (t) => {
  let calls = 0
  const controller = new AbortController()
  const url = await serve(t, () => {
    calls += 1
    controller.abort(new Error('left the page'))
  })
  await assert.rejects(clientOf(url).client.info({ signal: controller.signal }), /left the page/)
  assert.equal(calls, 1)
})

test('the token travels as a bearer token and never in the url', async (t) => {
  const url = await serve(t, (request, response) => {
    assert.equal(request.headers.authorization, 'Bearer secret')
    assert.ok(!(request.url ?? '').includes('secret'))
    json(response, 200, { items: [], nextCursor: null })
  })
  assert.deepEqual(await clientOf(url).client.sessions.list({ limit: 5, agentId: 'a' }), { items: [], nextCursor: null })
})

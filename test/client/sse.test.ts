import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { createClient, readVector, WheelhouseError, type LineState, type StreamEvent } from '../../packages/client/src/index.ts'
import { problem, serve } from './server.ts'

const A = '01900000-0000-7000-8000-00000000000a'
const B = '01900000-0000-7000-8000-00000000000b'
const usage = (sessionId: string, rev: number): StreamEvent => ({
  type: 'context-usage',
  sessionId,
  cursor: `1.${String(rev)}.0`,
  usage: { usedTokens: rev, maxTokens: null },
})
const write = (response: ServerResponse, event: StreamEvent): void => {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
const open = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}
const tokensOf = (event: StreamEvent): string =>
  event.type === 'context-usage' ? `${event.sessionId.slice(-1)}${String(event.usage.usedTokens)}` : event.type

async function take(stream: AsyncIterable<StreamEvent>, count: number): Promise<string[]> {
  const seen: string[] = []
  for await (const event of stream) {
    seen.push(tokensOf(event))
    if (seen.length === count) return seen
  }
  return seen
}

test('a reader that is cut goes on from the cursors of what it has handed over', async (t) => {
  const asked: (Map<string, string> | null)[] = []
  const url = await serve(t, (request, response) => {
    const header = request.headers['last-event-id']
    asked.push(typeof header === 'string' ? readVector(header) : null)
    open(response)
    const rev = asked.length * 2
    write(response, usage(A, rev))
    write(response, usage(B, rev + 1))
    // Half an event, then the line breaks.
    response.write('event: context-usage\ndata: {"type":"context-us')
    setImmediate(() => response.destroy())
  })
  const stream = createClient({ baseUrl: url }).stream({
    sessions: [
      [A, null],
      [B, '1.1.0'],
    ],
    random: () => 0,
  })
  assert.deepEqual(await take(stream, 4), ['a2', 'b3', 'a4', 'b5'])
  assert.deepEqual(asked, [
    new Map([[B, '1.1.0']]),
    new Map([
      [A, '1.2.0'],
      [B, '1.3.0'],
    ]),
  ])
})

test('a ping that knows of more than was handed over makes the reader ask again, once', async (t) => {
  let connections = 0
  const url = await serve(t, (_request, response) => {
    connections += 1
    open(response)
    if (connections === 1) write(response, usage(A, 1))
    write(response, { type: 'ping', cursor: `${A}:1.3.0` })
    if (connections === 2) {
      write(response, { type: 'ping', cursor: `${A}:1.3.0` })
      write(response, usage(A, 2))
    }
  })
  const stream = createClient({ baseUrl: url }).stream({ sessions: [[A, null]] })
  assert.deepEqual(await take(stream, 2), ['a1', 'a2'])
  assert.equal(connections, 2)
})

test('watching one more session reconnects at once with the cursors so far', async (t) => {
  const asked: string[] = []
  const url = await serve(t, (request, response) => {
    asked.push(`${String(request.url)} ${String(request.headers['last-event-id'])}`)
    open(response)
    write(response, usage(asked.length === 1 ? A : B, asked.length))
  })
  const stream = createClient({ baseUrl: url }).stream({ sessions: [[A, null]] })
  const seen: string[] = []
  for await (const event of stream) {
    seen.push(tokensOf(event))
    if (seen.length === 2) break
    stream.watch(B)
  }
  assert.deepEqual(seen, ['a1', 'b2'])
  assert.deepEqual(asked, [`/v1/stream?session=${A} undefined`, `/v1/stream?session=${A}&session=${B} ${A}:1.1.0`])
})

test('a session that was given up begins again and its snapshot is handed over as a resync', async (t) => {
  let connections = 0
  const url = await serve(t, (request, response) => {
    connections += 1
    open(response)
    if (connections === 1) return write(response, usage(A, 1))
    assert.equal(request.headers['last-event-id'], undefined)
    write(response, { type: 'snapshot', sessionId: A, cursor: '1.1.0', snapshot: {} as never })
  })
  const stream = createClient({ baseUrl: url }).stream({ only: A })
  const seen: string[] = []
  for await (const event of stream) {
    seen.push(tokensOf(event))
    if (seen.length === 2) break
    stream.reload(A)
  }
  assert.deepEqual(seen, ['a1', 'resync'])
})

test('a cursor that the host cannot read is given up instead of being asked for ever', async (t) => {
  let connections = 0
  const url = await serve(t, (request, response) => {
    connections += 1
    if (request.headers['last-event-id'] !== undefined) return problem(response, 400, 'INVALID_CURSOR', false)
    open(response)
    write(response, { type: 'snapshot', sessionId: A, cursor: '1.1.0', snapshot: {} as never })
  })
  const stream = createClient({ baseUrl: url }).stream({ sessions: [[A, '1.9.9']], random: () => 0 })
  assert.deepEqual(await take(stream, 1), ['resync'])
  assert.equal(connections, 2)
})

test('a refused credential ends the stream with its problem instead of being tried for ever', async (t) => {
  let connections = 0
  const url = await serve(t, (_request, response) => {
    connections += 1
    problem(response, 401, 'UNAUTHENTICATED', false)
  })
  const states: LineState['state'][] = []
  const stream = createClient({ baseUrl: url }).stream({ onState: ({ state }) => states.push(state) })
  await assert.rejects(take(stream, 1), (error) => error instanceof WheelhouseError && error.code === 'UNAUTHENTICATED')
  assert.equal(connections, 1)
  assert.deepEqual(states, ['connecting', 'refused'])
})

test('a host that is away is asked again after growing waits until it is back', async (t) => {
  let connections = 0
  const url = await serve(t, (_request, response) => {
    connections += 1
    if (connections < 3) return problem(response, 503, 'SHUTTING_DOWN', true)
    open(response)
    write(response, usage(A, 1))
  })
  const waits: number[] = []
  const stream = createClient({ baseUrl: url }).stream({
    random: () => 0,
    onState: (line) => {
      if (line.state === 'waiting') waits.push(line.retryInMs)
    },
  })
  assert.deepEqual(await take(stream, 1), ['a1'])
  assert.deepEqual(waits, [100, 200])
})

test('close ends the iteration and the connection', async (t) => {
  let ended = (): void => undefined
  const gone = new Promise<void>((resolve) => (ended = resolve))
  const url = await serve(t, (_request, response) => {
    response.on('close', () => ended())
    open(response)
    write(response, usage(A, 1))
  })
  const stream = createClient({ baseUrl: url }).stream({})
  for await (const event of stream) {
    assert.equal(tokensOf(event), 'a1')
    stream.close()
  }
  await gone
})

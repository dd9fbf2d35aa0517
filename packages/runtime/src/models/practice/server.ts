/**
 * The practice model server: speaks the Anthropic Messages protocol on loopback and answers from a
 * script in the prompt, or freely (docs/practice-model.md). It stands in for the model alone; the
 * agents that talk to it are the real ones.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Json, JsonObject } from '@wheelhouse/client/protocol'
import { PLEASANT_DRIP_MS } from './answers.ts'
import { promptOf, whatIsAsked, type Ask } from './ask.ts'
import { DisturbanceCounter } from './faults.ts'
import { framesOf, messageOf, tokensOf, type Answer, type Frame, type StreamEvent } from './frames.ts'
import { parseJson } from './json.ts'
import { RequestLog, type RequestRecord } from './log.ts'
import { prepare } from './prepare.ts'
import { ProviderRefusal, readRequest, type ModelRequest } from './request.ts'

export type { RequestRecord } from './log.ts'

/** The models it claims to have; any other name is answered too. */
export const PRACTICE_MODELS = [{ id: 'practice', name: 'Practice model', contextWindow: 200_000 }] as const

/** Bytes of a request body: the provider's own limit. */
const BODY_BYTES = 32 * 1024 * 1024
/** Answers in progress: more than a host runs agents, few enough to bound memory. */
const OPEN_ANSWERS = 256

export type PracticeServerOptions = {
  /** 0 or none: any free port. */
  port?: number
  host?: '127.0.0.1'
  /** File that gets one JSON line per request and per end of it. */
  log?: string
  /** Keep whole request bodies in the records: for tests. */
  keepBodies?: boolean
  /** Milliseconds between the words of an answer no script made; default 25. */
  dripMs?: number
}

export type PracticeServer = {
  url: string
  port: number
  /** The newest requests, oldest first. */
  requests: readonly RequestRecord[]
  /** Lets answers go on that hold under this name, now and later. */
  release(name: string): void
  /** Ends open answers and the listener. */
  close(): Promise<void>
}

type House = {
  log: RequestLog
  counter: DisturbanceCounter
  keepBodies: boolean
  dripMs: number
  open: Set<ServerResponse>
  released: Set<string>
  holding: Set<() => void>
}

/** Starts the server; resolves when it listens. Rejects when the port is taken. */
export async function startPracticeServer(options: PracticeServerOptions = {}): Promise<PracticeServer> {
  const house: House = {
    log: new RequestLog(options.log ?? null),
    counter: new DisturbanceCounter(),
    keepBodies: options.keepBodies === true,
    dripMs: options.dripMs ?? PLEASANT_DRIP_MS,
    open: new Set(),
    released: new Set(),
    holding: new Set(),
  }
  const server = createServer((request, response) => {
    void handle(house, request, response)
  })
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: house.log.entries,
    release: (name) => release(house, name),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const response of house.open) response.destroy()
        server.closeAllConnections()
      }),
  }
}

async function handle(house: House, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://practice').pathname
  const record = house.log.open(request.method ?? 'GET', path)
  house.open.add(response)
  response.once('close', () => {
    house.open.delete(response)
    house.log.end(record, 'gone')
  })
  try {
    await route(house, request, response, record, path)
  } catch (error) {
    refuse(house, response, record, error)
  }
}

async function route(house: House, request: IncomingMessage, response: ServerResponse, record: RequestRecord, path: string): Promise<void> {
  switch (`${request.method} ${path}`) {
    case 'GET /':
    case 'HEAD /':
      return reply(house, response, record, 200, { name: 'practice model server' })
    case 'GET /v1/models':
      return reply(house, response, record, 200, modelList())
    case 'POST /practice/release':
      release(house, await readBody(request))
      return reply(house, response, record, 200, {})
    case 'POST /v1/messages/count_tokens':
      return countTokens(house, record, response, await readBody(request))
    case 'POST /v1/messages':
      return await answer(house, request, response, record, await readBody(request))
    default:
      throw new ProviderRefusal(404, 'not_found_error', `No such route: ${request.method} ${path}`)
  }
}

function modelList(): JsonObject {
  const data = PRACTICE_MODELS.map(({ id, name }) => ({ type: 'model', id, display_name: name, created_at: '2026-01-01T00:00:00Z' }))
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > BODY_BYTES) throw new ProviderRefusal(413, 'request_too_large', 'Request exceeds the maximum size')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function countTokens(house: House, record: RequestRecord, response: ServerResponse, raw: string): void {
  readRequest(raw)
  reply(house, response, record, 200, { input_tokens: tokensOf(raw) })
}

async function answer(
  house: House,
  incoming: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
  raw: string,
): Promise<void> {
  const key = keyOf(incoming)
  if (key === null) throw new ProviderRefusal(401, 'authentication_error', 'x-api-key header is required')
  if (house.open.size > OPEN_ANSWERS) throw new ProviderRefusal(529, 'overloaded_error', 'Overloaded: too many answers are open')
  const session = header(incoming, 'x-claude-code-session-id')
  note(house, record, { session, userAgent: header(incoming, 'user-agent'), ...(house.keepBodies ? { body: looseBody(raw) } : {}) }, key)
  const request = readRequest(raw)
  const ask = whatIsAsked(request)
  const prepared = prepare(request, ask, raw, { counter: house.counter, dripMs: house.dripMs, session })
  note(house, record, factsOf(request, ask, prepared), key)
  const frames = framesOf(prepared)
  if (request.stream) return await stream(house, response, record, frames)
  return await whole(house, response, record, frames)
}

/** The body for the record, when it is JSON at all. */
function looseBody(raw: string): Json {
  try {
    return parseJson(raw)
  } catch {
    // A body that is no JSON is refused with its reason right after; the record needs none.
    return null
  }
}

const note = (house: House, record: RequestRecord, facts: Partial<RequestRecord>, key: string): void => house.log.fill(record, facts, key)

function factsOf(request: ModelRequest, ask: Ask, prepared: Answer): Partial<RequestRecord> {
  const prompt = request.turns.findLast((turn) => turn.role === 'user' && promptOf(turn) !== null)
  return {
    modelId: request.modelId,
    messages: request.turns.length,
    tools: request.tools,
    prompt: prompt === undefined ? '' : (promptOf(prompt) ?? ''),
    asked: ask.kind,
    round: ask.kind === 'script' ? ask.round : null,
    messageId: `msg_practice_${prepared.unique}`,
    usage: { ...prepared.usage, outputTokens: 0 },
  }
}

function keyOf(request: IncomingMessage): string | null {
  return header(request, 'x-api-key') ?? header(request, 'authorization')?.replace(/^Bearer\s+/i, '') ?? null
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

async function stream(house: House, response: ServerResponse, record: RequestRecord, frames: Generator<Frame>): Promise<void> {
  for (const frame of frames) {
    if (response.destroyed) return
    switch (frame.kind) {
      case 'event':
        await send(response, record, frame.event)
        break
      case 'pause':
        await pause(response, frame.ms)
        break
      case 'hold':
        await held(house, response, frame.name)
        break
      case 'refuse':
        throw new ProviderRefusal(frame.status, frame.errorType, frame.message, frame.retryAfterS)
      case 'break':
        await send(response, record, { type: 'error', error: { type: frame.errorType, message: frame.message } })
        house.log.end(record, 'broken')
        response.end()
        return
      case 'cut':
        house.log.end(record, 'cut')
        await cutOff(response)
        return
      case 'hang':
        // The client ends it, by leaving.
        house.log.end(record, 'hung')
        openStream(response, record)
        return
    }
  }
  house.log.end(record, 'complete')
  response.end()
}

async function whole(house: House, response: ServerResponse, record: RequestRecord, frames: Generator<Frame>): Promise<void> {
  const events: StreamEvent[] = []
  for (const frame of frames) {
    if (frame.kind === 'event') events.push(frame.event)
    else if (frame.kind === 'pause') await pause(response, frame.ms)
    else if (frame.kind === 'hold') await held(house, response, frame.name)
    else if (frame.kind === 'refuse') throw new ProviderRefusal(frame.status, frame.errorType, frame.message, frame.retryAfterS)
    else if (frame.kind === 'break') throw new ProviderRefusal(500, frame.errorType, frame.message)
    else {
      house.log.end(record, frame.kind === 'cut' ? 'cut' : 'hung')
      if (frame.kind === 'cut') response.destroy()
      return
    }
  }
  noteOutput(record, events.at(-2))
  reply(house, response, record, 200, messageOf(events) ?? {})
}

function openStream(response: ServerResponse, record: RequestRecord): void {
  if (response.headersSent) return
  record.status = 200
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': `req_practice_${record.n}`,
  })
  response.flushHeaders()
}

async function send(response: ServerResponse, record: RequestRecord, event: StreamEvent): Promise<void> {
  openStream(response, record)
  noteOutput(record, event)
  const accepted = response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  if (!accepted && !response.destroyed)
    await new Promise<void>((resolve) => {
      response.once('drain', resolve)
      response.once('close', resolve)
    })
}

/** Breaks the connection once everything said so far has left. */
async function cutOff(response: ServerResponse): Promise<void> {
  if (response.headersSent) await new Promise((resolve) => response.write(':\n\n', resolve))
  response.destroy()
}

/** The record says what was served: the sum a usage test compares with. */
function noteOutput(record: RequestRecord, event: StreamEvent | undefined): void {
  if (event?.type !== 'message_delta' || record.usage === null) return
  record.usage = { ...record.usage, inputTokens: event.usage.input_tokens, outputTokens: event.usage.output_tokens }
}

/** Waits until the name is released, or the client leaves. */
function held(house: House, response: ServerResponse, name: string): Promise<void> {
  if (house.released.has(name)) return Promise.resolve()
  return new Promise((resolve) => {
    const look = (): void => {
      if (!house.released.has(name) && !response.destroyed) return
      house.holding.delete(look)
      resolve()
    }
    house.holding.add(look)
    response.once('close', look)
  })
}

function release(house: House, name: string): void {
  house.released.add(name)
  for (const look of house.holding) look()
}

/** Waits, or less when the client leaves. */
function pause(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    response.once('close', done)
  })
}

function reply(house: House, response: ServerResponse, record: RequestRecord, status: number, body: JsonObject): void {
  record.status = status
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_practice_${record.n}` })
  house.log.end(record, status < 400 ? 'complete' : 'refused')
  response.end(JSON.stringify(body))
}

/** Errors in the provider's own form. What is not a refusal is a fault of this server and says so. */
function refuse(house: House, response: ServerResponse, record: RequestRecord, error: unknown): void {
  if (response.destroyed) return
  const refusal = error instanceof ProviderRefusal ? error : new ProviderRefusal(500, 'api_error', `practice server: ${String(error)}`)
  if (response.headersSent) {
    house.log.end(record, 'broken')
    response.destroy()
    return
  }
  if (refusal.retryAfterS !== null) response.setHeader('retry-after', String(refusal.retryAfterS))
  // The rest of an oversized body is not read, so the connection cannot be used again.
  if (refusal.status === 413) response.setHeader('connection', 'close')
  reply(house, response, record, refusal.status, {
    type: 'error',
    error: { type: refusal.errorType, message: refusal.message },
    request_id: `req_practice_${record.n}`,
  })
}

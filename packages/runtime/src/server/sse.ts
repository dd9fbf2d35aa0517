/**
 * The stream routes (PROTOCOL, section 7). The raw response is written without chunked encoding, and
 * an event is encoded once for all its readers (decisions, Libraries).
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Host } from '../host/host.ts'
import { HostError, type StreamSink } from '../host/host-api.ts'
import { parseCursor, type Cursor } from '../host/cursor.ts'

/** Time between pings: a reader that hears nothing for 40 s may take the line for dead. */
export const PING_MS = 15_000
/** Chunk 1 of a message, by the fields that the stream manager writes before what an agent said. */
const FIRST_CHUNK = /^\{"type":"chunk","messageId":"[^"]*","n":1,/
/** Sessions one stream may name; each costs a snapshot at its beginning. */
export const NAMED_MAX = 32

export class SseSink implements StreamSink {
  lagging = false
  readonly #socket: Socket
  readonly #vector: boolean
  readonly #cursors = new Map<string, string>()
  #corked = false

  /**
   * Writes to the socket itself: a response holds its writes back until the code that runs now is
   * done, and that may be a commit. `vector`: ids are the cursors of all named sessions.
   */
  constructor(socket: Socket, vector: boolean) {
    this.#socket = socket
    this.#vector = vector
  }

  backlog(): number {
    return this.#socket.writableLength
  }

  cut(): void {
    this.#socket.destroy()
  }

  event(sessionId: string | null, cursor: string | null, type: string, data: string): void {
    let id = ''
    if (sessionId !== null && cursor !== null) {
      this.#cursors.set(sessionId, cursor)
      id = `id: ${this.#vector ? this.#position() : cursor}\n`
    }
    this.#write(`${id}event: ${type}\ndata: ${data}\n\n`, type === 'chunk' && FIRST_CHUNK.test(data))
    // A stream of one session ends with it.
    if (type === 'session-removed' && !this.#vector) setImmediate(() => this.#socket.end())
  }

  /**
   * What one turn of the event loop says goes out in one piece: a write to a socket costs more than all
   * that makes its frame. The first word of an answer takes along whatever waits.
   */
  #write(frame: string, now: boolean): void {
    if (!this.#corked && !now) {
      this.#corked = true
      this.#socket.cork()
      setImmediate(() => this.#uncork())
    }
    this.#socket.write(frame)
    if (now) this.#uncork()
  }

  #uncork(): void {
    if (!this.#corked) return
    this.#corked = false
    this.#socket.uncork()
  }

  /** The newest cursor, so that a lost last batch is noticed. */
  ping(): void {
    const cursor = this.#cursors.size === 0 ? null : this.#position()
    this.#write(`event: ping\ndata: ${JSON.stringify({ type: 'ping', cursor })}\n\n`, true)
  }

  #position(): string {
    if (!this.#vector) return [...this.#cursors.values()][0] ?? ''
    return [...this.#cursors].map(([id, cursor]) => `${id}:${cursor}`).join(',')
  }
}

/** What a client says about where it is; the header beats the parameter. Throws INVALID_CURSOR. */
export function positionsOf(lastEventId: string | undefined, parameter: string | undefined, single: string | null): Map<string, Cursor> {
  const text = lastEventId ?? parameter
  const positions = new Map<string, Cursor>()
  if (text === undefined || text === '') return positions
  if (single !== null) return positions.set(single, readCursor(text))
  for (const entry of text.split(',')) {
    const colon = entry.indexOf(':')
    if (colon < 1) throw new HostError('INVALID_CURSOR', text.slice(0, 100))
    positions.set(entry.slice(0, colon), readCursor(entry.slice(colon + 1)))
  }
  return positions
}

function readCursor(text: string): Cursor {
  const cursor = parseCursor(text)
  if (cursor === null) throw new HostError('INVALID_CURSOR', text.slice(0, 100))
  return cursor
}

export type StreamRequest = { sessions: readonly string[]; positions: ReadonlyMap<string, Cursor>; all: boolean }

/** Streams until the reader or the host goes; the answer of `open` ends it. */
export function openStream(host: Host, response: ServerResponse, request: StreamRequest): () => void {
  response.useChunkedEncodingByDefault = false
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.flushHeaders()
  const { socket } = response
  // The reader left while its request was being looked at.
  if (socket === null) return () => undefined
  const sink = new SseSink(socket, request.all)
  const { streams } = host
  const timer = setInterval(() => {
    // What waits for a reader that does not read must not grow, not even by pings.
    if (!sink.lagging) sink.ping()
  }, PING_MS)
  timer.unref()
  const close = (): void => {
    clearInterval(timer)
    streams.unsubscribe(sink)
  }
  response.on('close', close)
  response.on('error', close)
  /** A stream that cannot be told the truth (the store does not answer) is cut: its reader comes back with its cursor. */
  const orCut = (tell: () => void): void => {
    try {
      tell()
    } catch (error) {
      host.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'stream cut')
      close()
      sink.cut()
    }
  }
  socket.on('drain', () => {
    if (sink.lagging) orCut(() => streams.catchUp(sink))
  })
  orCut(() => {
    if (request.all) streams.observe(sink)
    for (const id of request.sessions) streams.subscribe(sink, id, request.positions.get(id) ?? null)
  })
  return () => {
    close()
    response.end()
  }
}

/**
 * The resumable reader of the host's stream (PROTOCOL.md, section 7). It reads through `fetch` and not
 * EventSource, which can send no headers, and works in pages, workers and Node alike.
 */
import { readVector, writeVector } from './cursor.ts'
import { refusalOf, WheelhouseError } from './error.ts'
import { createFrameParser } from './frames.ts'
import { credentials, fetchOf, urlOf, waitFor, type ClientOptions } from './http.ts'
import type { StreamEvent } from './protocol/index.ts'

/** Where the line to the host stands. `refused` is final: the host said no. */
export type LineState =
  | { state: 'connecting' | 'open' | 'closed' }
  | { state: 'waiting'; error: WheelhouseError | null; retryInMs: number }
  | { state: 'refused'; error: WheelhouseError }

/** What a stream follows; with neither `sessions` nor `only` the list of sessions alone. */
export type StreamOptions = {
  /** Sessions to follow, each with the cursor to continue from, or null to begin with a snapshot. */
  sessions?: Iterable<readonly [string, string | null]>
  /** Read the route of this one session instead: its events and nothing else. */
  only?: string
  onState?: (state: LineState) => void
  signal?: AbortSignal
  /** For tests: 0 to 1, spreads the waits of many readers. */
  random?: () => number
}

/** The host pings every 15 s; after two missed pings and some slack the line counts as dead. */
const SILENCE_MS = 40_000
/** First wait before a reconnect, doubled each time. */
const BACKOFF_MIN_MS = 200
/** The longest wait: a person who looks at a dead page should see it come back by itself. */
const BACKOFF_MAX_MS = 5_000

/**
 * An endless iterable of stream events. It reconnects by itself with the cursors of what it has
 * handed over; iterate it once. Ends after `close()` or an aborted signal; throws WheelhouseError
 * when the host refuses (401, 403, 404, ...), which is not tried again.
 */
export class EventStream implements AsyncIterable<StreamEvent> {
  readonly #client: ClientOptions
  readonly #options: StreamOptions
  readonly #cursors: Map<string, string | null>
  /** Sessions whose cursor was given up: their next snapshot is handed over as a resync. */
  readonly #givenUp = new Set<string>()
  #connection = new AbortController()
  #pause = new AbortController()
  #restart = false
  #closed = false
  /** The ping that made us reconnect; the same one again is not a new loss. */
  #missed: string | null = null

  constructor(client: ClientOptions, options: StreamOptions) {
    this.#client = client
    this.#options = options
    this.#cursors = new Map(options.sessions ?? [])
    if (options.only !== undefined && !this.#cursors.has(options.only)) this.#cursors.set(options.only, null)
    if (options.signal?.aborted === true) this.#closed = true
    options.signal?.addEventListener('abort', () => this.close(), { once: true })
  }

  /** Follows one more session, from `cursor` or from a snapshot. Reconnects. */
  watch(sessionId: string, cursor: string | null = null): void {
    if (this.#cursors.has(sessionId)) return
    this.#cursors.set(sessionId, cursor)
    this.#reconnect()
  }

  /** Follows a session no longer. What is under way for it may still come. */
  unwatch(sessionId: string): void {
    if (this.#cursors.delete(sessionId)) this.#reconnect()
  }

  /** Gives up the cursor of a session whose view has a gap; a `resync` follows. */
  reload(sessionId: string): void {
    if (!this.#cursors.has(sessionId)) return
    this.#giveUp(sessionId)
    this.#reconnect()
  }

  /** Cuts a wait short, e.g. when the machine says it is online again. */
  wake(): void {
    this.#pause.abort()
  }

  close(): void {
    this.#closed = true
    this.#connection.abort()
    this.#pause.abort()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
    let tries = 0
    try {
      while (!this.#closed) {
        this.#restart = false
        this.#connection = new AbortController()
        let trouble: WheelhouseError | null = null
        try {
          for await (const event of this.#connect(this.#connection)) {
            tries = 0
            yield event
          }
        } catch (cause) {
          trouble = this.#judge(cause)
        }
        if (!this.#restart) {
          await this.#rest(tries, trouble)
          tries += 1
        }
      }
    } finally {
      this.#connection.abort()
      if (this.#closed) this.#options.onState?.({ state: 'closed' })
    }
  }

  #reconnect(): void {
    this.#restart = true
    this.#connection.abort()
    this.#pause.abort()
  }

  #giveUp(sessionId: string): void {
    this.#cursors.set(sessionId, null)
    this.#givenUp.add(sessionId)
  }

  /** Trouble of the line is returned; an answer of the host that repeating cannot change is thrown. */
  #judge(cause: unknown): WheelhouseError | null {
    if (this.#closed || this.#restart) return null
    if (!(cause instanceof WheelhouseError)) return new WheelhouseError('The connection to the host was lost', null, 'network', cause)
    if (cause.code === 'INVALID_CURSOR' && this.#hasCursors()) {
      for (const sessionId of this.#cursors.keys()) this.#giveUp(sessionId)
      return cause
    }
    if (cause.retryable) return cause
    this.#options.onState?.({ state: 'refused', error: cause })
    throw cause
  }

  #hasCursors(): boolean {
    return [...this.#cursors.values()].some((cursor) => cursor !== null)
  }

  async #rest(tries: number, error: WheelhouseError | null): Promise<void> {
    if (this.#closed) return
    const ceiling = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(tries, 10))
    const retryInMs = Math.round(ceiling * (0.5 + 0.5 * (this.#options.random ?? Math.random)()))
    this.#options.onState?.({ state: 'waiting', error, retryInMs })
    this.#pause = new AbortController()
    await waitFor(retryInMs, this.#pause.signal)
  }

  async *#connect(connection: AbortController): AsyncGenerator<StreamEvent> {
    this.#options.onState?.({ state: 'connecting' })
    const silence = setTimeout(() => connection.abort(), SILENCE_MS)
    const response = await this.#request(connection.signal).finally(() => clearTimeout(silence))
    if (!response.ok) throw await refusalOf(response)
    if (response.body === null) throw new WheelhouseError('The stream has no body', null, 'not-wheelhouse')
    this.#options.onState?.({ state: 'open' })
    for await (const text of decoded(response.body, connection)) {
      for (const frame of text) {
        const event = this.#take(JSON.parse(frame.data) as StreamEvent)
        if (event !== null) yield event
        if (connection.signal.aborted) return
      }
    }
  }

  #request(signal: AbortSignal): Promise<Response> {
    const { only } = this.#options
    const cursor = only === undefined ? writeVector(this.#cursors) : (this.#cursors.get(only) ?? null)
    const path = only === undefined ? '/v1/stream' : `/v1/sessions/${only}/stream`
    const named = only === undefined ? [...this.#cursors.keys()].map((id) => `session=${encodeURIComponent(id)}`).join('&') : ''
    return fetchOf(this.#client)(urlOf(this.#client, path, {}) + (named === '' ? '' : `?${named}`), {
      headers: {
        accept: 'text/event-stream',
        ...credentials(this.#client),
        ...(cursor === null ? {} : { 'last-event-id': cursor }),
      },
      credentials: 'same-origin',
      cache: 'no-store',
      signal,
    })
  }

  /** Notes where the event leaves us. Pings are the reader's own. */
  #take(event: StreamEvent): StreamEvent | null {
    if (event.type === 'ping') {
      this.#checkPing(event.cursor)
      return null
    }
    if (event.type === 'session-removed') this.#cursors.delete(event.sessionId)
    else if ('cursor' in event && this.#cursors.has(event.sessionId)) this.#cursors.set(event.sessionId, event.cursor)
    if (event.type === 'snapshot' && this.#givenUp.delete(event.sessionId)) return { ...event, type: 'resync', reason: 'cursor-unknown' }
    return event
  }

  #checkPing(cursor: string | null): void {
    if (cursor === null || cursor === this.#missed) return
    const { only } = this.#options
    const newest = only === undefined ? readVector(cursor) : new Map([[only, cursor]])
    const behind = [...newest].some(([sessionId, at]) => this.#cursors.has(sessionId) && this.#cursors.get(sessionId) !== at)
    if (!behind) return
    this.#missed = cursor
    this.#reconnect()
  }
}

/** Frames of a body, a list for each piece that came; aborts the connection when nothing comes for too long. */
async function* decoded(body: ReadableStream<Uint8Array>, connection: AbortController) {
  const parse = createFrameParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE_MS)
      const piece = await reader.read().finally(() => clearTimeout(silence))
      if (piece.done) return
      yield parse(decoder.decode(piece.value, { stream: true }))
    }
  } finally {
    reader.releaseLock()
    await body.cancel().catch(() => undefined /* the body is gone already */)
  }
}

/**
 * One request to the host: credentials, Idempotency-Key, bounded repetition with the same key, and
 * refusals as `WheelhouseError` (PROTOCOL.md, sections 2 to 4).
 */
import { refusalOf, WheelhouseError } from './error.ts'

/** The part of `fetch` that is used. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>

/** Which host a client speaks to, and how. */
export type ClientOptions = {
  /** Where the host is, e.g. `http://127.0.0.1:4780`; empty in a page the host serves. */
  baseUrl: string
  /** Bearer token; without one the browser's cookie counts. */
  token?: string
  fetch?: FetchLike
  /** Waits before a repetition; replaced by tests. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Options of one call. */
export type CallOptions = {
  signal?: AbortSignal
  /** Give the key of an earlier call to repeat that call; without one a fresh key is made. */
  idempotencyKey?: string
}

/** An answer waits for one commit; 30 s without it means the line is dead. */
const REQUEST_TIMEOUT_MS = 30_000
/** Waits between tries. Four tries span about 3 s: a host that restarts is back by then, a person is not kept longer. */
const RETRY_WAITS_MS = [200, 800, 2_000] as const
/** A Retry-After above this is the caller's to wait for. */
const RETRY_AFTER_MAX_MS = 5_000
const KEY_BYTES = 16

export type Request = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: { [name: string]: string | number | undefined }
  body?: unknown
  rev?: number
}

/** A fresh Idempotency-Key. Not `randomUUID`: pages on plain http from another machine lack it. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}

/** Headers every request carries. */
export function credentials(options: ClientOptions): { [name: string]: string } {
  return options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
}

export const fetchOf = (options: ClientOptions): FetchLike => options.fetch ?? ((url, init) => fetch(url, init))

export function urlOf(options: ClientOptions, path: string, query: Request['query']): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.append(name, String(value))
  const text = search.toString()
  return options.baseUrl.replace(/\/$/, '') + path + (text === '' ? '' : `?${text}`)
}

/**
 * Sends the request until the host answers, at most four times, always with the same key. Repeated
 * are silence of the line and a 503 that says `retryable`. Resolves to the parsed body, or undefined
 * for 204.
 */
export async function call<T>(options: ClientOptions, request: Request, callOptions: CallOptions = {}): Promise<T> {
  const key = request.method === 'POST' ? (callOptions.idempotencyKey ?? newIdempotencyKey()) : null
  const wait = options.wait ?? waitFor
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attemptOnce<T>(options, request, key, callOptions.signal)
    if (outcome.ok) return outcome.value
    // A DELETE whose first answer was lost finds nothing left: that is what was asked for.
    if (attempt > 0 && request.method === 'DELETE' && outcome.error.problem?.status === 404) return undefined as T
    const pause = outcome.waitMs ?? RETRY_WAITS_MS[attempt]
    const again = outcome.repeat && attempt < RETRY_WAITS_MS.length && pause !== undefined && pause <= RETRY_AFTER_MAX_MS
    if (!again) throw outcome.error
    await wait(pause, callOptions.signal)
    callOptions.signal?.throwIfAborted()
  }
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: WheelhouseError; repeat: boolean; waitMs: number | null }

async function attemptOnce<T>(
  options: ClientOptions,
  request: Request,
  key: string | null,
  signal: AbortSignal | undefined,
): Promise<Outcome<T>> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const response = await fetchOf(options)(urlOf(options, request.path, request.query), {
      method: request.method,
      headers: headersOf(options, request, key),
      credentials: 'same-origin',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    })
    if (!response.ok) return refused(response, await refusalOf(response))
    return { ok: true, value: (response.status === 204 ? undefined : await response.json()) as T }
  } catch (cause) {
    signal?.throwIfAborted()
    const failure = timeout.aborted ? 'timeout' : 'network'
    return { ok: false, error: new WheelhouseError('The host did not answer', null, failure, cause), repeat: true, waitMs: null }
  }
}

function refused<T>(response: Response, error: WheelhouseError): Outcome<T> {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const repeat = response.status === 503 && error.problem?.retryable === true
  return { ok: false, error, repeat, waitMs: Number.isFinite(seconds) ? seconds * 1000 : null }
}

function headersOf(options: ClientOptions, request: Request, key: string | null): { [name: string]: string } {
  return {
    accept: 'application/json',
    ...credentials(options),
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === null ? {} : { 'idempotency-key': key }),
    ...(request.rev === undefined ? {} : { 'if-match': String(request.rev) }),
  }
}

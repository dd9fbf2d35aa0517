/**
 * Who may call (PROTOCOL, section 2): the Host and Origin of a request first, then its credential.
 * Everything fails closed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { HostError, type Caller } from '../host/host-api.ts'
import { writePrivate } from '../host/data-dir.ts'

/** How long a one-time link works. */
export const LOGIN_CODE_MS = 60_000
const SECRET_BYTES = 32
/** Windows that are logged in; the oldest is logged out by one more. */
const LOGINS_KEPT = 100

export type RequestFacts = {
  method: string
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
  cookie: string | undefined
}

const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
/** Compares digests, so that neither content nor length shows in the time it takes. */
const same = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)))

export class Gate {
  readonly #token: string
  readonly #names: ReadonlySet<string>
  readonly #cookieName: string
  readonly #logins: Logins
  readonly #codes = new Map<string, number>()
  readonly #now: () => number

  /** `names` are the values of Host that mean this server. `loginsFile` keeps digests only. */
  constructor(options: { token: string; port: number; names: readonly string[]; loginsFile: string; now(): number }) {
    this.#token = options.token
    this.#names = new Set(options.names.map((name) => name.toLowerCase()))
    this.#cookieName = `wheelhouse_${options.port}`
    this.#logins = new Logins(options.loginsFile)
    this.#now = () => options.now()
  }

  /** Before routing: another name for this address, or another web origin, is turned away (BUG-54). */
  checkPlace({ host, origin }: RequestFacts): void {
    if (host === undefined || !this.#names.has(host.toLowerCase())) throw new HostError('HOST_NOT_ALLOWED')
    if (origin !== undefined && !isOwn(origin, host)) throw new HostError('ORIGIN_NOT_ALLOWED')
  }

  /** The caller, or UNAUTHENTICATED. A write by cookie must say where it comes from. */
  identify(facts: RequestFacts): Caller {
    const { authorization, method, origin } = facts
    if (authorization !== undefined) {
      const token = /^Bearer (.+)$/i.exec(authorization)?.[1]
      if (token === undefined || !same(token, this.#token)) throw new HostError('UNAUTHENTICATED')
      return { name: 'owner' }
    }
    const secret = cookieOf(facts.cookie, this.#cookieName)
    if (secret === null || !this.#logins.has(digest(secret))) throw new HostError('UNAUTHENTICATED')
    if (method !== 'GET' && method !== 'HEAD' && origin === undefined) throw new HostError('ORIGIN_NOT_ALLOWED')
    return { name: 'web' }
  }

  /** A code for a one-time link. */
  issueCode(): { code: string; expiresAt: string } {
    const code = randomBytes(SECRET_BYTES).toString('base64url')
    const until = this.#now() + LOGIN_CODE_MS
    for (const [known, end] of this.#codes) if (end < this.#now()) this.#codes.delete(known)
    this.#codes.set(digest(code), until)
    return { code, expiresAt: new Date(until).toISOString() }
  }

  /** Trades a code for a cookie; a code works once. */
  login(code: string, origin: string | undefined): string {
    if (origin === undefined) throw new HostError('ORIGIN_NOT_ALLOWED')
    const until = this.#codes.get(digest(code))
    this.#codes.delete(digest(code))
    if (until === undefined || until < this.#now()) throw new HostError('LOGIN_CODE_INVALID')
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    this.#logins.add(digest(secret))
    return `${this.#cookieName}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000`
  }

  logout(cookie: string | undefined): string {
    const secret = cookieOf(cookie, this.#cookieName)
    if (secret !== null) this.#logins.remove(digest(secret))
    return `${this.#cookieName}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0`
  }
}

/** Digests of the cookies that are logged in, kept over restarts. */
class Logins {
  readonly #file: string
  #digests: string[]

  constructor(file: string) {
    this.#file = file
    this.#digests = existsSync(file) ? readDigests(file) : []
  }
  has(digestOf: string): boolean {
    return this.#digests.includes(digestOf)
  }
  add(digestOf: string): void {
    this.#save([...this.#digests, digestOf].slice(-LOGINS_KEPT))
  }
  remove(digestOf: string): void {
    this.#save(this.#digests.filter((known) => known !== digestOf))
  }
  #save(digests: string[]): void {
    this.#digests = digests
    writePrivate(this.#file, JSON.stringify(digests))
  }
}

function readDigests(file: string): string[] {
  try {
    const digests: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(digests) ? digests.filter((each) => typeof each === 'string') : []
  } catch {
    // Not written by a host: everybody logs in anew.
    return []
  }
}

const isOwn = (origin: string, host: string): boolean => origin === `http://${host}` || origin === `https://${host}`

function cookieOf(header: string | undefined, name: string): string | null {
  for (const pair of (header ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value !== undefined && value !== '') return value
  }
  return null
}

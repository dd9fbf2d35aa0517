/**
 * API keys of providers: in one file of the data directory, 0600, never in a row, a log, an argument
 * or an answer. Read once; written whole.
 */
import { existsSync, readFileSync } from 'node:fs'
import { writePrivate } from './data-dir.ts'
import { HostError } from './host-api.ts'

export class KeyStore {
  readonly #path: string
  #keys: ReadonlyMap<string, string>

  constructor(path: string) {
    this.#path = path
    this.#keys = new Map(Object.entries(existsSync(path) ? readKeys(path) : {}))
  }

  get(providerId: string): string | null {
    return this.#keys.get(providerId) ?? null
  }

  has(providerId: string): boolean {
    return this.#keys.has(providerId)
  }

  /** null forgets it. Throws STORE_FAILED, and then nothing has changed. */
  set(providerId: string, key: string | null): void {
    const keys = new Map(this.#keys)
    if (key === null) keys.delete(providerId)
    else keys.set(providerId, key)
    try {
      writePrivate(this.#path, JSON.stringify(Object.fromEntries(keys)))
    } catch (error) {
      throw new HostError('STORE_FAILED', `The key could not be written (${error instanceof Error ? error.message : String(error)}).`)
    }
    this.#keys = keys
  }
}

/** The parser's own message would quote the file, and with it a key. */
function readKeys(path: string): { [id: string]: string } {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text) as { [id: string]: string }
  } catch {
    throw new Error(`${path} is not JSON. Move it away, start again and give the providers their keys anew.`)
  }
}

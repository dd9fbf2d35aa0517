/**
 * API keys of providers: in one file of the data directory, 0600, never in a row, a log, an argument
 * or an answer. Read once; written whole.
 */
import { existsSync, readFileSync } from 'node:fs'
import { writePrivate } from './data-dir.ts'

export class KeyStore {
  readonly #path: string
  readonly #keys: Map<string, string>

  constructor(path: string) {
    this.#path = path
    const stored = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { [id: string]: string }) : {}
    this.#keys = new Map(Object.entries(stored))
  }

  get(providerId: string): string | null {
    return this.#keys.get(providerId) ?? null
  }

  has(providerId: string): boolean {
    return this.#keys.has(providerId)
  }

  /** null forgets it. */
  set(providerId: string, key: string | null): void {
    if (key === null) this.#keys.delete(providerId)
    else this.#keys.set(providerId, key)
    writePrivate(this.#path, JSON.stringify(Object.fromEntries(this.#keys)))
  }
}

/**
 * What a store can fail with outside `commit` (which returns its outcome).
 *
 * - `SCHEMA_TOO_NEW`: the data was written by a newer version; nothing was changed.
 * - `NOT_A_STORE`: the file is something else, or damaged; nothing was changed.
 * - `UNAVAILABLE`: locked by another process, disk full or unreadable; nothing was saved, the call may be repeated.
 * - `UNKNOWN`: the end of the transaction was not confirmed; read before repeating the call.
 */
export class StoreError extends Error {
  override name = 'StoreError'
  readonly code: 'SCHEMA_TOO_NEW' | 'NOT_A_STORE' | 'UNAVAILABLE' | 'UNKNOWN'

  constructor(code: StoreError['code'], message: string, options?: { cause: unknown }) {
    super(message, options)
    this.code = code
  }
}

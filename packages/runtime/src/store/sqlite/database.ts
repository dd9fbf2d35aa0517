/**
 * One SQLite connection: prepared statements, whole transactions, errors told apart. The only file
 * that names node:sqlite (decision 23).
 */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { StoreError } from '../errors.ts'

/**
 * What may be bound. A Date is missing on purpose: SQLite would store NULL without a word
 * (decision 23); times are bound as ISO 8601 text.
 */
export type Value = string | number | null
/** Values by parameter name, without the colon. */
export type Values = { [name: string]: Value }

/** A guard of a write matched no row, or a unique index had it already: the transaction must not be saved. */
export class Refused extends Error {
  override name = 'Refused'
  readonly reason: 'fence' | 'guard' | 'duplicate-key'

  constructor(reason: Refused['reason'], detail: string) {
    super(detail)
    this.reason = reason
  }
}

export type DatabaseOptions = {
  path: string
  readOnly?: boolean
  /** Nobody changes the file and no log belongs to it: it is read without a lock or side files. */
  immutable?: boolean
  /** FULL: nothing acknowledged is lost in a power cut. NORMAL: the last moments may be, the file stays whole. */
  synchronous: 'FULL' | 'NORMAL'
  /** How long a locked file is waited for, blocking the thread. */
  busyMs: number
}

/** Result codes of SQLite that the wire of this file needs (https://www.sqlite.org/rescode.html). */
const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_FULL = 13
const SQLITE_CONSTRAINT = 19
const SQLITE_MISMATCH = 20
const SQLITE_MISUSE = 21
const SQLITE_RANGE = 25
const SQLITE_NOTADB = 26
const SQLITE_CORRUPT = 11
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
const SQLITE_CONSTRAINT_UNIQUE = 2067

/** The write-ahead file is cut back to this when it is reset: one long reader must not leave a huge file for ever. */
const WAL_KEEP_BYTES = 64 * 1024 * 1024

export class Database {
  private readonly connection: DatabaseSync
  private readonly statements = new Map<string, StatementSync>()
  private inside = false

  /** Throws {@link StoreError} NOT_A_STORE or UNAVAILABLE when the file cannot be opened as a database. */
  constructor(options: DatabaseOptions) {
    this.connection = guarded(() => new DatabaseSync(locate(options), { readOnly: options.readOnly ?? false, timeout: options.busyMs }))
    try {
      guarded(() => this.setUp(options))
    } catch (error) {
      this.connection.close()
      throw error
    }
  }

  private setUp(options: DatabaseOptions): void {
    if (options.readOnly !== true) {
      this.connection.exec('pragma journal_mode = wal')
      this.connection.exec(`pragma journal_size_limit = ${WAL_KEEP_BYTES}`)
    }
    this.connection.exec(`pragma synchronous = ${options.synchronous}`)
    // The first read makes SQLite look at the header: a file of another kind shows here and not later.
    this.connection.prepare('pragma user_version').get()
  }

  /** From now on a locked file is told at once: the thread that serves everybody must not wait in a lock. */
  neverWait(): void {
    this.connection.exec('pragma busy_timeout = 0')
  }

  /** Runs a script of several statements; for migrations. */
  script(sql: string): void {
    guarded(() => this.connection.exec(sql))
  }

  /** Runs one statement and tells how many rows it changed. */
  run(sql: string, ...values: Value[] | [Values]): number {
    return guarded(() => Number(this.statement(sql).run(...bound(values)).changes))
  }

  /** The first row, or undefined. The caller names the columns it selected: SQLite knows no types to check them by. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller's claim about its own query
  get<Row>(sql: string, ...values: Value[] | [Values]): Row | undefined {
    return guarded(() => this.statement(sql).get(...bound(values)) as Row | undefined)
  }

  /** All rows, in the order of the query. */
  all<Row>(sql: string, ...values: Value[] | [Values]): Row[] {
    return guarded(() => this.statement(sql).all(...bound(values)) as Row[])
  }

  /**
   * Runs `body` as one transaction that writes, and saves all of it or nothing. What `body` throws is
   * passed on after the rollback. Throws {@link StoreError} UNAVAILABLE when the writer lock is held by
   * another process or nothing can be written, UNKNOWN when the end was not confirmed.
   * `body` is synchronous; nobody else's statement can come between.
   */
  transaction<T>(body: () => T): T {
    this.run('begin immediate')
    return this.finish(body)
  }

  /** Runs `body` over one state of the data, whatever another connection commits meanwhile. Inside a transaction it is part of that. */
  snapshot<T>(body: () => T): T {
    if (this.inside) return body()
    this.run('begin')
    return this.finish(body)
  }

  private finish<T>(body: () => T): T {
    this.inside = true
    try {
      const result = body()
      this.end()
      return result
    } finally {
      this.inside = false
      if (this.connection.isTransaction) this.run('rollback')
    }
  }

  private end(): void {
    try {
      this.statement('commit').run()
    } catch (error) {
      const code = sqliteCode(error)
      // These two leave the transaction as it was; after any other the end may have reached the disk.
      if (code !== null && (primary(code) === SQLITE_BUSY || primary(code) === SQLITE_FULL)) throw translate(error)
      throw new StoreError('UNKNOWN', messageOf(error), { cause: error })
    }
  }

  close(): void {
    this.statements.clear()
    this.connection.close()
  }

  private statement(sql: string): StatementSync {
    let statement = this.statements.get(sql)
    if (statement === undefined) this.statements.set(sql, (statement = this.connection.prepare(sql)))
    return statement
  }
}

/**
 * Holds a file for as long as this process lives, or until the lock is given back; null when another
 * process holds it, on this machine in whatever container. The system ends it with its process,
 * however that ends. Throws {@link StoreError} when the file cannot be used.
 */
export function lockFile(path: string): (() => void) | null {
  closeSync(openSync(path, 'a', 0o600))
  const connection = guarded(() => new DatabaseSync(path, { timeout: 0 }))
  try {
    connection.exec('begin exclusive')
  } catch (error) {
    connection.close()
    const known = sqliteCode(error)
    if (known !== null && primary(known) === SQLITE_BUSY) return null
    throw translate(error)
  }
  return () => connection.close()
}

function locate({ path, immutable }: DatabaseOptions): string | URL {
  if (immutable !== true) return path
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  return url
}

/** node:sqlite tells positional values from named ones by looking; its types want one of the two. */
const bound = (values: Value[] | [Values]): Value[] => values as Value[]

function guarded<T>(body: () => T): T {
  try {
    return body()
  } catch (error) {
    throw translate(error)
  }
}

/** A unique index that refuses becomes {@link Refused}, the world's failures {@link StoreError}; the rest is our bug and stays as it is. */
function translate(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === null) return error
  const detail = messageOf(error)
  if (code === SQLITE_CONSTRAINT_UNIQUE || code === SQLITE_CONSTRAINT_PRIMARYKEY) {
    return new Refused(detail.includes('.idempotency_key') ? 'duplicate-key' : 'guard', detail)
  }
  switch (primary(code)) {
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      return error
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return new StoreError('NOT_A_STORE', detail, { cause: error })
    default:
      return new StoreError('UNAVAILABLE', detail, { cause: error })
  }
}

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null
  return typeof error.errcode === 'number' ? error.errcode : null
}

/** The lowest byte is the kind of failure, the rest its detail. */
const primary = (code: number): number => code & 0xff

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * The schema's versions. Files `NNNN-name.sql` are append-only and numbered from 1 without gaps; the
 * number is the file's `user_version` after it. Data of a newer version is refused without touching
 * a byte; before older data changes a copy of the file is kept (BUG-34).
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { StoreError } from '../errors.ts'
import { Database } from './database.ts'

/** Marks the file as ours ("Whee" in ASCII), so that another program's database is not taken for an empty one. */
const APPLICATION_ID = 0x57686565

/** How long opening waits for another process to let go of the file: boot may wait, and longer means trouble. */
export const OPEN_BUSY_MS = 5_000

export type Migration = { number: number; sql: string }

/** Reads the migrations of a folder, in order. Throws when the numbers have a gap. */
export function readMigrations(directory: string): Migration[] {
  const files = readdirSync(directory)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .toSorted()
  return files.map((name, index) => {
    const number = Number(name.slice(0, 4))
    if (number !== index + 1) throw new Error(`migration ${name} should have number ${index + 1}`)
    return { number, sql: readFileSync(join(directory, name), 'utf8') }
  })
}

/**
 * Refuses what this version must not touch: throws {@link StoreError} SCHEMA_TOO_NEW or NOT_A_STORE.
 * It looks through a read-only connection, since closing a writing one may already change the file;
 * without a log, through one that leaves no trace at all.
 */
export function checkFile(path: string, newest: number): void {
  if (path === ':memory:' || isEmpty(path)) return
  const database = new Database({ path, readOnly: true, immutable: isEmpty(`${path}-wal`), synchronous: 'FULL', busyMs: OPEN_BUSY_MS })
  try {
    checkVersion(database, path, newest)
  } finally {
    database.close()
  }
}

const isEmpty = (path: string): boolean => !existsSync(path) || statSync(path).size === 0

function checkVersion(database: Database, path: string, newest: number): void {
  const version = versionOf(database)
  const ours = pragma(database, 'application_id') === APPLICATION_ID
  if (!ours && (version > 0 || hasTables(database))) throw new StoreError('NOT_A_STORE', `${path} is a database of another program`)
  if (version > newest) {
    throw new StoreError(
      'SCHEMA_TOO_NEW',
      `${path} has schema ${version}, this version knows up to ${newest}; start the newer version again, or restore a copy from before it`,
    )
  }
}

/**
 * Brings the file to the newest version, each migration in one transaction. When the file already has
 * a version, `<path>.before-<n>` holds it as it was before migration n. Killed at any point, the file
 * is at one version or the next, and opening it again goes on.
 */
export function migrate(database: Database, path: string, migrations: readonly Migration[]): void {
  const version = versionOf(database)
  const missing = migrations.slice(version)
  const first = missing[0]
  if (first === undefined) return
  if (version > 0 && path !== ':memory:') keepCopy(database, path, first.number)
  for (const migration of missing) apply(database, migration)
}

function apply(database: Database, migration: Migration): void {
  database.transaction(() => {
    // Somebody else may have migrated between our look and this lock.
    if (versionOf(database) >= migration.number) return
    database.script(migration.sql)
    database.script(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${migration.number}`)
  })
}

/** A whole copy, durable before anything changes; a half-written one from an earlier kill never has the final name. */
function keepCopy(database: Database, path: string, number: number): void {
  const copy = `${path}.before-${number}`
  const unfinished = `${copy}.tmp`
  rmSync(unfinished, { force: true })
  closeSync(openSync(unfinished, 'wx', 0o600))
  database.run('vacuum into ?', unfinished)
  sync(unfinished, 'r+')
  renameSync(unfinished, copy)
  syncDirectory(dirname(copy))
}

/** Windows syncs no directory and makes a rename durable itself. */
function syncDirectory(path: string): void {
  if (process.platform !== 'win32') sync(path, 'r')
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const versionOf = (database: Database): number => pragma(database, 'user_version')

function pragma(database: Database, name: 'user_version' | 'application_id'): number {
  return database.get<{ [column: string]: number }>(`pragma ${name}`)?.[name] ?? 0
}

const hasTables = (database: Database): boolean => database.get('select 1 from sqlite_schema limit 1') !== undefined

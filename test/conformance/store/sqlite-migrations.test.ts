/** Upgrades and roll-backs of the schema (BUG-34). */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { StoreError } from '../../../packages/runtime/src/store/errors.ts'
import { openSqliteStore, type MigrationFolders } from '../../../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../../../packages/runtime/src/store/store.ts'
import { closeTurn, contentOf, everything, givenAgent, givenSession, insertTaken, openTurn, save } from './fixtures.ts'
import { makeFolder, removeFolder } from './sqlite-targets.ts'
import { until } from '../../support/daemon.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../packages/runtime/src/store/migrations/', import.meta.url))
const CHILD = fileURLToPath(new URL('./open-store-child.ts', import.meta.url))

/** This version's schema, and one more migration after it when `next` is given. */
function schema(folder: string, name: string, next: string | null): MigrationFolders {
  const folders = { truth: join(folder, name, 'truth'), journal: join(folder, name, 'journal') }
  mkdirSync(join(folder, name))
  cpSync(join(MIGRATIONS, 'sqlite'), folders.truth, { recursive: true })
  cpSync(join(MIGRATIONS, 'sqlite-journal'), folders.journal, { recursive: true })
  const number = readdirSync(folders.truth).length + 1
  if (next !== null) writeFileSync(join(folders.truth, `${String(number).padStart(4, '0')}-next.sql`), next)
  return folders
}
const newest = readdirSync(join(MIGRATIONS, 'sqlite')).length

const NEXT = `alter table session add column color text; update session set color = 'red'; create table extra (id text primary key) strict;`
/** Takes far longer than any kill needs, and leaves the schema half done. */
const SLOW = `create table half_done (n integer) strict;
  insert into half_done with recursive c (n) as (select 1 union all select n + 1 from c where n < 400000000) select n from c;`

function fill(store: Store): void {
  givenAgent(store)
  for (let at = 1; at <= 50; at += 1) {
    const id = `s${at}`
    givenSession(store, id)
    save(store, id, [insertTaken(`i${at}`, 1, `turn-r${at}`), openTurn(`r${at}`, 2, { replyTo: `i${at}` })])
    if (at % 2 === 0) save(store, id, [closeTurn(`r${at}`)], contentOf(`r${at}`, `answer ${at}`))
  }
}
const readAll = (store: Store): unknown => [store.listAgents(), ...Array.from({ length: 50 }, (_, at) => everything(store, `s${at + 1}`))]

/** Data files by name with their digest; `-shm` is only a shared scratch of readers. */
function digests(folder: string): { [name: string]: string } {
  const names = readdirSync(folder).filter((name) => name.startsWith('wheelhouse.db') && !name.endsWith('-shm'))
  return Object.fromEntries(
    names.toSorted().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  )
}

function startChild(path: string, migrations: MigrationFolders, after: 'close' | 'stay'): ChildProcess {
  return spawn(process.execPath, [CHILD, JSON.stringify({ path, migrations, after })], { stdio: ['ignore', 'pipe', 'inherit'] })
}
const exited = (child: ChildProcess): Promise<void> => new Promise((resolve) => void child.once('exit', () => resolve()))

async function inFolder(body: (folder: string, path: string) => void | Promise<void>): Promise<void> {
  const folder = makeFolder()
  try {
    await body(folder, join(folder, 'wheelhouse.db'))
  } finally {
    removeFolder(folder)
  }
}

test('BUG-34 data of the version before migrates after a copy is kept, and nothing of it is lost', () =>
  inFolder((folder, path) => {
    const before = schema(folder, 'before', null)
    const after = schema(folder, 'after', NEXT)
    const old = openSqliteStore({ path, migrations: before })
    fill(old)
    const content = readAll(old)
    old.close()

    const migrated = openSqliteStore({ path, migrations: after })
    assert.deepEqual(readAll(migrated), content)
    save(migrated, 's1', [closeTurn('r1')], contentOf('r1', 'after the upgrade'))
    migrated.close()
    const raw = new DatabaseSync(path, { readOnly: true })
    assert.equal(raw.prepare(`select count(*) as n from session where color = 'red'`).get()?.['n'], 50)
    raw.close()

    const copy = openSqliteStore({ path: `${path}.before-${newest + 1}`, migrations: before })
    assert.deepEqual(readAll(copy), content, 'the copy is the data as it was')
    copy.close()
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    )
  }))

test('a file without data gets its schema without a copy', () =>
  inFolder((folder, path) => {
    openSqliteStore({ path, migrations: schema(folder, 'one', NEXT) }).close()
    openSqliteStore({ path, migrations: schema(folder, 'two', NEXT) }).close()
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('before-')),
      [],
    )
  }))

test('BUG-34 data of a later version is refused with a clear text and untouched bytes', () =>
  inFolder((folder, path) => {
    const now = schema(folder, 'now', null)
    const later = openSqliteStore({ path, migrations: schema(folder, 'later', NEXT) })
    fill(later)
    later.close()
    const before = digests(folder)
    assert.throws(
      () => openSqliteStore({ path, migrations: now }),
      (error) =>
        error instanceof StoreError &&
        error.code === 'SCHEMA_TOO_NEW' &&
        error.message.includes(`has schema ${newest + 1}, this version knows up to ${newest}`),
    )
    assert.deepEqual(digests(folder), before)
  }))

test('BUG-34 a later version that was killed is refused untouched, its unfinished log included', () =>
  inFolder(async (folder, path) => {
    const now = schema(folder, 'now', null)
    const child = startChild(path, schema(folder, 'later', NEXT), 'stay')
    const gone = exited(child)
    await new Promise((resolve) => void child.stdout?.once('data', resolve))
    child.kill('SIGKILL')
    await gone
    assert.ok(existsSync(`${path}-wal`), 'its log was not folded into the file')
    const before = digests(folder)
    assert.throws(() => openSqliteStore({ path, migrations: now }), { code: 'SCHEMA_TOO_NEW' })
    assert.deepEqual(digests(folder), before)
  }))

test('BUG-34 a migration killed in the middle leaves the old data, and the next start migrates it', () =>
  inFolder(async (folder, path) => {
    const before = schema(folder, 'before', null)
    const old = openSqliteStore({ path, migrations: before })
    fill(old)
    const content = readAll(old)
    old.close()

    const child = startChild(path, schema(folder, 'slow', SLOW), 'close')
    const gone = exited(child)
    // The copy has its name only when it is whole; from then on the migration itself runs.
    await until('the copy', () => existsSync(`${path}.before-${newest + 1}`))
    await until('the migration to be under way', () => existsSync(`${path}-wal`))
    child.kill('SIGKILL')
    await gone

    const same = openSqliteStore({ path, migrations: before })
    assert.deepEqual(readAll(same), content)
    same.close()
    writeFileSync(`${path}.before-${newest + 1}.tmp`, 'half a copy of a kill before that')
    const migrated = openSqliteStore({ path, migrations: schema(folder, 'after', NEXT) })
    assert.deepEqual(readAll(migrated), content)
    migrated.close()
    const raw = new DatabaseSync(path, { readOnly: true })
    assert.equal(raw.prepare(`select count(*) as n from sqlite_schema where name = 'half_done'`).get()?.['n'], 0)
    raw.close()
  }))

test('a migration that fails changes nothing', () =>
  inFolder((folder, path) => {
    const before = schema(folder, 'before', null)
    const old = openSqliteStore({ path, migrations: before })
    fill(old)
    const content = readAll(old)
    old.close()
    assert.throws(
      () => openSqliteStore({ path, migrations: schema(folder, 'wrong', `${NEXT} select nonsense from nowhere;`) }),
      /no such table/,
    )
    const same = openSqliteStore({ path, migrations: before })
    assert.deepEqual(readAll(same), content)
    same.close()
  }))

test('migrations with a gap in their numbers are a mistake', () =>
  inFolder((folder, path) => {
    const folders = schema(folder, 'gap', null)
    writeFileSync(join(folders.truth, '0009-late.sql'), NEXT)
    assert.throws(() => openSqliteStore({ path, migrations: folders }), /0009-late.sql should have number/)
    assert.equal(existsSync(path), false)
  }))

test("another program's database, or no database at all, is refused untouched", () =>
  inFolder((folder, path) => {
    const raw = new DatabaseSync(path)
    raw.exec('create table theirs (a)')
    raw.close()
    const theirs = digests(folder)
    assert.throws(() => openSqliteStore({ path }), { code: 'NOT_A_STORE' })
    assert.deepEqual(digests(folder), theirs)
    writeFileSync(path, 'this is a letter, which is longer than the hundred bytes of a header so that it is looked at. '.repeat(20))
    const letter = digests(folder)
    assert.throws(() => openSqliteStore({ path }), { code: 'NOT_A_STORE' })
    assert.deepEqual(digests(folder), letter)
  }))

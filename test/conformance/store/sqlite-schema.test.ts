/** What the file itself refuses, whoever writes it, and that the looks at start cost what is owed. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { OWING } from '../../../packages/runtime/src/store/sqlite/load.ts'
import { openSqliteStore } from '../../../packages/runtime/src/store/sqlite/open.ts'
import { givenAgent, givenSession, insertInput, openTurn, save } from './fixtures.ts'
import { makeFolder, removeFolder } from './sqlite-targets.ts'

/** A file with one session, opened by other means than the store. */
function withFile(body: (raw: DatabaseSync, path: string) => void): void {
  const folder = makeFolder()
  const path = join(folder, 'data', 'wheelhouse.db')
  const store = openSqliteStore({ path })
  givenAgent(store)
  givenSession(store, 's1')
  save(store, 's1', [openTurn('r1', 1), insertInput('i1', { idempotencyKey: 'k1' })])
  store.close()
  const raw = new DatabaseSync(path)
  try {
    body(raw, path)
  } finally {
    raw.close()
    removeFolder(folder)
  }
}

const INSERT = `insert into message (id, session_id, rev, role, origin, headless, parts, created_at, updated_at`

test('the schema binds delivering to a turn reference, in both directions', () =>
  withFile((raw) => {
    const insert = (id: string, status: string, ref: string | null): void =>
      void raw
        .prepare(
          `${INSERT}, delivery, delivery_status, delivery_turn_ref) values (?, 's1', 0, 'user', 'delivery', 1, '[]', 'x', 'x', '{}', ?, ?)`,
        )
        .run(id, status, ref)
    assert.throws(() => insert('d1', 'delivering', null), /CHECK constraint failed/)
    for (const status of ['accepted', 'consumed', 'failed']) assert.throws(() => insert('d1', status, 'r1'), /CHECK constraint failed/)
    insert('d1', 'accepted', null)
    assert.throws(() => raw.exec(`update message set delivery_status = 'delivering' where id = 'd1'`), /CHECK constraint failed/)
    raw.exec(`update message set delivery_status = 'delivering', delivery_turn_ref = 'r1' where id = 'd1'`)
    assert.throws(() => raw.exec(`update message set delivery_status = 'consumed' where id = 'd1'`), /CHECK constraint failed/)
  }))

test('the schema allows one result a request and any number of requests', () =>
  withFile((raw) => {
    const insert = (id: string, inReplyTo: string | null): void =>
      void raw
        .prepare(
          `${INSERT}, delivery, delivery_status, delivery_in_reply_to) values (?, 's1', 0, 'user', 'delivery', 1, '[]', 'x', 'x', '{}', 'accepted', ?)`,
        )
        .run(id, inReplyTo)
    insert('d1', null)
    insert('d2', null)
    insert('x1', 'd1')
    assert.throws(() => insert('x2', 'd1'), /UNIQUE constraint failed/)
  }))

test('the schema allows one pending row that is not deferred and one that is', () =>
  withFile((raw) => {
    const insert = (id: string, seq: number, deferred: number): void =>
      void raw
        .prepare(
          `${INSERT}, seq, status, kind, turn_id, deferred) values (?, 's1', 2, 'assistant', 'interactive', 0, '[]', 'x', 'x', ?, 'pending', 'user', 't', ?)`,
        )
        .run(id, seq, deferred)
    assert.throws(() => insert('r2', 2, 0), /UNIQUE constraint failed/)
    insert('r3', 3, 1)
    assert.throws(() => insert('r4', 4, 1), /UNIQUE constraint failed/)
  }))

test('the schema keeps a place in the transcript for taken inputs and a place in the queue for those that wait', () =>
  withFile((raw) => {
    assert.throws(() => raw.exec(`update message set seq = 9 where id = 'i1'`), /CHECK constraint failed/)
    assert.throws(() => raw.exec(`update message set input_state = 'taken' where id = 'i1'`), /CHECK constraint failed/)
    assert.throws(() => raw.exec(`update message set queue_pos = null where id = 'i1'`), /CHECK constraint failed/)
    assert.throws(() => raw.exec(`update message set seq = null where id = 'r1'`), /CHECK constraint failed/)
  }))

test('a value of the wrong type, as a bound Date would become, is refused by the tables', () =>
  withFile((raw) => {
    assert.throws(() => raw.exec(`update message set created_at = null where id = 'i1'`), /NOT NULL constraint failed/)
    assert.throws(() => raw.exec(`update message set seq = 'one' where id = 'r1'`), /cannot store TEXT value in INTEGER column/)
  }))

test('usage is recorded once a request, with unknown apart from nothing', () => {
  const folder = makeFolder()
  const path = join(folder, 'wheelhouse.db')
  const store = openSqliteStore({ path })
  givenAgent(store)
  givenSession(store, 's1')
  const usage = {
    requestId: 'q1',
    modelId: 'm1',
    inputTokens: 3,
    outputTokens: 0,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    ttftMs: 1.5,
    durationMs: null,
  }
  save(store, 's1', [
    openTurn('r1', 1),
    { type: 'record-usage', messageId: 'r1', usage },
    { type: 'record-usage', messageId: 'r1', usage: { ...usage, outputTokens: 99 } },
  ])
  store.close()
  const raw = new DatabaseSync(path, { readOnly: true })
  const rows = raw.prepare('select request_id, message_id, input_tokens, output_tokens, cache_read_tokens, ttft_ms from usage_record').all()
  raw.close()
  removeFolder(folder)
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [['q1', 'r1', 3, 0, null, 1.5]],
  )
})

test('who owes something is found without reading the history', () =>
  withFile((raw) => {
    const plan = raw.prepare(`explain query plan ${OWING}`).all()
    const steps = plan.map((row) => String(row['detail'])).filter((detail) => /^(SCAN|SEARCH) (message|approval)/.test(detail))
    assert.equal(steps.length, 4)
    for (const step of steps)
      assert.match(step, /USING (COVERING )?INDEX (message_pending|message_untaken|message_delivery_status|approval_pending)/)
  }))

test('the files and their folder are for this user alone', { skip: process.platform === 'win32' }, () =>
  withFile((_raw, path) => {
    for (const file of [path, `${path}-chunks`]) assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  }),
)

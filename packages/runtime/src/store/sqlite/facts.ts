/** The host's own facts: the stream epoch, answers of POSTs without a row, and its processes. */
import type { LedgerEntry, Store } from '../store.ts'
import type { Database } from './database.ts'

export function nextStreamEpoch(database: Database): number {
  const row = database.transaction(() =>
    database.get<{ epoch: number }>(
      `insert into host_fact (name, value) values ('stream-epoch', '1')
       on conflict (name) do update set value = cast(cast(value as integer) + 1 as text)
       returning cast(value as integer) as epoch`,
    ),
  )
  if (row === undefined) throw new Error('upsert returned no row')
  return row.epoch
}

export function recallAnswer(database: Database, key: string): ReturnType<Store['recallAnswer']> {
  const row = database.get<{ bodyHash: string; status: number; body: string }>(
    'select body_hash as bodyHash, status, body from answer where key = ?',
    key,
  )
  return row === undefined ? null : { ...row }
}

/** The first answer stays: a repeated request must get what the first one got. */
export function rememberAnswer(database: Database, key: string, answer: Parameters<Store['rememberAnswer']>[1], at: string): void {
  database.run(
    'insert into answer (key, body_hash, status, body, at) values (:key, :bodyHash, :status, :body, :at) on conflict (key) do nothing',
    { key, bodyHash: answer.bodyHash, status: answer.status, body: answer.body, at },
  )
}

export function forgetAnswers(database: Database, before: string): void {
  database.run('delete from answer where at < ?', before)
}

/** A pid with its start time is one process; naming it again changes what is known of it. */
export function addProcess(database: Database, entry: LedgerEntry): void {
  database.run(
    `insert into process_ledger (pid, start_time, session_id, marker, at) values (:pid, :startTime, :sessionId, :marker, :at)
     on conflict (pid, start_time) do update set session_id = excluded.session_id, marker = excluded.marker, at = excluded.at`,
    { ...entry },
  )
}

export function removeProcess(database: Database, pid: number, startTime: string): void {
  database.run('delete from process_ledger where pid = ? and start_time = ?', pid, startTime)
}

export function listProcesses(database: Database): LedgerEntry[] {
  return database
    .all<LedgerEntry>('select pid, start_time as startTime, session_id as sessionId, marker, at from process_ledger order by at, pid')
    .map((row) => ({ ...row }))
}

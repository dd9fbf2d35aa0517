/** Sessions as lists and clients see them; the core's own view is in load.ts. */
import type { Message } from '@wheelhouse/client/protocol'
import type { InsertResult, NewSession, SessionHead, SessionRecord, Store } from '../store.ts'
import type { Database } from './database.ts'
import { UNTAKEN } from './rows.ts'

type SessionColumns = Omit<SessionRecord, 'working' | 'stopping' | 'lastStatus'> & {
  working: number
  stopping: number
  lastStatus: Message['status']
}

/** One look into a small partial index for each number: 10,000 quiet sessions cost 10,000 misses and read no row. */
const RECORD = `select s.id, s.rev, s.agent_id as agentId, s.name, s.description, s.workspace_kind as workspaceKind, s.workspace_path as workspacePath,
  s.phase, s.quarantine_reason as quarantineReason,
  (select count(*) from message where session_id = s.id and ${UNTAKEN} and input_state in ('queued', 'steering', 'offered')) as queued,
  (select count(*) from message where session_id = s.id and ${UNTAKEN} and input_state = 'held') as held,
  (select count(*) from message where session_id = s.id and ${UNTAKEN} and input_state = 'unknown') as unknown,
  (select count(*) from approval where session_id = s.id and status = 'pending') as pendingApprovals,
  exists (select 1 from message where session_id = s.id and status = 'pending') as working,
  exists (select 1 from message where session_id = s.id and status = 'pending' and stop_requested_at is not null) as stopping,
  (select status from message where session_id = s.id and seq is not null and role = 'assistant' order by seq desc limit 1) as lastStatus,
  s.last_text as lastText, s.created_at as createdAt, s.updated_at as updatedAt
  from session s`

const toRecord = (row: SessionColumns): SessionRecord => ({ ...row, working: row.working === 1, stopping: row.stopping === 1 })

export function readSession(database: Database, id: string): SessionRecord | null {
  const row = database.get<SessionColumns>(`${RECORD} where s.id = ?`, id)
  return row === undefined ? null : toRecord(row)
}

export function readSessionHead(database: Database, id: string): SessionHead | null {
  const row = database.get<SessionHead>(
    'select id, agent_id as agentId, workspace_kind as workspaceKind, workspace_path as workspacePath from session where id = ?',
    id,
  )
  return row === undefined ? null : { ...row }
}

/** Newest first by the order they were made in. A page goes on where it was even when the last session seen is gone. */
export function listSessions(database: Database, page: Parameters<Store['listSessions']>[0]): SessionRecord[] {
  const before =
    page.before === null
      ? null
      : database.get<{ no: number | null }>(
          `select coalesce((select no from session where id = :id), (select max(no) + 1 from session where id < :id), 0) as no`,
          { id: page.before },
        )
  const filter = page.agentId === null ? '' : 'and s.agent_id = :agentId'
  const values = {
    limit: page.limit,
    before: before?.no ?? Number.MAX_SAFE_INTEGER,
    ...(page.agentId === null ? {} : { agentId: page.agentId }),
  }
  return database.all<SessionColumns>(`${RECORD} where s.no < :before ${filter} order by s.no desc limit :limit`, values).map(toRecord)
}

export function insertSession(database: Database, session: NewSession): InsertResult<SessionRecord> {
  return database.transaction(() => {
    const used = keyed(database, session.idempotencyKey)
    if (used !== undefined) return { outcome: 'existing', item: must(database, used.id), sameBody: used.bodyHash === session.bodyHash }
    database.run(
      `insert into session (id, rev, agent_id, name, description, workspace_kind, workspace_path, idempotency_key, body_hash, created_at, updated_at)
       values (:id, 1, :agentId, :name, :description, :workspaceKind, :workspacePath, :idempotencyKey, :bodyHash, :at, :at)`,
      { ...session },
    )
    return { outcome: 'done', item: must(database, session.id) }
  })
}

const keyed = (database: Database, key: string | null): { id: string; bodyHash: string | null } | undefined =>
  key === null ? undefined : database.get('select id, body_hash as bodyHash from session where idempotency_key = ?', key)

export function sessionsOfAgent(database: Database, agentId: string): string[] {
  return database.all<{ id: string }>('select id from session where agent_id = ? order by no', agentId).map((row) => row.id)
}

function must(database: Database, id: string): SessionRecord {
  const record = readSession(database, id)
  if (record === null) throw new Error(`session ${id} is missing inside its own transaction`)
  return record
}

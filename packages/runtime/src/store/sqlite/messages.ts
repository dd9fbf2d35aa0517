/** Reads of rows, queue entries and approvals. Order is the server's: seq, queue position or arrival (decision 27). */
import type { Approval, Message } from '@wheelhouse/client/protocol'
import type { Changes, Store } from '../store.ts'
import type { Database } from './database.ts'
import { APPROVAL_COLUMNS, MESSAGE_COLUMNS, UNTAKEN, toApproval, toMessage, type ApprovalRow, type MessageRow } from './rows.ts'

export function readMessage(database: Database, id: string): Message | null {
  const row = database.get<MessageRow>(`select ${MESSAGE_COLUMNS} from message where id = ?`, id)
  return row === undefined ? null : toMessage(row)
}

export function findByKey(database: Database, sessionId: string, key: string): ReturnType<Store['findByKey']> {
  const row = database.get<MessageRow>(
    `select ${MESSAGE_COLUMNS} from message where session_id = ? and idempotency_key = ?`,
    sessionId,
    key,
  )
  return row === undefined ? null : { message: toMessage(row), bodyHash: row.body_hash }
}

export function listMessages(database: Database, sessionId: string, page: { limit: number; before: number | null }): Message[] {
  const rows = database.all<MessageRow>(
    `select ${MESSAGE_COLUMNS} from message where session_id = ? and seq is not null and seq < ? order by seq desc limit ?`,
    sessionId,
    page.before ?? Number.MAX_SAFE_INTEGER,
    page.limit,
  )
  return rows.toReversed().map(toMessage)
}

export function listQueue(database: Database, sessionId: string): Message[] {
  return database
    .all<MessageRow>(`select ${MESSAGE_COLUMNS} from message where session_id = ? and ${UNTAKEN} order by queue_pos`, sessionId)
    .map(toMessage)
}

export function listUsage(database: Database, sessionId: string, messageId: string): ReturnType<Store['listUsage']> {
  const rows = database.all<ReturnType<Store['listUsage']>[number]>(
    `select request_id as requestId, model_id as modelId, input_tokens as inputTokens, output_tokens as outputTokens,
       cache_read_tokens as cacheReadTokens, cache_write_tokens as cacheWriteTokens, ttft_ms as ttftMs, duration_ms as durationMs, at
     from usage_record where session_id = ? and message_id = ? order by no`,
    sessionId,
    messageId,
  )
  return rows.map((row) => ({ ...row }))
}

export function readApproval(database: Database, id: string): Approval | null {
  const row = database.get<ApprovalRow>(`select ${APPROVAL_COLUMNS} from approval where id = ?`, id)
  return row === undefined ? null : toApproval(row)
}

/** `+no` makes SQLite start from the few that are pending and not from the first ever asked. */
export function listApprovals(
  database: Database,
  { sessionId, status }: Parameters<Store['listApprovals']>[0],
  page: { after: number; limit: number } = { after: 0, limit: -1 },
): Approval[] {
  const conditions = [sessionId === null ? [] : 'session_id = ?', status === null ? [] : `status = 'pending'`, 'no > ?'].flat()
  const sql = `select ${APPROVAL_COLUMNS} from approval where ${conditions.join(' and ')} order by ${status === null ? 'no' : '+no'} limit ?`
  return database.all<ApprovalRow>(sql, ...(sessionId === null ? [] : [sessionId]), page.after, page.limit).map(toApproval)
}

/** Rows another session put into the inbox stand at rev 0 and are seen only once their owner touched them. */
export function changesSince(database: Database, sessionId: string, rev: number): Changes {
  return database.snapshot(() => ({
    rev: revOf(database, sessionId) ?? 0,
    messages: database
      .all<MessageRow>(`select ${MESSAGE_COLUMNS} from message where session_id = ? and rev > ? order by no`, sessionId, Math.max(rev, 0))
      .map(toMessage),
    approvals: database
      .all<ApprovalRow>(`select ${APPROVAL_COLUMNS} from approval where session_id = ? and rev > ? order by no`, sessionId, rev)
      .map(toApproval),
    removed: database
      .all<{ message_id: string }>(
        'select message_id from tombstone where session_id = ? and rev > ? order by rev, message_id',
        sessionId,
        rev,
      )
      .map((row) => row.message_id),
  }))
}

export function hasMoreSince(database: Database, sessionId: string, rev: number, most: number): boolean {
  const past = (table: 'message' | 'approval'): boolean =>
    database.get(`select 1 from ${table} where session_id = ? and rev > ? limit 1 offset ?`, sessionId, rev, most) !== undefined
  return past('message') || past('approval')
}

export function revOf(database: Database, sessionId: string): number | null {
  return database.get<{ rev: number }>('select rev from session where id = ?', sessionId)?.rev ?? null
}

/** Providers. Their keys are in no row (see `ProviderRecord`). */
import type { GuardedResult, InsertResult, NewProvider, ProviderRecord } from '../store.ts'
import type { Database } from './database.ts'
import { fromJson, toJson } from './rows.ts'

type ProviderColumns = Omit<ProviderRecord, 'models'> & { models: string }

const RECORD = `select id, rev, name, protocol, base_url as baseUrl, models, created_at as createdAt, updated_at as updatedAt from provider`

const toRecord = (row: ProviderColumns): ProviderRecord => ({ ...row, models: fromJson<ProviderRecord['models']>(row.models) })

export function readProvider(database: Database, id: string): ProviderRecord | null {
  const row = database.get<ProviderColumns>(`${RECORD} where id = ?`, id)
  return row === undefined ? null : toRecord(row)
}

export function listProviders(database: Database): ProviderRecord[] {
  return database.all<ProviderColumns>(`${RECORD} order by no`).map(toRecord)
}

export function insertProvider(database: Database, provider: NewProvider): InsertResult<ProviderRecord> {
  return database.transaction(() => {
    const used = keyed(database, provider.idempotencyKey)
    if (used !== undefined) return { outcome: 'existing', item: must(database, used.id), sameBody: used.bodyHash === provider.bodyHash }
    database.run(
      `insert into provider (id, rev, name, protocol, base_url, models, idempotency_key, body_hash, created_at, updated_at)
       values (:id, 1, :name, :protocol, :baseUrl, :models, :idempotencyKey, :bodyHash, :at, :at)`,
      { ...provider, models: toJson(provider.models) },
    )
    return { outcome: 'done', item: must(database, provider.id) }
  })
}

const keyed = (database: Database, key: string | null): { id: string; bodyHash: string | null } | undefined =>
  key === null ? undefined : database.get('select id, body_hash as bodyHash from provider where idempotency_key = ?', key)

export function updateProvider(
  database: Database,
  id: string,
  rev: number,
  change: Partial<Pick<ProviderRecord, 'name' | 'protocol' | 'baseUrl' | 'models'>>,
  at: string,
): GuardedResult<ProviderRecord> {
  return database.transaction(() => {
    const record = readProvider(database, id)
    if (record === null) return { outcome: 'missing' }
    if (record.rev !== rev) return { outcome: 'stale', rev: record.rev }
    const next = { ...record, ...change }
    database.run(
      `update provider set name = :name, protocol = :protocol, base_url = :baseUrl, models = :models, rev = rev + 1, updated_at = :at where id = :id`,
      { id, name: next.name, protocol: next.protocol, baseUrl: next.baseUrl, models: toJson(next.models), at },
    )
    return { outcome: 'done', item: must(database, id) }
  })
}

/** In use as long as an agent names it. */
export function deleteProvider(database: Database, id: string, rev: number): GuardedResult<ProviderRecord> {
  return database.transaction(() => {
    const record = readProvider(database, id)
    if (record === null) return { outcome: 'missing' }
    if (record.rev !== rev) return { outcome: 'stale', rev: record.rev }
    const user = database.get<{ id: string }>('select id from agent where provider_id = ? order by no limit 1', id)
    if (user !== undefined) return { outcome: 'in-use', by: user.id }
    database.run('delete from provider where id = ?', id)
    return { outcome: 'done', item: record }
  })
}

function must(database: Database, id: string): ProviderRecord {
  const record = readProvider(database, id)
  if (record === null) throw new Error(`provider ${id} is missing inside its own transaction`)
  return record
}

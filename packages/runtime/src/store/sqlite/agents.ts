/** Agents. */
import type { Agent } from '@wheelhouse/client/protocol'
import type { GuardedResult, InsertResult, NewAgent } from '../store.ts'
import type { Database, Values } from './database.ts'
import { fromJson, toJson } from './rows.ts'

/** Fields that are lists, kept as JSON text. */
type ListField = 'disabledTools' | 'mcpServerIds' | 'skillIds' | 'channels'
type AgentColumns = Omit<Agent, ListField> & { [Field in ListField]: string }
/** What a client may set. */
type AgentFields = Omit<Agent, 'id' | 'rev' | 'createdAt' | 'updatedAt'>

const RECORD = `select id, rev, name, type, provider_id as providerId, model_id as modelId, instructions, permission_mode as permissionMode,
  disabled_tools as disabledTools, mcp_server_ids as mcpServerIds, skill_ids as skillIds, channels, language, created_at as createdAt,
  updated_at as updatedAt from agent`

const toAgent = (row: AgentColumns): Agent => ({
  ...row,
  disabledTools: fromJson<string[]>(row.disabledTools),
  mcpServerIds: fromJson<string[]>(row.mcpServerIds),
  skillIds: fromJson<string[]>(row.skillIds),
  channels: fromJson<Agent['channels']>(row.channels),
})

const toColumns = (agent: AgentFields): Values => ({
  name: agent.name,
  type: agent.type,
  providerId: agent.providerId,
  modelId: agent.modelId,
  instructions: agent.instructions,
  permissionMode: agent.permissionMode,
  disabledTools: toJson(agent.disabledTools),
  mcpServerIds: toJson(agent.mcpServerIds),
  skillIds: toJson(agent.skillIds),
  channels: toJson(agent.channels),
  language: agent.language,
})

export function readAgent(database: Database, id: string): Agent | null {
  const row = database.get<AgentColumns>(`${RECORD} where id = ?`, id)
  return row === undefined ? null : toAgent(row)
}

export function listAgents(database: Database): Agent[] {
  return database.all<AgentColumns>(`${RECORD} order by no`).map(toAgent)
}

export function insertAgent(database: Database, agent: NewAgent): InsertResult<Agent> {
  return database.transaction(() => {
    const used = keyed(database, agent.idempotencyKey)
    if (used !== undefined) return { outcome: 'existing', item: must(database, used.id), sameBody: used.bodyHash === agent.bodyHash }
    database.run(
      `insert into agent (id, rev, name, type, provider_id, model_id, instructions, permission_mode, disabled_tools, mcp_server_ids, skill_ids,
         channels, language, idempotency_key, body_hash, created_at, updated_at)
       values (:id, 1, :name, :type, :providerId, :modelId, :instructions, :permissionMode, :disabledTools, :mcpServerIds, :skillIds,
         :channels, :language, :idempotencyKey, :bodyHash, :at, :at)`,
      { ...toColumns(agent), id: agent.id, idempotencyKey: agent.idempotencyKey, bodyHash: agent.bodyHash, at: agent.at },
    )
    return { outcome: 'done', item: must(database, agent.id) }
  })
}

const keyed = (database: Database, key: string | null): { id: string; bodyHash: string | null } | undefined =>
  key === null ? undefined : database.get('select id, body_hash as bodyHash from agent where idempotency_key = ?', key)

export function updateAgent(database: Database, id: string, rev: number, change: Partial<AgentFields>, at: string): GuardedResult<Agent> {
  return database.transaction(() => {
    const agent = readAgent(database, id)
    if (agent === null) return { outcome: 'missing' }
    if (agent.rev !== rev) return { outcome: 'stale', rev: agent.rev }
    database.run(
      `update agent set name = :name, type = :type, provider_id = :providerId, model_id = :modelId, instructions = :instructions,
         permission_mode = :permissionMode, disabled_tools = :disabledTools, mcp_server_ids = :mcpServerIds, skill_ids = :skillIds,
         channels = :channels, language = :language, rev = rev + 1, updated_at = :at
       where id = :id`,
      { ...toColumns({ ...agent, ...change }), id, at },
    )
    return { outcome: 'done', item: must(database, id) }
  })
}

/** Its sessions stay, without an agent (PROTOCOL, Routes). */
export function deleteAgent(database: Database, id: string, rev: number): GuardedResult<Agent> {
  return database.transaction(() => {
    const agent = readAgent(database, id)
    if (agent === null) return { outcome: 'missing' }
    if (agent.rev !== rev) return { outcome: 'stale', rev: agent.rev }
    // No fact of the session's owner: its state does not hold the agent, so its rev stays.
    database.run('update session set agent_id = null where agent_id = ?', id)
    database.run('delete from agent where id = ?', id)
    return { outcome: 'done', item: agent }
  })
}

function must(database: Database, id: string): Agent {
  const agent = readAgent(database, id)
  if (agent === null) throw new Error(`agent ${id} is missing inside its own transaction`)
  return agent
}

/** Bodies that clients send. The host validates them again; see its OpenAPI document. */
import type { MessagePart } from './chunks.ts'
import type { Agent, AgentType, JsonObject, PermissionMode, ProviderProtocol } from './index.ts'

/** A model as given by a client; omitted fields become null. */
export type ModelInput = {
  id: string
  name?: string
  contextWindow?: number
  pricing?: { input: number; output: number; cacheRead?: number; cacheWrite?: number }
}
export type ProviderInput = { name: string; protocol: ProviderProtocol; baseUrl: string; apiKey?: string; models: ModelInput[] }
export type AgentInput = {
  name: string
  type: AgentType
  providerId?: string | null
  modelId?: string | null
  instructions?: string
  permissionMode?: PermissionMode
  disabledTools?: string[]
  mcpServerIds?: string[]
  skillIds?: string[]
  channels?: Agent['channels']
  language?: string | null
}
export type SessionInput = {
  agentId: string
  name?: string
  description?: string
  workspace?: { kind: 'system' } | { kind: 'user'; path: string }
}
export type MessageInput = {
  text?: string
  parts?: MessagePart[]
  when?: 'steer' | 'queue'
  origin?: 'interactive' | 'channel' | 'scheduled'
}
export type StopInput = { turnId?: string; queue?: 'hold' | 'run' | 'discard' }
export type ApprovalInput = {
  decision: 'allow' | 'deny'
  reason?: string
  updatedInput?: JsonObject
  answers?: { [question: string]: string }
}

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
/** A new provider. `baseUrl` is http or https without credentials; `apiKey` is written and never read back. */
export type ProviderInput = { name: string; protocol: ProviderProtocol; baseUrl: string; apiKey?: string; models: ModelInput[] }
/** A new agent. It can work once it has a provider and a model; `permissionMode` must be one that its driver offers. */
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
/** A new session. Without `workspace` the host makes a folder; the path of a person's own must be absolute and a folder. */
export type SessionInput = {
  agentId: string
  name?: string
  description?: string
  workspace?: { kind: 'system' } | { kind: 'user'; path: string }
}
/** A message: exactly one of `text` and `parts` (text parts), at most `limits.messageTextBytes`. `when` defaults to steer, `origin` to interactive. */
export type MessageInput = {
  text?: string
  parts?: MessagePart[]
  when?: 'steer' | 'queue'
  origin?: 'interactive' | 'channel' | 'scheduled'
}
/** A Stop. `turnId` guards it against the next turn; `queue` says what becomes of what waits (default hold). */
export type StopInput = { turnId?: string; queue?: 'hold' | 'run' | 'discard' }
/** An answer to a card: `updatedInput` is what is to run instead, `reason` goes to the agent, `answers` are for a question's own. */
export type ApprovalInput = {
  decision: 'allow' | 'deny'
  reason?: string
  updatedInput?: JsonObject
  answers?: { [question: string]: string }
}

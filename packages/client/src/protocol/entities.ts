/**
 * What the API returns. JSON is camelCase, ids are UUIDv7, times are ISO 8601; a field that does
 * not apply is null, never absent. Normative text: PROTOCOL.md.
 */
import type { MessagePart } from './chunks.ts'
import type { Json, JsonObject } from './json.ts'

/** Model protocols a provider can speak. */
export type ProviderProtocol = 'anthropic' | 'openai-chat' | 'openai-responses'

/** A model offered by a provider. `contextWindow` in tokens; prices in USD per million tokens. */
export type Model = {
  id: string
  name: string | null
  contextWindow: number | null
  pricing: { input: number; output: number; cacheRead: number | null; cacheWrite: number | null } | null
}

/** A place that serves models. The key is write-only: `hasApiKey` tells whether one is stored. */
export type Provider = {
  id: string
  rev: number
  name: string
  protocol: ProviderProtocol
  baseUrl: string
  hasApiKey: boolean
  models: Model[]
  createdAt: string
  updatedAt: string
}

/** Runtime types with a driver behind them. A host reports in `/v1/info` which are installed. */
export type AgentType = 'claude-code' | 'pi' | 'dsh' | (string & {})

/** How far an agent may go without asking. Which values a driver accepts is in its capabilities. */
export type PermissionMode = 'default' | 'acceptEdits' | 'bypassPermissions' | 'plan' | 'auto'

/** A named way of working: which runtime, which model, under which policy. */
export type Agent = {
  id: string
  rev: number
  name: string
  type: AgentType
  providerId: string | null
  modelId: string | null
  instructions: string
  permissionMode: PermissionMode
  disabledTools: string[]
  mcpServerIds: string[]
  skillIds: string[]
  channels: { kind: string; name: string }[]
  language: string | null
  createdAt: string
  updatedAt: string
}

/** Where an agent works: a folder the host makes, or an existing one the person chose. */
export type Workspace = { kind: 'system'; path: string } | { kind: 'user'; path: string }

/** What a session list shows at a glance. */
export type SessionStatus = 'idle' | 'working' | 'waiting' | 'stalled' | 'stopping' | 'held' | 'error' | 'quarantined'

/** One conversation with one agent in one workspace. `rev` rises with every change of its rows. */
export type Session = {
  id: string
  rev: number
  agentId: string | null
  name: string
  description: string
  workspace: Workspace
  status: SessionStatus
  /** Inputs that wait or need a decision, and approvals nobody has answered. */
  queued: number
  held: number
  needsYou: number
  lastText: string
  createdAt: string
  updatedAt: string
}

/** Status of an assistant row (decisions, One table of states). */
export type AssistantStatus = 'pending' | 'success' | 'paused' | 'interrupted' | 'error'
/** State of a message given to a session (decisions, One table of states). */
export type InputState = 'queued' | 'steering' | 'offered' | 'taken' | 'held' | 'unknown' | 'withdrawn'
/** Why an input is held, so that a person can be told. */
export type HeldReason = 'stopped' | 'interrupted' | 'failed' | 'hold' | 'restored'
/** Who caused a message. `headless` work has nobody who could answer an approval. */
export type Origin = 'interactive' | 'channel' | 'scheduled' | 'delivery' | 'autonomous'
/** Lifecycle of a message sent by another session. */
export type DeliveryStatus = 'accepted' | 'delivering' | 'consumed' | 'failed'

/** A row of the transcript or of the queue. `seq` is null until the session takes it. */
export type Message = {
  id: string
  sessionId: string
  seq: number | null
  rev: number
  queuePos: number | null
  role: 'user' | 'assistant'
  status: AssistantStatus | null
  errorCode: string | null
  errorText: string | null
  inputState: InputState | null
  heldReason: HeldReason | null
  /** A steer the agent saw whose answer never came: shown as "seen, not answered". */
  unanswered: boolean
  origin: Origin
  headless: boolean
  parts: MessagePart[]
  metadata: JsonObject
  modelId: string | null
  turnId: string | null
  /** The input an assistant row answers; null on inputs. */
  replyTo: string | null
  /** The assistant row this one continues after a steer. */
  rollOf: string | null
  boundary: 'turn' | 'row-roll' | null
  stopRequestedAt: string | null
  sentBy: string | null
  idempotencyKey: string | null
  delivery: JsonObject | null
  deliveryStatus: DeliveryStatus | null
  createdAt: string
  updatedAt: string
}

/** What kind of yes or answer an agent waits for. */
export type ApprovalKind = 'tool' | 'question' | 'plan'
/** A card that waits for a person; a durable row bound to the message it is shown on. */
export type Approval = {
  id: string
  sessionId: string
  rev: number
  messageId: string
  turnId: string
  kind: ApprovalKind
  toolCallId: string
  toolName: string
  input: Json
  status: 'pending' | 'allowed' | 'denied' | 'expired'
  reason: string | null
  decidedBy: string | null
  /** The order of asking, over all sessions; `requestedAt` is for people, and a clock may step back. */
  no: number
  requestedAt: string
  decidedAt: string | null
  /** When the agent used the decision; null for ever means "answered, not used". */
  appliedAt: string | null
}

/** The turn that runs. `turnId` survives rolls and deferral. */
export type LiveTurn = {
  turnId: string
  messageId: string
  phase: 'connecting' | 'open' | 'stopping'
  kind: 'user' | 'delivery' | 'autonomous' | 'compaction'
  headless: boolean
  stalled: boolean
  startedAt: string
}

/** How full the agent's context is, in tokens. */
export type ContextUsage = { usedTokens: number; maxTokens: number | null }

/** A task the agent runs beside its turns. */
export type BackgroundTask = { id: string; kind: string; title: string; status: 'running' | 'completed' | 'failed' | 'stopped' }

/** Everything a window needs to show one session, with the cursor that continues it. */
export type SessionSnapshot = {
  session: Session
  status: SessionStatus
  turn: LiveTurn | null
  queue: Message[]
  approvals: Approval[]
  background: BackgroundTask[]
  contextUsage: ContextUsage | null
  cursor: string
}

/** What a driver can do; the web app and the conformance kit are built from it. */
export type DriverCapabilities = {
  steer: 'none' | 'at-tool' | 'any-time'
  interrupt: boolean
  resume: boolean
  approvals: ApprovalKind[]
  permissionModes: PermissionMode[]
  autonomousTurns: boolean
  compaction: { manual: boolean; automatic: boolean }
  contextUsage: boolean
  reasoning: boolean
}

/** A registered runtime type and whether its packages are here. `advice` says how to install it when they are not. */
export type DriverInfo = {
  type: AgentType
  name: string
  installed: boolean
  version: string | null
  advice: string | null
  capabilities: DriverCapabilities
}

/** GET /v1/info. */
export type HostInfo = {
  name: 'wheelhouse'
  version: string
  protocol: number
  dataDir: string
  startedAt: string
  limits: { [name: string]: number }
  drivers: DriverInfo[]
}

/** A list page. `nextCursor` is opaque and null on the last page. */
export type Page<T> = { items: T[]; nextCursor: string | null }
/** A transcript page: ascending by seq; `before` opens the next older page; `cursor` opens the stream without a gap. */
export type TranscriptPage = { items: Message[]; before: string | null; cursor: string }

/** What POST …/messages answers. `disposition` is a first guess; the row is the truth. */
export type SendResult = { messageId: string; turnId: string | null; disposition: 'turn' | 'steering' | 'queued'; cursor: string }
/** What POST …/stop answers. */
export type StopResult = { stopped: boolean; turnId: string | null; cursor: string }
/** What the commands answer that make no row: run and discard the queue, resend, dismiss, release. */
export type CommandResult = { messageId: string | null; turnId: string | null; cursor: string }
/** What POST …/providers/:id/test answers. `status` is the provider's HTTP status, or null when it did not answer. */
export type ProviderTest = { ok: boolean; status: number | null; detail: string | null; latencyMs: number }
/** What POST /v1/login-codes answers. */
export type LoginCode = { code: string; url: string; expiresAt: string }

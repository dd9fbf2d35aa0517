/** Entities with everything filled in, for pages that are looked at without a host. */
import type {
  Agent,
  Approval,
  Json,
  Message,
  MessagePart,
  Provider,
  Session,
  ToolPart,
  DriverInfo,
} from '../../../packages/client/src/index.ts'

/** Everything is told relative to this moment, so that ages on the pictures are the same every day. */
export const NOW = Date.now()
const MINUTE = 60_000

export const ago = (minutes: number): string => new Date(NOW - minutes * MINUTE).toISOString()

let ids = 0
export function newId(): string {
  ids += 1
  return `01980000-0000-7000-8000-${String(ids).padStart(12, '0')}`
}

export function session(change: Partial<Session> & Pick<Session, 'name' | 'agentId'>): Session {
  return {
    id: newId(),
    rev: 1,
    description: '',
    workspace: { kind: 'user', path: '/home/me/code/harbour' },
    status: 'idle',
    queued: 0,
    held: 0,
    needsYou: 0,
    lastText: '',
    createdAt: ago(600),
    updatedAt: ago(5),
    ...change,
  }
}

export function message(sessionId: string, change: Partial<Message> & Pick<Message, 'role'>): Message {
  return {
    id: newId(),
    sessionId,
    seq: null,
    rev: 1,
    queuePos: null,
    status: change.role === 'assistant' ? 'success' : null,
    errorCode: null,
    errorText: null,
    inputState: change.role === 'user' ? 'taken' : null,
    heldReason: null,
    unanswered: false,
    origin: 'interactive',
    headless: false,
    parts: [],
    metadata: {},
    modelId: null,
    turnId: null,
    replyTo: null,
    rollOf: null,
    boundary: change.role === 'assistant' ? 'turn' : null,
    stopRequestedAt: null,
    sentBy: null,
    idempotencyKey: null,
    delivery: null,
    deliveryStatus: null,
    createdAt: ago(10),
    updatedAt: ago(9),
    ...change,
  }
}

export const text = (value: string): MessagePart => ({ type: 'text', text: value, state: 'done' })
export const reasoning = (value: string, durationMs: number): MessagePart => ({
  type: 'reasoning',
  text: value,
  state: 'done',
  providerMetadata: { wheelhouse: { durationMs } },
})
export const tool = (toolName: string, input: Json, output: Json, change: Partial<ToolPart> = {}): ToolPart => ({
  type: 'dynamic-tool',
  toolName,
  toolCallId: newId(),
  state: 'output-available',
  input,
  output,
  ...change,
})

export function approval(sessionId: string, messageId: string, change: Partial<Approval> & Pick<Approval, 'toolName' | 'input'>): Approval {
  return {
    id: newId(),
    sessionId,
    rev: 1,
    messageId,
    turnId: newId(),
    kind: 'tool',
    toolCallId: newId(),
    status: 'pending',
    reason: null,
    decidedBy: null,
    no: Date.parse(change.requestedAt ?? ago(2)),
    requestedAt: ago(2),
    decidedAt: null,
    appliedAt: null,
    ...change,
  }
}

export function provider(change: Partial<Provider> & Pick<Provider, 'name'>): Provider {
  return {
    id: newId(),
    rev: 1,
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    hasApiKey: true,
    models: [],
    createdAt: ago(9000),
    updatedAt: ago(9000),
    ...change,
  }
}

export function agent(change: Partial<Agent> & Pick<Agent, 'name' | 'providerId' | 'modelId'>): Agent {
  return {
    id: newId(),
    rev: 1,
    type: 'claude-code',
    instructions: '',
    permissionMode: 'default',
    disabledTools: [],
    mcpServerIds: [],
    skillIds: [],
    channels: [],
    language: null,
    createdAt: ago(9000),
    updatedAt: ago(9000),
    ...change,
  }
}

export const driver: DriverInfo = {
  type: 'claude-code',
  name: 'Claude Code',
  installed: true,
  version: '2.1.333',
  advice: null,
  capabilities: {
    steer: 'at-tool',
    interrupt: true,
    resume: true,
    approvals: ['tool', 'question', 'plan'],
    permissionModes: ['default', 'acceptEdits', 'plan', 'bypassPermissions'],
    autonomousTurns: true,
    compaction: { manual: true, automatic: true },
    contextUsage: true,
    reasoning: true,
  },
}

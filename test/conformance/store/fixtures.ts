/** What the store suites build their cases from. */
import assert from 'node:assert/strict'
import type { MessagePart } from '@wheelhouse/client/protocol'
import type { AssistantRow, InputRow, Write } from '../../../packages/runtime/src/core/write.ts'
import type { Changes, CommitResult, NewDelivery, ResolvedContent, Store } from '../../../packages/runtime/src/store/store.ts'

/** A store to be judged. */
export type Target = {
  name: string
  /** An empty store with data of its own. */
  open(): Opened
}
export type Opened = {
  store: Store
  /** A second connection to the same data, as another process would have it; null when the data has only one. */
  another: (() => Store) | null
  /** Closes all of it and removes the data. */
  close(): void
}

export const AT = '2026-01-01T00:00:00.000Z'
export const LATER = '2026-01-01T00:01:00.000Z'

/** Runs `body` on a fresh store that has a provider `p1`, an agent `a1` and a session `s1`. */
export async function withStore(target: Target, body: (store: Store, opened: Opened) => void | Promise<void>): Promise<void> {
  const opened = target.open()
  try {
    givenAgent(opened.store)
    givenSession(opened.store, 's1')
    await body(opened.store, opened)
  } finally {
    opened.close()
  }
}

export function givenAgent(store: Store, id = 'a1'): void {
  const keys = { at: AT, idempotencyKey: null, bodyHash: null }
  if (store.readProvider('p1') === null)
    store.insertProvider({ id: 'p1', name: 'Provider', protocol: 'anthropic', baseUrl: 'http://127.0.0.1:1', models: [], ...keys })
  store.insertAgent({
    id,
    name: `Agent ${id}`,
    type: 'scripted',
    providerId: 'p1',
    modelId: 'm1',
    instructions: '',
    permissionMode: 'default',
    disabledTools: [],
    mcpServerIds: [],
    skillIds: [],
    channels: [],
    language: null,
    ...keys,
  })
}

export function givenSession(store: Store, id: string, at = AT): void {
  store.insertSession({
    id,
    agentId: 'a1',
    name: `Session ${id}`,
    description: '',
    workspaceKind: 'system',
    workspacePath: `/workspaces/${id}`,
    at,
    idempotencyKey: null,
    bodyHash: null,
  })
}

/** Commits as the session's owner would: at its rev, with its counters raised to what the writes use. */
export function attempt(store: Store, sessionId: string, writes: Write[], content: ResolvedContent = {}, at = AT): CommitResult {
  const session = store.loadSession(sessionId)?.session
  assert.ok(session !== undefined, `session ${sessionId} exists`)
  const used = writes.map((write) => ('row' in write && 'seq' in write.row ? (write.row.seq ?? 0) : 'seq' in write ? write.seq : 0))
  return store.commit(
    {
      sessionId,
      expectedRev: session.rev,
      at,
      lastSeq: Math.max(session.lastSeq, ...used),
      lastQueuePos: session.lastQueuePos,
      writes,
    },
    content,
  )
}

/** A commit that must be saved. */
export function save(store: Store, sessionId: string, writes: Write[], content: ResolvedContent = {}, at = AT): Changes {
  const result = attempt(store, sessionId, writes, content, at)
  assert.equal(result.outcome, 'done', JSON.stringify(result))
  return result.outcome === 'done' ? result.changes : assert.fail()
}

/** A commit that a guard must refuse, leaving everything as it was. */
export function refused(store: Store, sessionId: string, writes: Write[], content: ResolvedContent = {}): void {
  const before = everything(store, sessionId)
  const result = attempt(store, sessionId, writes, content)
  assert.equal(result.outcome, 'refused', JSON.stringify(result))
  assert.deepEqual(everything(store, sessionId), before, 'a refused commit changes nothing')
}

/** All that can be read of a session. */
export function everything(store: Store, sessionId: string): unknown {
  return { rows: store.loadSession(sessionId), record: store.readSession(sessionId), changes: store.changesSince(sessionId, -1) }
}

export const text = (value: string): MessagePart[] => [{ type: 'text', text: value }]

export function insertInput(id: string, over: Partial<InputRow> = {}): Write {
  const row: InputRow = {
    id,
    seq: null,
    queuePos: 1,
    inputState: 'queued',
    heldReason: null,
    steer: false,
    origin: 'interactive',
    headless: false,
    parts: text(`text of ${id}`),
    modelId: 'm1',
    turnId: null,
    sentBy: null,
    idempotencyKey: null,
    bodyHash: null,
    ...over,
  }
  return { type: 'insert-input', row }
}

export const insertTaken = (id: string, seq: number, turnId: string, over: Partial<InputRow> = {}): Write =>
  insertInput(id, { inputState: 'taken', seq, turnId, queuePos: null, ...over })

export function openTurn(id: string, seq: number, over: Partial<AssistantRow> = {}): Write {
  const row: AssistantRow = {
    id,
    seq,
    turnId: `turn-${id}`,
    kind: 'user',
    replyTo: null,
    rollOf: null,
    origin: 'interactive',
    headless: false,
    modelId: 'm1',
    sent: true,
    ...over,
  }
  return { type: 'open-turn', row }
}

export function closeTurn(messageId: string, over: Partial<Extract<Write, { type: 'close-turn' }>> = {}): Write {
  return {
    type: 'close-turn',
    messageId,
    status: 'success',
    errorCode: null,
    errorText: null,
    boundary: 'turn',
    token: null,
    content: { metadata: {} },
    ...over,
  }
}

/** Parts for rows that a commit closes. */
export const contentOf = (messageId: string, value: string): ResolvedContent => ({ [messageId]: { parts: text(value), metadata: {} } })

export function delivery(id: string, over: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id,
    sessionId: 's1',
    senderSessionId: 's2',
    reply: 'completion',
    toolCallId: null,
    bodyHash: null,
    parts: text(`request ${id}`),
    display: {},
    at: AT,
    ...over,
  }
}

export function insertApproval(id: string, messageId: string, over: { status?: 'pending' | 'denied'; reason?: string | null } = {}): Write {
  return {
    type: 'insert-approval',
    row: {
      id,
      messageId,
      turnId: `turn-${messageId}`,
      generation: 1,
      kind: 'tool',
      toolCallId: `call-${id}`,
      toolName: 'Bash',
      input: { command: 'ls' },
      status: 'pending',
      reason: null,
      ...over,
    },
  }
}

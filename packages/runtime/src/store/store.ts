/**
 * The store port. One method = one whole transaction, synchronous inside, no rule of the product
 * in it (decisions 23-27). Two implementations pass one conformance suite (test/conformance/store).
 */
import type {
  Agent,
  Approval,
  JsonObject,
  Message,
  MessagePart,
  Provider,
  ProviderProtocol,
  UIMessageChunk,
} from '@wheelhouse/client/protocol'
import type { LoadedRows } from '../core/recovery.ts'
import type { DeliveryRef, MessageId, SessionId, UsageRecord } from '../core/types.ts'
import type { Commit } from '../core/write.ts'

/** Rows as the core needs them to rebuild its state (core/recovery.ts). */
export type SessionRows = LoadedRows
export type PendingRow = LoadedRows['pending'][number]
export type WaitingRow = LoadedRows['inputs'][number]

/** The content of rows that a commit closes, resolved by the host from its accumulator. */
export type ResolvedContent = { [messageId: MessageId]: { parts: MessagePart[]; metadata: JsonObject } }

/** What a commit changed, in its latest form, with the new rev; what the host publishes. */
export type Changes = { rev: number; messages: Message[]; approvals: Approval[]; removed: MessageId[] }

/**
 * The four outcomes (architecture, the law). refused: a guard matched no row, nothing is saved.
 * failed: nothing is saved, the same commit may be tried again. unknown: it may be saved; read the
 * rev (`revOf`): expectedRev + 1 = saved, expectedRev = not.
 */
export type CommitResult =
  | { outcome: 'done'; changes: Changes }
  | { outcome: 'refused'; reason: 'fence' | 'guard' | 'duplicate-key'; detail: string }
  | { outcome: 'failed'; message: string }
  | { outcome: 'unknown'; message: string }

/** A session as stored. What its list entry derives from rows is counted by the store. */
export type SessionRecord = {
  id: SessionId
  rev: number
  agentId: string | null
  name: string
  description: string
  workspaceKind: 'system' | 'user'
  workspacePath: string
  phase: 'active' | 'quarantined'
  quarantineReason: string | null
  queued: number
  held: number
  unknown: number
  pendingApprovals: number
  /** A row is pending; `stopping`: and a Stop was asked for. */
  working: boolean
  stopping: boolean
  lastStatus: Message['status']
  lastText: string
  createdAt: string
  updatedAt: string
}

export type SessionHead = Pick<SessionRecord, 'id' | 'agentId' | 'workspaceKind' | 'workspacePath'>

export type NewSession = {
  id: SessionId
  agentId: string
  name: string
  description: string
  workspaceKind: 'system' | 'user'
  workspacePath: string
  at: string
  idempotencyKey: string | null
  bodyHash: string | null
}
/** A provider without its secret: keys live in the key store of the data directory, never in a row. */
export type ProviderRecord = Omit<Provider, 'hasApiKey'>
export type NewProvider = {
  id: string
  name: string
  protocol: ProviderProtocol
  baseUrl: string
  models: Provider['models']
  at: string
  idempotencyKey: string | null
  bodyHash: string | null
}
export type NewAgent = Omit<Agent, 'rev' | 'createdAt' | 'updatedAt'> & {
  at: string
  idempotencyKey: string | null
  bodyHash: string | null
}

/** Insert of a thing with an idempotency key: `existing` when the key was used before. */
export type InsertResult<T> = { outcome: 'done'; item: T } | { outcome: 'existing'; item: T; sameBody: boolean }
/** Update or delete guarded by rev. */
export type GuardedResult<T> =
  | { outcome: 'done'; item: T }
  | { outcome: 'stale'; rev: number }
  | { outcome: 'missing' }
  | { outcome: 'in-use'; by: string }

/**
 * A message from one session into another's inbox. It has no seq and raises no rev there until its
 * owner claims it. `toolCallId` is unique for its sender: a repeated call is the same request
 * (decision 4). `display` is for people and never routes.
 */
export type NewDelivery = {
  id: MessageId
  /** The receiver. */
  sessionId: SessionId
  senderSessionId: SessionId | null
  reply: 'none' | 'completion'
  toolCallId: string | null
  bodyHash: string | null
  parts: MessagePart[]
  display: JsonObject
  at: string
}

/** One chunk of the journal. */
export type JournalEntry = { sessionId: SessionId; messageId: MessageId; n: number; chunk: UIMessageChunk }

/** A process the host started for a session; reaped at boot by exact identity (decision 11). */
export type LedgerEntry = { pid: number; startTime: string; sessionId: SessionId | null; marker: string; at: string }

export interface Store {
  // sessions and their rows, written by their owner only
  commit(commit: Commit, content: ResolvedContent): CommitResult
  /** The rev now, or null for an unknown session: settles an unknown commit. */
  revOf(id: SessionId): number | null
  loadSession(id: SessionId): SessionRows | null
  /** Sessions that owe something at boot: pending rows, queued, steering or offered inputs, open approvals, delivering or accepted deliveries. */
  sessionsOwing(): SessionId[]
  readSession(id: SessionId): SessionRecord | null
  /** What a message needs to know of its session; one row, nothing counted. */
  readSessionHead(id: SessionId): SessionHead | null
  /** Newest first by id; `before` is the id of the last one seen. */
  listSessions(page: { limit: number; before: SessionId | null; agentId: string | null }): SessionRecord[]
  insertSession(session: NewSession): InsertResult<SessionRecord>

  // messages, approvals
  readMessage(id: MessageId): Message | null
  findByKey(sessionId: SessionId, key: string): { message: Message; bodyHash: string | null } | null
  /** Transcript rows (seq not null) ascending, the newest `limit` before seq `before`. */
  listMessages(sessionId: SessionId, page: { limit: number; before: number | null }): Message[]
  listQueue(sessionId: SessionId): Message[]
  /** Provider calls recorded on a row, by arrival; `at` is when the call was recorded. */
  listUsage(sessionId: SessionId, messageId: MessageId): (UsageRecord & { at: string })[]
  readApproval(id: string): Approval | null
  /** In the order they were asked; with a page the first `limit` of those whose `no` is above `after`. */
  listApprovals(filter: { sessionId: SessionId | null; status: 'pending' | null }, page?: { after: number; limit: number }): Approval[]
  /** Everything with a rev above `rev`, latest form, with the tombstones (decision 5). */
  changesSince(sessionId: SessionId, rev: number): Changes
  /** Whether more than `most` rows, or approvals, have a rev above `rev`; reads none of them. */
  hasMoreSince(sessionId: SessionId, rev: number, most: number): boolean
  /** Puts a request into the receiver's inbox, which must exist (checked by the caller in the same tick). */
  acceptDelivery(delivery: NewDelivery): InsertResult<Message>
  /** The first accepted delivery of this session's inbox by arrival. */
  nextAccepted(sessionId: SessionId): { delivery: DeliveryRef; senderSessionId: SessionId | null } | null

  // the chunk journal: second connection, synchronous=NORMAL
  appendChunks(entries: readonly JournalEntry[]): void
  readChunks(messageId: MessageId, afterN: number): { n: number; chunk: UIMessageChunk }[]
  /** Drops the journal of rows that are final since `before` (their text is in the row). Returns how many chunks went. */
  dropFinalChunks(before: string): number

  // providers and agents
  insertProvider(provider: NewProvider): InsertResult<ProviderRecord>
  readProvider(id: string): ProviderRecord | null
  listProviders(): ProviderRecord[]
  updateProvider(
    id: string,
    rev: number,
    change: Partial<Pick<ProviderRecord, 'name' | 'protocol' | 'baseUrl' | 'models'>>,
    at: string,
  ): GuardedResult<ProviderRecord>
  deleteProvider(id: string, rev: number): GuardedResult<ProviderRecord>
  insertAgent(agent: NewAgent): InsertResult<Agent>
  readAgent(id: string): Agent | null
  listAgents(): Agent[]
  updateAgent(
    id: string,
    rev: number,
    change: Partial<Omit<Agent, 'id' | 'rev' | 'createdAt' | 'updatedAt'>>,
    at: string,
  ): GuardedResult<Agent>
  deleteAgent(id: string, rev: number): GuardedResult<Agent>
  sessionsOfAgent(agentId: string): SessionId[]

  // the host's own facts
  /** Raises and returns the stream epoch; once a boot (decision 5). */
  nextStreamEpoch(): number
  /** Answers of POSTs that made no row, kept 24 h (decision 4). */
  recallAnswer(key: string): { bodyHash: string; status: number; body: string } | null
  rememberAnswer(key: string, answer: { bodyHash: string; status: number; body: string }, at: string): void
  forgetAnswers(before: string): void
  addProcess(entry: LedgerEntry): void
  removeProcess(pid: number, startTime: string): void
  listProcesses(): LedgerEntry[]
  close(): void
}

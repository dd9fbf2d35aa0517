/**
 * The state of one session, as `step` sees it. JSON, small and printable: ids, flags and counters.
 * Message parts live in the host's accumulator, rows in the store.
 *
 *   connection   none -> connecting -> live -> closing -> none        (one generation each)
 *   turn         none -> starting -> open -> none                     (`stop` set = stopping)
 *   deferred     the user turn that waits while the agent runs a turn of its own accord
 *   input        queued -> taken | queued -> steering -> offered -> taken | held | unknown | withdrawn
 *
 * Whatever leaves the host is committed first as offered (`sent`, `offered`, `decided`, `stop`) and
 * again when the other side shows that it took it (`consumed`, `applied`, ended).
 */
import type { ApprovalKind, HeldReason, Json, MessagePart, Origin, UIMessageChunk } from '@wheelhouse/client/protocol'

export type SessionId = string
export type MessageId = string
export type TurnId = string
export type LookId = string
/** Counts the connections of a session since the host started; events of an older one are stale. */
export type Generation = number

export type Connection =
  | { phase: 'none' }
  | {
      phase: 'connecting' | 'live' | 'closing'
      generation: Generation
      /** Agent facts changed: rebuild before the next turn. */
      stale: boolean
      /** The last turn given to it was headless: what it does of its own accord is headless too. */
      headless: boolean
    }

/** What a Stop does with inputs that wait (decision 3). */
export type StopQueueMode = 'hold' | 'run' | 'discard'

/** Where a delivered message came from and what is owed for it; frozen at its acceptance. */
export type DeliveryRef = {
  id: MessageId
  /** Session that gets the result, or null when none is owed (one-way requests and results). */
  resultTo: SessionId | null
}

/** How a delivered request ended for the session that asked. */
export type DeliveryOutcome = 'success' | 'failed' | 'interrupted'

export type TurnKind = 'user' | 'delivery' | 'autonomous' | 'compaction'

export type Turn = {
  id: TurnId
  /** The pending assistant row; a roll replaces it, the turn id stays. */
  messageId: MessageId
  inputId: MessageId | null
  kind: TurnKind
  origin: Origin
  headless: boolean
  modelId: string | null
  /** Wrap the input as a steer: it was meant for an earlier turn. */
  steer: boolean
  /** ISO 8601; for people. */
  startedAt: string
  /** starting: its row is saved, nothing has left the host. open: `sentAt` is committed and the driver has it. */
  phase: 'starting' | 'open'
  stop: { mode: StopQueueMode; escalated: boolean } | null
  /** Chunks journaled for `messageId`. */
  n: number
  /** The newest provider call, saved with the next commit of the row or the next call: no commit of its own for each. */
  usage: UsageRecord | null
  /** Id of the continuation row, kept from the injection of a steer to its boundary (requirement 146). */
  reserved: MessageId | null
  delivery: DeliveryRef | null
}

/** An input that is not taken. Order in the list is order of `pos`. */
export type WaitingInput = {
  id: MessageId
  pos: number
  state: 'queued' | 'steering' | 'offered' | 'held' | 'unknown'
  heldReason: HeldReason | null
  /** The agent's own history holds it: never hand it back (decision 2). */
  consumed: boolean
  /** It was meant for a running turn: the next turn wraps it as a steer. */
  steer: boolean
  origin: Origin
  headless: boolean
  modelId: string | null
}

/** An approval that is pending, or decided and not applied. */
export type OpenApproval = { id: string; turnId: TurnId; messageId: MessageId; generation: Generation; decided: boolean }

export type Session = {
  id: SessionId
  rev: number
  lastSeq: number
  lastQueuePos: number
  phase: 'active' | 'quarantined' | 'deleted'
  /** A hold of the host is in force: nothing is admitted, no successor started (write quiesce). */
  held: boolean
  connection: Connection
  lastGeneration: Generation
  turn: Turn | null
  deferred: Turn | null
  /**
   * The inbox is being asked for an accepted delivery. `look` names this question: the answer to an older
   * one, which a turn overtook, is stale. `again`: something arrived since (rerun latch).
   */
  seeking: { look: LookId; attempt: 1 | 2; again: boolean } | null
  /** A delivery whose turn has ended and whose request is not finished yet. */
  finalizing: { delivery: DeliveryRef; messageId: MessageId; outcome: DeliveryOutcome; errorCode: string | null } | null
  queue: WaitingInput[]
  resume: { token: string | null; epoch: number }
  approvals: OpenApproval[]
  compaction: 'manual' | 'auto' | null
  /** Ids of tasks the agent runs beside its turns; they keep the connection from idling out. */
  background: string[]
}

/** What a person may change of a session; null = leave it. */
export type SessionChange = { name: string | null; description: string | null; agentId: string | null; workspacePath: string | null }

/** What a client gave, before anything is decided about it. */
export type NewInput = {
  id: MessageId
  parts: MessagePart[]
  when: 'steer' | 'queue'
  origin: Origin
  headless: boolean
  sentBy: string | null
  idempotencyKey: string | null
  /** Digest of the request body: the same key with another body is refused (decision 4). */
  bodyHash: string | null
  modelId: string | null
}

/** Fresh ids and the time, made by the host for this event; `step` makes none itself. */
export type Stamp = { at: string; turnId: TurnId; messageId: MessageId; spareId: string }

export type ApprovalRequest = { approvalId: string; kind: ApprovalKind; toolCallId: string; toolName: string; input: Json }
export type ApprovalDecision = { allow: boolean; reason: string | null; updatedInput: Json; answers: { [question: string]: string } | null }

/** Token counts of one provider call; null = unknown, 0 = observed (spec README). */
export type UsageRecord = {
  requestId: string
  modelId: string | null
  inputTokens: number | null
  outputTokens: number | null
  cacheReadTokens: number | null
  cacheWriteTokens: number | null
  /** Milliseconds to the first token, and of the whole call; null when not measured. */
  ttftMs: number | null
  durationMs: number | null
}

export type Chunks = readonly UIMessageChunk[]

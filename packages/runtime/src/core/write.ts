/**
 * What one commit saves. Writes are dumb: an insert, or an update with a guard; what they need to
 * know was decided in `step`. A guard that matches no row refuses the whole commit.
 */
import type {
  ApprovalKind,
  AssistantStatus,
  HeldReason,
  InputState,
  Json,
  JsonObject,
  MessagePart,
  Origin,
} from '@wheelhouse/client/protocol'
import type { DeliveryOutcome, MessageId, SessionChange, SessionId, StopQueueMode, TurnId, TurnKind, UsageRecord } from './types.ts'

/** A message given to a session. `seq` is null until it is taken. */
export type InputRow = {
  id: MessageId
  seq: number | null
  queuePos: number | null
  inputState: InputState
  heldReason: HeldReason | null
  steer: boolean
  origin: Origin
  headless: boolean
  parts: MessagePart[]
  modelId: string | null
  turnId: TurnId | null
  sentBy: string | null
  idempotencyKey: string | null
  bodyHash: string | null
}

/** A pending assistant row. */
export type AssistantRow = {
  id: MessageId
  seq: number
  turnId: TurnId
  kind: TurnKind
  replyTo: MessageId | null
  rollOf: MessageId | null
  origin: Origin
  headless: boolean
  modelId: string | null
  /** The input may have left the host: set at insertion when the connection is live. */
  sent: boolean
}

/** The frozen answer to a completion request: an ordinary message in the asking session's inbox. */
export type ResultRow = {
  id: MessageId
  sessionId: SessionId
  requestId: MessageId
  sourceMessageId: MessageId
  outcome: DeliveryOutcome
}

/** How a row's parts are found when it closes: the host resolves it before the commit. */
export type RowContent = { metadata: JsonObject }

export type Write =
  | { type: 'insert-input'; row: InputRow }
  | { type: 'edit-input'; id: MessageId; parts: MessagePart[] }
  /** Moves an untaken input; refused when it is in none of `from`. */
  | {
      type: 'move-input'
      id: MessageId
      from: InputState[]
      to: InputState
      heldReason: HeldReason | null
      queuePos: number | null
      steer: boolean
    }
  | { type: 'take-input'; id: MessageId; from: InputState[]; seq: number; turnId: TurnId; unanswered: boolean }
  /** Gives back an input whose turn was never sent: its seq is null again (decision 8). */
  | { type: 'return-input'; id: MessageId; queuePos: number; to: 'queued' | 'held'; heldReason: HeldReason | null }
  | { type: 'mark-consumed'; id: MessageId }
  | { type: 'open-turn'; row: AssistantRow }
  | { type: 'mark-sent'; messageId: MessageId }
  | { type: 'request-stop'; messageId: MessageId; mode: StopQueueMode; by: string | null }
  | { type: 'defer-turn'; messageId: MessageId; deferred: boolean }
  /** Closes a pending row. `boundary` row-roll completes nothing. `token`: the session's token then, kept on the row as provenance. */
  | {
      type: 'close-turn'
      messageId: MessageId
      status: Exclude<AssistantStatus, 'pending'>
      errorCode: string | null
      errorText: string | null
      boundary: 'turn' | 'row-roll'
      token: { token: string; epoch: number } | null
      content: RowContent
    }
  /** Removes an assistant row that was never sent; a tombstone with this rev tells every window. */
  | { type: 'remove-turn'; messageId: MessageId }
  | {
      type: 'insert-approval'
      row: {
        id: string
        messageId: MessageId
        turnId: TurnId
        generation: number
        kind: ApprovalKind
        toolCallId: string
        toolName: string
        input: Json
        status: 'pending' | 'denied'
        reason: string | null
      }
    }
  | { type: 'decide-approval'; id: string; status: 'allowed' | 'denied'; reason: string | null; by: string | null }
  | { type: 'apply-approval'; id: string }
  | { type: 'expire-approval'; id: string; reason: string }
  | { type: 'set-resume'; token: string | null; epoch: number }
  | { type: 'record-usage'; messageId: MessageId; usage: UsageRecord }
  /** CAS accepted -> delivering, bound to the assistant row; also gives the input its seq. `agentRev` must still be the agent's. */
  | { type: 'claim-delivery'; id: MessageId; seq: number; turnId: TurnId; turnRef: MessageId; agentRev: number }
  /** CAS delivering (bound to `turnRef`) -> consumed or failed. */
  | {
      type: 'finish-delivery'
      id: MessageId
      turnRef: MessageId
      status: 'consumed' | 'failed'
      outcome: DeliveryOutcome
      errorCode: string | null
    }
  /** CAS accepted -> failed: it can never be delivered. */
  | { type: 'fail-delivery'; id: MessageId; errorCode: string }
  /** At most one a request (unique index); a second one is the same result and changes nothing. */
  | { type: 'insert-result'; row: ResultRow }
  /** Fields that are null stay as they are. */
  | { type: 'update-session'; change: SessionChange }
  | { type: 'set-phase'; phase: 'active' | 'quarantined'; reason: string | null }
  | { type: 'delete-session' }

/**
 * One transaction of one session. It is led by `update session set rev = rev + 1 ... where rev =
 * expectedRev`: fence and order in one statement (scale, rule 0).
 */
export type Commit = {
  sessionId: SessionId
  expectedRev: number
  at: string
  lastSeq: number
  lastQueuePos: number
  writes: readonly Write[]
}

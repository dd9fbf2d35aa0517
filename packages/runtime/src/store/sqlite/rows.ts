/** Rows as SQLite gives them, and their wire form: JSON is parsed, a field that does not apply is null. */
import type {
  Approval,
  ApprovalKind,
  AssistantStatus,
  DeliveryStatus,
  HeldReason,
  InputState,
  Json,
  JsonObject,
  Message,
  MessagePart,
  Origin,
} from '@wheelhouse/client/protocol'
import type { DeliveryRef, TurnKind } from '../../core/types.ts'

/** Columns of `message` that leave the store. */
export type MessageRow = {
  id: string
  session_id: string
  rev: number
  role: 'user' | 'assistant'
  seq: number | null
  queue_pos: number | null
  status: AssistantStatus | null
  error_code: string | null
  error_text: string | null
  kind: TurnKind | null
  reply_to: string | null
  roll_of: string | null
  boundary: 'turn' | 'row-roll' | null
  stop_requested_at: string | null
  input_state: InputState | null
  held_reason: HeldReason | null
  unanswered: number
  sent_by: string | null
  idempotency_key: string | null
  body_hash: string | null
  origin: Origin
  headless: number
  model_id: string | null
  turn_id: string | null
  parts: string
  metadata: string
  delivery: string | null
  delivery_status: DeliveryStatus | null
  created_at: string
  updated_at: string
}

export const MESSAGE_COLUMNS = `id, session_id, rev, role, seq, queue_pos, status, error_code, error_text, kind, reply_to, roll_of, boundary,
  stop_requested_at, input_state, held_reason, unanswered, sent_by, idempotency_key, body_hash, origin, headless, model_id, turn_id,
  parts, metadata, delivery, delivery_status, created_at, updated_at`

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    sessionId: row.session_id,
    seq: row.seq,
    rev: row.rev,
    queuePos: row.queue_pos,
    role: row.role,
    status: row.status,
    errorCode: row.error_code,
    errorText: row.error_text,
    inputState: row.input_state,
    heldReason: row.held_reason,
    unanswered: row.unanswered === 1,
    origin: row.origin,
    headless: row.headless === 1,
    parts: fromJson<MessagePart[]>(row.parts),
    metadata: fromJson<JsonObject>(row.metadata),
    modelId: row.model_id,
    turnId: row.turn_id,
    replyTo: row.reply_to,
    rollOf: row.roll_of,
    boundary: row.boundary,
    stopRequestedAt: row.stop_requested_at,
    sentBy: row.sent_by,
    idempotencyKey: row.idempotency_key,
    delivery: row.delivery === null ? null : fromJson<JsonObject>(row.delivery),
    deliveryStatus: row.delivery_status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export type ApprovalRow = {
  id: string
  session_id: string
  rev: number
  message_id: string
  turn_id: string
  kind: ApprovalKind
  tool_call_id: string
  tool_name: string
  input: string
  status: Approval['status']
  reason: string | null
  decided_by: string | null
  no: number
  requested_at: string
  decided_at: string | null
  applied_at: string | null
}

export const APPROVAL_COLUMNS = `id, session_id, rev, message_id, turn_id, kind, tool_call_id, tool_name, input, status, reason, decided_by, no,
  requested_at, decided_at, applied_at`

export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    sessionId: row.session_id,
    rev: row.rev,
    messageId: row.message_id,
    turnId: row.turn_id,
    kind: row.kind,
    toolCallId: row.tool_call_id,
    toolName: row.tool_name,
    input: fromJson<Json>(row.input),
    status: row.status,
    reason: row.reason,
    decidedBy: row.decided_by,
    no: row.no,
    requestedAt: row.requested_at,
    decidedAt: row.decided_at,
    appliedAt: row.applied_at,
  }
}

/** What the delivery JSON must say for routing; the rest of it is for people. */
type DeliveryJson = { reply?: 'none' | 'completion' }

/** Who gets the result of a request: its frozen sender, when a completion was asked for (requirement 097). */
export function toDeliveryRef(id: string, delivery: string | null, sender: string | null): DeliveryRef {
  const reply = delivery === null ? 'none' : fromJson<DeliveryJson>(delivery).reply
  return { id, resultTo: reply === 'completion' ? sender : null }
}

/** SQLite has no booleans. */
export const bit = (value: boolean): number => (value ? 1 : 0)

export const toJson = (value: unknown): string => JSON.stringify(value)

/** Text in a JSON column was written by {@link toJson}, so its shape is what was stored. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names its column
export const fromJson = <T>(text: string): T => JSON.parse(text) as T

/** Inputs that wait, in the very words of the partial index: SQLite uses it only for the same term. */
export const UNTAKEN = `input_state in ('queued', 'steering', 'offered', 'held', 'unknown')`

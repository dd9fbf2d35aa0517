/** Verbs of inputs: given, edited, moved, taken, handed back. */
import type { Write } from '../../../core/write.ts'
import { preview } from '../../preview.ts'
import { bit, toJson } from '../rows.ts'
import { change, type WriteContext } from './context.ts'
import { showText } from './session.ts'

type Verb<Type extends Write['type']> = Extract<Write, { type: Type }>

export function insertInput(context: WriteContext, { row }: Verb<'insert-input'>): void {
  change(
    context,
    `input ${row.id} was not inserted`,
    `insert into message (id, session_id, rev, role, seq, queue_pos, input_state, held_reason, steer, origin, headless, parts, model_id, turn_id,
       sent_by, idempotency_key, body_hash, created_at, updated_at)
     values (:id, :sessionId, :rev, 'user', :seq, :queuePos, :inputState, :heldReason, :steer, :origin, :headless, :parts, :modelId, :turnId,
       :sentBy, :idempotencyKey, :bodyHash, :at, :at)`,
    {
      id: row.id,
      seq: row.seq,
      queuePos: row.queuePos,
      inputState: row.inputState,
      heldReason: row.heldReason,
      steer: bit(row.steer),
      origin: row.origin,
      headless: bit(row.headless),
      parts: toJson(row.parts),
      modelId: row.modelId,
      turnId: row.turnId,
      sentBy: row.sentBy,
      idempotencyKey: row.idempotencyKey,
      bodyHash: row.bodyHash,
      at: context.at,
    },
  )
  // Shown in the session list from here on when no take-input follows.
  if (row.inputState === 'taken') showText(context, preview(row.parts))
}

/** Only what has not left the host may change under its reader. */
export function editInput(context: WriteContext, write: Verb<'edit-input'>): void {
  change(
    context,
    `input ${write.id} can no longer be edited`,
    `update message set parts = :parts, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and input_state in ('queued', 'steering', 'held')`,
    { id: write.id, parts: toJson(write.parts), at: context.at },
  )
}

/** `queuePos` null keeps the place in the queue; a withdrawn input has none. */
export function moveInput(context: WriteContext, write: Verb<'move-input'>): void {
  change(
    context,
    `input ${write.id} is in none of ${write.from.join(', ')}`,
    `update message set input_state = :to, held_reason = :heldReason, steer = :steer, rev = :rev, updated_at = :at,
       queue_pos = case when :to = 'withdrawn' then null else coalesce(:queuePos, queue_pos) end
     where id = :id and session_id = :sessionId and input_state in (select value from json_each(:from))`,
    {
      id: write.id,
      from: toJson(write.from),
      to: write.to,
      heldReason: write.heldReason,
      queuePos: write.queuePos,
      steer: bit(write.steer),
      at: context.at,
    },
  )
}

export function takeInput(context: WriteContext, write: Verb<'take-input'>): void {
  change(
    context,
    `input ${write.id} is in none of ${write.from.join(', ')}`,
    `update message set input_state = 'taken', seq = :seq, turn_id = :turnId, unanswered = :unanswered, queue_pos = null, held_reason = null,
       rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and input_state in (select value from json_each(:from))`,
    {
      id: write.id,
      from: toJson(write.from),
      seq: write.seq,
      turnId: write.turnId,
      unanswered: bit(write.unanswered),
      at: context.at,
    },
  )
  showText(context, textOf(context, write.id))
}

export function returnInput(context: WriteContext, write: Verb<'return-input'>): void {
  change(
    context,
    `input ${write.id} is not taken`,
    `update message set input_state = :to, held_reason = :heldReason, queue_pos = :queuePos, seq = null, turn_id = null, unanswered = 0,
       consumed_at = null, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and input_state = 'taken'`,
    { id: write.id, to: write.to, heldReason: write.heldReason, queuePos: write.queuePos, at: context.at },
  )
}

export function markConsumed(context: WriteContext, write: Verb<'mark-consumed'>): void {
  change(
    context,
    `input ${write.id} is consumed already, or unknown`,
    `update message set consumed_at = :at, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and role = 'user' and consumed_at is null`,
    { id: write.id, at: context.at },
  )
}

/** The preview of a stored row. */
export function textOf(context: WriteContext, id: string): string | null {
  const row = context.database.get<{ parts: string }>('select parts from message where id = ?', id)
  return row === undefined ? null : preview(JSON.parse(row.parts))
}

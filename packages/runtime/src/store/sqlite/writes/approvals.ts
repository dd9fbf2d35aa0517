/** Verbs of approvals. Asked, decided and applied are three facts (decision 6). */
import type { Write } from '../../../core/write.ts'
import { toJson } from '../rows.ts'
import { change, type WriteContext } from './context.ts'

type Verb<Type extends Write['type']> = Extract<Write, { type: Type }>

/** A denied one was answered by the host at once, for want of a person. */
export function insertApproval(context: WriteContext, { row }: Verb<'insert-approval'>): void {
  change(
    context,
    `approval ${row.id} was not inserted`,
    `insert into approval (id, session_id, rev, message_id, turn_id, generation, kind, tool_call_id, tool_name, input, status, reason,
       requested_at, decided_at)
     values (:id, :sessionId, :rev, :messageId, :turnId, :generation, :kind, :toolCallId, :toolName, :input, :status, :reason, :at, :decidedAt)`,
    {
      id: row.id,
      messageId: row.messageId,
      turnId: row.turnId,
      generation: row.generation,
      kind: row.kind,
      toolCallId: row.toolCallId,
      toolName: row.toolName,
      input: toJson(row.input),
      status: row.status,
      reason: row.reason,
      at: context.at,
      decidedAt: row.status === 'pending' ? null : context.at,
    },
  )
}

/** The first answer wins. */
export function decideApproval(context: WriteContext, write: Verb<'decide-approval'>): void {
  change(
    context,
    `approval ${write.id} is not pending`,
    `update approval set status = :status, reason = :reason, decided_by = :by, decided_at = :at, rev = :rev
     where id = :id and session_id = :sessionId and status = 'pending'`,
    { id: write.id, status: write.status, reason: write.reason, by: write.by, at: context.at },
  )
}

export function applyApproval(context: WriteContext, write: Verb<'apply-approval'>): void {
  change(
    context,
    `approval ${write.id} is not decided, or applied already`,
    `update approval set applied_at = :at, rev = :rev
     where id = :id and session_id = :sessionId and status in ('allowed', 'denied') and applied_at is null`,
    { id: write.id, at: context.at },
  )
}

export function expireApproval(context: WriteContext, write: Verb<'expire-approval'>): void {
  change(
    context,
    `approval ${write.id} is not pending`,
    `update approval set status = 'expired', reason = :reason, rev = :rev where id = :id and session_id = :sessionId and status = 'pending'`,
    { id: write.id, reason: write.reason },
  )
}

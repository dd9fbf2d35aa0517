/** Verbs of assistant rows: opened, sent, stopped, deferred, closed, removed. */
import type { Write } from '../../../core/write.ts'
import { preview } from '../../preview.ts'
import { Refused } from '../database.ts'
import { bit, toJson } from '../rows.ts'
import { change, contentOf, type WriteContext } from './context.ts'
import { showText } from './session.ts'

type Verb<Type extends Write['type']> = Extract<Write, { type: Type }>

/** A second pending row beside one, deferred rows apart, meets the unique index and is refused. */
export function openTurn(context: WriteContext, { row }: Verb<'open-turn'>): void {
  change(
    context,
    `assistant row ${row.id} was not inserted`,
    `insert into message (id, session_id, rev, role, seq, status, kind, reply_to, roll_of, origin, headless, model_id, turn_id, sent_at, parts,
       created_at, updated_at)
     values (:id, :sessionId, :rev, 'assistant', :seq, 'pending', :kind, :replyTo, :rollOf, :origin, :headless, :modelId, :turnId, :sentAt, '[]',
       :at, :at)`,
    {
      id: row.id,
      seq: row.seq,
      kind: row.kind,
      replyTo: row.replyTo,
      rollOf: row.rollOf,
      origin: row.origin,
      headless: bit(row.headless),
      modelId: row.modelId,
      turnId: row.turnId,
      sentAt: row.sent ? context.at : null,
      at: context.at,
    },
  )
}

export function markSent(context: WriteContext, write: Verb<'mark-sent'>): void {
  change(
    context,
    `row ${write.messageId} is not pending, or sent already`,
    `update message set sent_at = :at, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and status = 'pending' and sent_at is null`,
    { id: write.messageId, at: context.at },
  )
}

/** The first Stop's time stays; a later one may change what happens to the queue. */
export function requestStop(context: WriteContext, write: Verb<'request-stop'>): void {
  change(
    context,
    `row ${write.messageId} is not pending`,
    `update message set stop_requested_at = coalesce(stop_requested_at, :at), stop_queue = :mode, stop_by = :by, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and status = 'pending'`,
    { id: write.messageId, mode: write.mode, by: write.by, at: context.at },
  )
}

export function deferTurn(context: WriteContext, write: Verb<'defer-turn'>): void {
  change(
    context,
    `row ${write.messageId} is not pending, or ${write.deferred ? 'deferred' : 'current'} already`,
    `update message set deferred = :deferred, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and status = 'pending' and deferred = 1 - :deferred`,
    { id: write.messageId, deferred: bit(write.deferred), at: context.at },
  )
}

/** Metadata that the core gives stands above what the stream carried. */
export function closeTurn(context: WriteContext, write: Verb<'close-turn'>): void {
  const content = contentOf(context, write.messageId)
  change(
    context,
    `row ${write.messageId} is not pending`,
    `update message set status = :status, error_code = :errorCode, error_text = :errorText, boundary = :boundary, resume_token = :token,
       resume_epoch = :epoch, parts = :parts, metadata = :metadata, deferred = 0, closed_at = :at, rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and status = 'pending'`,
    {
      id: write.messageId,
      status: write.status,
      errorCode: write.errorCode,
      errorText: write.errorText,
      boundary: write.boundary,
      token: write.token?.token ?? null,
      epoch: write.token?.epoch ?? null,
      parts: toJson(content.parts),
      metadata: toJson({ ...content.metadata, ...write.content.metadata }),
      at: context.at,
    },
  )
  showText(context, preview(content.parts))
}

/** Only a row that was never sent may vanish; its tombstone tells every window. */
export function removeTurn(context: WriteContext, write: Verb<'remove-turn'>): void {
  const removed = context.database.run(
    `delete from message where id = ? and session_id = ? and role = 'assistant' and status = 'pending' and sent_at is null`,
    write.messageId,
    context.sessionId,
  )
  if (removed !== 1) throw new Refused('guard', `row ${write.messageId} was sent, or is not pending`)
  context.database.run(
    'insert into tombstone (session_id, rev, message_id) values (?, ?, ?)',
    context.sessionId,
    context.rev,
    write.messageId,
  )
}

/** One record a provider call, whoever reports it again (spec README, usage). */
export function recordUsage(context: WriteContext, { messageId, usage }: Verb<'record-usage'>): void {
  context.database.run(
    `insert into usage_record (request_id, session_id, message_id, model_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       ttft_ms, duration_ms, at)
     values (:requestId, :sessionId, :messageId, :modelId, :inputTokens, :outputTokens, :cacheReadTokens, :cacheWriteTokens, :ttftMs, :durationMs, :at)
     on conflict (request_id) do nothing`,
    { sessionId: context.sessionId, messageId, at: context.at, ...usage },
  )
}

/** Transaction A of a delivery: the durable intent in another session's inbox (spec, Acceptance). */
import type { Message } from '@wheelhouse/client/protocol'
import type { InsertResult, NewDelivery } from '../store.ts'
import type { Database } from './database.ts'
import { readMessage } from './messages.ts'
import { toJson } from './rows.ts'

/** A repeated tool call of one sender is the same request (decision 4). It touches no rev: the owner has not seen it yet. */
export function acceptDelivery(database: Database, delivery: NewDelivery): InsertResult<Message> {
  return database.transaction(() => {
    const used = keyed(database, delivery)
    if (used !== undefined) return { outcome: 'existing', item: must(database, used.id), sameBody: used.bodyHash === delivery.bodyHash }
    if (database.get('select 1 from session where id = ?', delivery.sessionId) === undefined)
      throw new Error(`session ${delivery.sessionId} has no inbox`)
    database.run(
      `insert into message (id, session_id, rev, role, origin, headless, parts, body_hash, delivery, delivery_status, delivery_sender_session_id,
         delivery_tool_call_id, created_at, updated_at)
       values (:id, :sessionId, 0, 'user', 'delivery', 1, :parts, :bodyHash, :delivery, 'accepted', :sender, :toolCallId, :at, :at)`,
      {
        id: delivery.id,
        sessionId: delivery.sessionId,
        parts: toJson(delivery.parts),
        bodyHash: delivery.bodyHash,
        delivery: toJson({
          ...delivery.display,
          reply: delivery.reply,
          senderSessionId: delivery.senderSessionId,
          receiverSessionId: delivery.sessionId,
          outcome: null,
          errorCode: null,
          statusAt: delivery.at,
        }),
        sender: delivery.senderSessionId,
        toolCallId: delivery.toolCallId,
        at: delivery.at,
      },
    )
    return { outcome: 'done', item: must(database, delivery.id) }
  })
}

const keyed = (database: Database, delivery: NewDelivery): { id: string; bodyHash: string | null } | undefined =>
  delivery.toolCallId === null
    ? undefined
    : database.get(
        'select id, body_hash as bodyHash from message where delivery_sender_session_id = ? and delivery_tool_call_id = ?',
        delivery.senderSessionId,
        delivery.toolCallId,
      )

function must(database: Database, id: string): Message {
  const message = readMessage(database, id)
  if (message === null) throw new Error(`delivery ${id} is missing inside its own transaction`)
  return message
}

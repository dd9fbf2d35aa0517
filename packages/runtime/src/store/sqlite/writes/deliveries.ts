/** Verbs of deliveries: compare-and-set along accepted, delivering, consumed or failed (spec, Delivery rows). */
import type { Write } from '../../../core/write.ts'
import { toJson } from '../rows.ts'
import { change, contentOf, type WriteContext } from './context.ts'
import { textOf } from './inputs.ts'
import { showText } from './session.ts'

type Verb<Type extends Write['type']> = Extract<Write, { type: Type }>

/** The session must still belong to the agent that was validated, and the agent be as it was (requirement 109). */
export function claimDelivery(context: WriteContext, write: Verb<'claim-delivery'>): void {
  change(
    context,
    `delivery ${write.id} is not accepted, or the agent has changed`,
    `update message set delivery_status = 'delivering', delivery_turn_ref = :turnRef, input_state = 'taken', seq = :seq, turn_id = :turnId,
       delivery = json_set(delivery, '$.statusAt', :at), rev = :rev, updated_at = :at
     where id = :id and session_id = :sessionId and delivery_status = 'accepted'
       and exists (select 1 from session join agent on agent.id = session.agent_id where session.id = :sessionId and agent.rev = :agentRev)`,
    { id: write.id, turnRef: write.turnRef, seq: write.seq, turnId: write.turnId, agentRev: write.agentRev, at: context.at },
  )
  showText(context, textOf(context, write.id))
}

export function finishDelivery(context: WriteContext, write: Verb<'finish-delivery'>): void {
  change(
    context,
    `delivery ${write.id} is not bound to ${write.turnRef}`,
    `update message set delivery_status = :status, delivery_turn_ref = null, rev = :rev, updated_at = :at,
       delivery = json_set(delivery, '$.outcome', :outcome, '$.errorCode', :errorCode, '$.statusAt', :at)
     where id = :id and session_id = :sessionId and delivery_status = 'delivering' and delivery_turn_ref = :turnRef`,
    { id: write.id, turnRef: write.turnRef, status: write.status, outcome: write.outcome, errorCode: write.errorCode, at: context.at },
  )
}

export function failDelivery(context: WriteContext, write: Verb<'fail-delivery'>): void {
  change(
    context,
    `delivery ${write.id} is not accepted`,
    `update message set delivery_status = 'failed', rev = :rev, updated_at = :at,
       delivery = json_set(delivery, '$.outcome', 'failed', '$.errorCode', :errorCode, '$.statusAt', :at)
     where id = :id and session_id = :sessionId and delivery_status = 'accepted'`,
    { id: write.id, errorCode: write.errorCode, at: context.at },
  )
}

/**
 * Puts the frozen answer into the asking session's inbox. The one verb that writes a row of another
 * session: it raises no rev there (0 until its owner takes it). A second result of one request is
 * the same result, and a session that is gone gets none; neither refuses the commit.
 */
export function insertResult(context: WriteContext, { row }: Verb<'insert-result'>): void {
  const delivery = {
    reply: 'none',
    senderSessionId: context.sessionId,
    receiverSessionId: row.sessionId,
    inReplyTo: row.requestId,
    sourceMessageId: row.sourceMessageId,
    outcome: row.outcome,
    errorCode: null,
    statusAt: context.at,
  }
  context.database.run(
    `insert into message (id, session_id, rev, role, origin, headless, parts, delivery, delivery_status, delivery_in_reply_to,
       delivery_sender_session_id, created_at, updated_at)
     select :id, :receiver, 0, 'user', 'delivery', 1, :parts, :delivery, 'accepted', :requestId, :sender, :at, :at
     where exists (select 1 from session where id = :receiver)
     on conflict (delivery_in_reply_to) do nothing`,
    {
      id: row.id,
      receiver: row.sessionId,
      sender: context.sessionId,
      requestId: row.requestId,
      parts: toJson(contentOf(context, row.id).parts),
      delivery: toJson(delivery),
      at: context.at,
    },
  )
}

/** Verbs of the session's own row. The fence has locked it already, so none needs a guard of its own. */
import type { Write } from '../../../core/write.ts'
import { Refused } from '../database.ts'
import type { WriteContext } from './context.ts'

type Verb<Type extends Write['type']> = Extract<Write, { type: Type }>

/** Keeps what the session list shows; null changes nothing. */
export function showText(context: WriteContext, text: string | null): void {
  if (text !== null) context.database.run('update session set last_text = ? where id = ?', text, context.sessionId)
}

export function setResume(context: WriteContext, write: Verb<'set-resume'>): void {
  context.database.run('update session set resume_token = ?, resume_epoch = ? where id = ?', write.token, write.epoch, context.sessionId)
}

/** Fields that are null stay as they are. */
export function updateSession(context: WriteContext, { change }: Verb<'update-session'>): void {
  context.database.run(
    `update session set name = coalesce(:name, name), description = coalesce(:description, description), agent_id = coalesce(:agentId, agent_id),
       workspace_kind = case when :workspacePath is null then workspace_kind else 'user' end, workspace_path = coalesce(:workspacePath, workspace_path)
     where id = :id`,
    { ...change, id: context.sessionId },
  )
}

export function setPhase(context: WriteContext, write: Verb<'set-phase'>): void {
  context.database.run('update session set phase = ?, quarantine_reason = ? where id = ?', write.phase, write.reason, context.sessionId)
}

/**
 * Removes the session with all its rows; usage stays, since it was spent. A request that waits here and
 * whose sender is owed a result refuses it: the result must be frozen first (requirement 112).
 */
export function deleteSession(context: WriteContext): void {
  const { database, sessionId } = context
  const owed = database.get(
    `select 1 from message m join session sender on sender.id = m.delivery_sender_session_id
     where m.session_id = ? and m.delivery_status in ('accepted', 'delivering') and json_extract(m.delivery, '$.reply') = 'completion' limit 1`,
    sessionId,
  )
  if (owed !== undefined) throw new Refused('guard', `session ${sessionId} still owes results of requests`)
  database.run('delete from approval where session_id = ?', sessionId)
  database.run('delete from tombstone where session_id = ?', sessionId)
  database.run('delete from message where session_id = ?', sessionId)
  database.run('delete from session where id = ?', sessionId)
}

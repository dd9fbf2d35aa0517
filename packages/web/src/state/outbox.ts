/**
 * Messages between Enter and their row. Each has the Idempotency-Key it is sent with, so sending it
 * again, also after a reload of the page, cannot make a second message.
 */
import type { SessionView } from '@wheelhouse/client'

export type OutboxItem = {
  key: string
  sessionId: string
  text: string
  when: 'steer' | 'queue'
  at: string
  /** sent: the host has it and its row is about to come. failed: whether the host has it is unknown, or it said no. */
  state: 'sending' | 'sent' | 'failed'
  messageId: string | null
  /** Problem code, or a line failure; null while nothing went wrong. */
  error: string | null
  detail: string | null
}

/** The same list when nothing settled. */
export function settleOutbox(outbox: readonly OutboxItem[], view: SessionView): readonly OutboxItem[] {
  const left = outbox.filter((item) => item.sessionId !== view.sessionId || !hasArrived(item, view))
  return left.length === outbox.length ? outbox : left
}

function hasArrived(item: OutboxItem, view: SessionView): boolean {
  if (item.messageId !== null && view.gone[item.messageId] !== undefined) return true
  const isIt = (row: { id: string; idempotencyKey: string | null }): boolean => row.idempotencyKey === item.key || row.id === item.messageId
  return view.queue.some(isIt) || view.rows.some(isIt)
}

/** What a page that is opened anew makes of stored items: nobody waits for their answer any more. */
export function reviveOutbox(stored: unknown): OutboxItem[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(isItem).map((item) => (item.state === 'failed' ? item : { ...item, state: 'failed', error: 'unfinished' }))
}

function isItem(value: unknown): value is OutboxItem {
  if (typeof value !== 'object' || value === null) return false
  const has = (name: string): boolean => name in value && typeof (value as { [name: string]: unknown })[name] === 'string'
  return has('key') && has('sessionId') && has('text') && has('when') && has('at') && has('state')
}

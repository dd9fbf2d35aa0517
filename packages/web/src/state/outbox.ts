/**
 * Messages between Enter and their row. Each has the Idempotency-Key it is sent with, so sending it
 * again, also after a reload of the page, cannot make a second message. Pure.
 */
import type { Problem, SessionView } from '@wheelhouse/client'

export type OutboxItem = {
  key: string
  sessionId: string
  text: string
  when: 'steer' | 'queue'
  at: string
  /**
   * waiting: it goes when the line is open. sending: nobody has answered yet. sent: the host has it and its row is about
   * to come. failed: the host said no.
   */
  state: 'waiting' | 'sending' | 'sent' | 'failed'
  messageId: string | null
  /** Problem code, or a line failure; null while nothing went wrong. */
  error: string | null
  detail: string | null
}

/**
 * What may go now: of each session the oldest message, unless that is on its way. So they arrive in the order in which they
 * were written; one that was refused is the person's to decide, and holds up nothing.
 */
export function nextToSend(outbox: readonly OutboxItem[]): OutboxItem[] {
  const open = new Set<string>()
  return outbox.filter(({ sessionId, state }) => {
    if (state === 'sent' || state === 'failed' || open.has(sessionId)) return false
    open.add(sessionId)
    return state === 'waiting'
  })
}

/** What a failed call makes of its message. Where nobody answered, it waits: its key makes it one message, however often it goes. */
export function afterFailure({ problem, failure }: { problem: Problem | null; failure: string | null }): Partial<OutboxItem> {
  const wasSilent = problem === null ? failure === 'network' || failure === 'timeout' : problem.code === 'SHUTTING_DOWN'
  if (wasSilent) return { state: 'waiting' }
  return { state: 'failed', error: problem?.code ?? failure, detail: problem?.detail ?? null }
}

/** The same list when nothing settled. */
export function settleOutbox(outbox: readonly OutboxItem[], view: SessionView): readonly OutboxItem[] {
  const left = outbox.filter((item) => item.sessionId !== view.sessionId || !hasArrived(item, view))
  return left.length === outbox.length ? outbox : left
}

function hasArrived(item: OutboxItem, view: SessionView): boolean {
  const oldest = view.rows[0]
  if (item.messageId !== null) {
    if (view.gone[item.messageId] !== undefined) return true
    // Sent by an earlier page, long ago: its row stands in an older page. Ids rise with time.
    if (view.before !== null && oldest !== undefined && oldest.id > item.messageId) return true
  }
  const isIt = (row: { id: string; idempotencyKey: string | null }): boolean => row.idempotencyKey === item.key || row.id === item.messageId
  return view.queue.some(isIt) || view.rows.some(isIt)
}

/** What changed from one list to the next, each message for itself; null is gone. Tabs keep them side by side, and none writes over another's. */
export function outboxChanges(before: readonly OutboxItem[], after: readonly OutboxItem[]): [key: string, item: OutboxItem | null][] {
  return [
    ...after.filter((item) => !before.includes(item)).map((item): [string, OutboxItem] => [item.key, item]),
    ...before.filter(({ key }) => after.every((item) => item.key !== key)).map(({ key }): [string, null] => [key, null]),
  ]
}

/** What a page that is opened anew makes of stored items, oldest first: nobody waits for their answer any more, so they go again. */
export function reviveOutbox(stored: readonly unknown[]): OutboxItem[] {
  return stored
    .filter(isItem)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map((item) => (item.state === 'failed' ? item : { ...item, state: 'waiting' }))
}

function isItem(value: unknown): value is OutboxItem {
  if (typeof value !== 'object' || value === null) return false
  const has = (name: string): boolean => name in value && typeof (value as { [name: string]: unknown })[name] === 'string'
  return has('key') && has('sessionId') && has('text') && has('when') && has('at') && has('state')
}

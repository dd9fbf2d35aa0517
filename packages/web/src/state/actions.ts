/**
 * What a person can do, each as one call to the host. What cannot be undone by looking again is shown
 * at once and corrected by its row. A refusal comes back as a notice, never as silence.
 */
import { listAll, newIdempotencyKey, WheelhouseError, type ApprovalInput, type Problem, type StopInput } from '@wheelhouse/client'
import { notify } from './notices.ts'
import type { OutboxItem } from './outbox.ts'
import { makePostman } from './postman.ts'
import { client, dispatch, getState, subscribe } from './store.ts'

/** Runs a call and tells a refusal; true when it was done. */
async function attempt(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    notify(noticeOf(error))
    return false
  }
}

/** What to tell of a failed call. */
export function noticeOf(error: unknown): { problem: Problem | null; failure: string | null } {
  if (error instanceof WheelhouseError) return { problem: error.problem, failure: error.failure }
  return { problem: null, failure: error instanceof Error ? error.message : String(error) }
}

/** Puts the message on the screen; it goes as soon as the line is open. */
export function sendMessage(sessionId: string, text: string, when: 'steer' | 'queue'): void {
  const item: OutboxItem = {
    key: newIdempotencyKey(),
    sessionId,
    text,
    when,
    at: new Date().toISOString(),
    state: 'waiting',
    messageId: null,
    error: null,
    detail: null,
  }
  dispatch({ type: 'sending', item })
}

/** Sends a message again with its own key: if the host has it already, this changes nothing. */
export function resendItem(key: string): void {
  dispatch({ type: 'sent', key, change: { state: 'waiting', error: null, detail: null } })
}

export function dropItem(key: string): void {
  dispatch({ type: 'unsent', key })
}

/** The client has tried for three seconds already. */
const RESEND_MS = 1_000

/** Sends what waits, also what an earlier page left. Called once by the page. */
export function tendOutbox(): void {
  const post = makePostman({
    outbox: () => getState().outbox,
    isOpen: () => getState().line.state === 'open',
    send: ({ sessionId, text, when, key }) => client.sessions.send(sessionId, { text, when }, { idempotencyKey: key }),
    reasonOf: noticeOf,
    change: (key, change) => dispatch({ type: 'sent', key, change }),
    later: (run) => setTimeout(run, RESEND_MS),
  })
  subscribe(post)
  post()
}

export const stopTurn = (sessionId: string, input: StopInput = {}): Promise<boolean> =>
  attempt(() => client.sessions.stop(sessionId, input))
export const runQueue = (sessionId: string): Promise<boolean> => attempt(() => client.sessions.runQueue(sessionId))
export const discardQueue = (sessionId: string): Promise<boolean> => attempt(() => client.sessions.discardQueue(sessionId))
export const releaseSession = (sessionId: string): Promise<boolean> => attempt(() => client.sessions.release(sessionId))
export const withdrawMessage = (sessionId: string, id: string): Promise<boolean> => attempt(() => client.messages.withdraw(sessionId, id))
export const resendMessage = (sessionId: string, id: string): Promise<boolean> => attempt(() => client.messages.resend(sessionId, id))
export const dismissMessage = (sessionId: string, id: string): Promise<boolean> => attempt(() => client.messages.dismiss(sessionId, id))
export const editMessage = (sessionId: string, id: string, text: string): Promise<boolean> =>
  attempt(() => client.messages.edit(sessionId, id, { text }))

/** The first answer wins; a late one is told who was first by the card itself. */
export function answerApproval(id: string, input: ApprovalInput): Promise<boolean> {
  return attempt(async () => dispatch({ type: 'approval', approval: await client.approvals.answer(id, input) }))
}

/** Renames with the newest rev; another change in between is read and the name set again once. */
export function renameSession(sessionId: string, name: string): Promise<boolean> {
  return attempt(() => withFreshRev(sessionId, (rev) => client.sessions.update(sessionId, { name }, rev)))
}

export function deleteSession(sessionId: string): Promise<boolean> {
  return attempt(() => withFreshRev(sessionId, (rev) => client.sessions.remove(sessionId, rev)))
}

/** Changes the folder of a session whose own is gone. */
export function repointSession(sessionId: string, path: string): Promise<boolean> {
  return attempt(() => withFreshRev(sessionId, (rev) => client.sessions.update(sessionId, { workspace: { kind: 'user', path } }, rev)))
}

/** A working session changes all the time; a person's wish about its name or end holds for any rev. */
async function withFreshRev(sessionId: string, change: (rev: number) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { session } = await client.sessions.get(sessionId)
    try {
      await change(session.rev)
      return
    } catch (error) {
      if (tries === REV_TRIES || !(error instanceof WheelhouseError) || error.code !== 'STALE_REV') throw error
    }
  }
}

/** A turn commits a few times a second at most, and a try takes milliseconds. */
const REV_TRIES = 5

/** Reads the approvals that wait anywhere; asked each time the list of sessions came anew. */
export async function loadApprovals(): Promise<void> {
  dispatch({ type: 'approvals-asked' })
  try {
    dispatch({ type: 'approvals', approvals: await listAll((query) => client.approvals.list({ ...query, status: 'pending' })) })
  } catch {
    // Trouble of the line: the next list of sessions asks again.
    dispatch({ type: 'approvals', approvals: null })
  }
}

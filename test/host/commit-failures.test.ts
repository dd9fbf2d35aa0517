/** A commit that fails when a turn ends (decisions 102, 103): the turn is not lost, the host lives. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import type { CommitResult, Store } from '../../packages/runtime/src/store/store.ts'
import { hastyClock } from '../support/clock.ts'
import { furnishSession, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts, type TestHost } from '../support/host.ts'

afterEach(() => stopTestHosts())

const DISK: CommitResult = { outcome: 'failed', message: 'disk I/O error' }

const FENCE: CommitResult = { outcome: 'refused', reason: 'fence', detail: 'somebody else' }

const times = (n: number, result: CommitResult): CommitResult[] => Array.from({ length: n }, () => result)

/** Commits that close a turn have these outcomes before one is saved. */
function failingEnds(outcomes: readonly CommitResult[]): { wrap(store: Store): Store; left(): number } {
  const rest = [...outcomes]
  return {
    left: () => rest.length,
    wrap: (store) => ({
      ...store,
      commit(commit, content): CommitResult {
        const result = commit.writes.some((write) => write.type === 'close-turn') ? rest.shift() : undefined
        return result ?? store.commit(commit, content)
      },
    }),
  }
}

async function endOf(failures: number): Promise<{ row: Message; host: TestHost }> {
  const faults = failingEnds(times(failures, DISK))
  const host = await startTestHost({ store: faults.wrap, clock: hastyClock(50) })
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say kept' })
  const row = await until(
    'the row to be final',
    async () =>
      (await host.client.sessions.transcript(sessionId)).items.find((each) => each.replyTo === messageId && each.status !== 'pending') ??
      null,
  )
  assert.equal(faults.left(), 0)
  const next = await host.client.sessions.send(sessionId, { text: 'say next' })
  await until(
    'the next message to be answered',
    async () =>
      (await host.client.sessions.transcript(sessionId)).items.find(
        (each) => each.replyTo === next.messageId && each.status === 'success',
      ) ?? null,
  )
  return { row, host }
}

test('once: the row is a success', async () => {
  const { row, host } = await endOf(1)
  assert.equal(row.status, 'success')
  assert.deepEqual(
    row.parts.filter((part) => part.type === 'text'),
    [{ type: 'text', text: 'kept', state: 'done' }],
  )
  await host.stop()
})

test('ten times: the row is an error with its code, what was shown is kept, the next message works', async () => {
  const { row, host } = await endOf(10)
  assert.deepEqual([row.status, row.errorCode], ['error', 'TERMINAL_PERSISTENCE_FAILED'])
  await host.stop()
})

test('refused, and the quarantine is refused too: the row is closed when the session is used again', async () => {
  const faults = failingEnds(times(2, FENCE))
  const host = await startTestHost({ store: faults.wrap })
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say lost' })
  await until('both refusals', () => faults.left() === 0)
  const rowOf = async (replyTo: string): Promise<Message | null> =>
    (await host.client.sessions.transcript(sessionId)).items.find((each) => each.replyTo === replyTo && each.status !== 'pending') ?? null
  const next = await host.client.sessions.send(sessionId, { text: 'say next' })
  const answered = await until('the next answer', () => rowOf(next.messageId))
  assert.equal(answered.status, 'success')
  assert.equal((await rowOf(messageId))?.status, 'interrupted')
  await host.stop()
})

test('refused, and the quarantine cannot be saved for long: the row says why it closed, and nothing has run meanwhile', async () => {
  const faults = failingEnds([FENCE, ...times(10, DISK)])
  const host = await startTestHost({ store: faults.wrap, clock: hastyClock(50) })
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'wait a' })
  const waiting = await host.client.sessions.send(sessionId, { text: 'say later', when: 'queue' })
  host.driver.release('a')
  const items = async (): Promise<Message[]> => (await host.client.sessions.transcript(sessionId)).items
  const row = await until(
    'the row to be final',
    async () => (await items()).find((each) => each.replyTo === messageId && each.status !== 'pending') ?? null,
  )
  assert.deepEqual([row.errorCode, faults.left()], ['INTERNAL_QUARANTINE', 0])
  assert.equal(
    (await items()).some((each) => each.replyTo === waiting.messageId),
    false,
  )
  await host.stop()
})

test('BUG-32 a writer holds the lock 8 s: no turn is lost', async () => {
  // The waits are the real ones, run faster: 8 s of them pass while the lock is held.
  const factor = 40
  let lockedUntil = 0
  const wrap = (store: Store): Store => ({
    ...store,
    commit: (commit, content) =>
      performance.now() < lockedUntil && commit.writes.some((write) => write.type === 'close-turn')
        ? { outcome: 'failed', message: 'database is locked' }
        : store.commit(commit, content),
  })
  const host = await startTestHost({ store: wrap, clock: hastyClock(factor) })
  const sessions = await Promise.all(Array.from({ length: 10 }, (_, n) => furnishSession(host.client, { key: `s${n}` })))
  lockedUntil = performance.now() + 8000 / factor
  await Promise.all(sessions.map(({ sessionId }) => host.client.sessions.send(sessionId, { text: 'repeat 10 word' })))
  for (const { sessionId } of sessions) {
    const row = await until(
      'the answer',
      async () =>
        (await host.client.sessions.transcript(sessionId)).items.find((each) => each.role === 'assistant' && each.status !== 'pending') ??
        null,
    )
    assert.equal(row.status, 'success')
    assert.equal(
      row.parts
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('')
        .match(/word/g)?.length,
      10,
    )
  }
  await host.stop()
})

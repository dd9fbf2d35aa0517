/**
 * A reader cut at every event of a turn, reconnecting with its cursor at once, after the end, and
 * after a restart of the host: its view equals a fresh read, and no chunk is applied twice.
 */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { applyEvent, applyPage, emptyView, type SessionView, type WheelhouseClient } from '@wheelhouse/client'
import type { StreamEvent } from '@wheelhouse/client/protocol'
import { furnishSession, makeTempDir, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts, type TestHost } from '../support/host.ts'

afterEach(() => stopTestHosts())

const SCRIPT = [
  'think well',
  'say one two three',
  'tool Bash {"command":"ls"} -> a b',
  'ask Bash {"command":"rm x"} -> gone',
  'wait go',
  'repeat 5 word',
  'say end',
].join('\n')

/** Reads until `enough`, applying what arrives; stops without a word to the host, as a lost line does. */
async function read(
  client: WheelhouseClient,
  view: SessionView,
  enough: (view: SessionView, event: StreamEvent, count: number) => boolean,
): Promise<SessionView> {
  const stream = client.stream({ only: view.sessionId, sessions: [[view.sessionId, view.cursor]] })
  let count = 0
  for await (const event of stream) {
    if (event.type === 'chunk') judgeChunk(view, event)
    view = applyEvent(view, event)
    assert.equal(view.gap, false)
    if (event.type === 'snapshot' || event.type === 'resync')
      view = applyPage(view, await client.sessions.transcript(view.sessionId), false)
    count += 1
    if (enough(view, event, count)) break
  }
  stream.close()
  return view
}

/** The host gives a chunk again only for a row that changed since the cursor (PROTOCOL, How a connection begins); the view never applies it again. */
function judgeChunk(view: SessionView, event: Extract<StreamEvent, { type: 'chunk' }>): void {
  // A page read meanwhile may have brought the final form: then its chunks are dropped.
  if (view.rows.some((row) => row.id === event.messageId && row.status !== 'pending')) return
  const had = view.pending[event.messageId]?.n ?? 0
  assert.ok(event.n <= had + 1, `chunk ${event.n} came after ${had}`)
}

const isOver = (view: SessionView): boolean =>
  view.turn === null &&
  view.rows.some((row) => row.role === 'assistant') &&
  view.rows.every((row) => row.status !== 'pending') &&
  view.queue.length === 0

/** A turn with everything in it; resolves when it is over. */
async function play(host: TestHost, sessionId: string, key: string): Promise<void> {
  await host.client.sessions.send(sessionId, { text: SCRIPT.replace('wait go', `wait ${key}`) })
  const approval = await until(
    'the card',
    async () => (await host.client.approvals.list({ sessionId, status: 'pending' })).items[0] ?? null,
  )
  await host.client.sessions.send(sessionId, { text: 'say queued', when: 'queue' })
  await host.client.approvals.answer(approval.id, { decision: 'allow' })
  host.driver.release(key)
  await until('both turns to end', async () => {
    const { turn, queue } = await host.client.sessions.get(sessionId)
    return turn === null && queue.length === 0
  })
}

async function judge(client: WheelhouseClient, view: SessionView): Promise<void> {
  const fresh = await client.sessions.transcript(view.sessionId)
  const snapshot = await client.sessions.get(view.sessionId)
  assert.deepEqual(view.rows, fresh.items)
  assert.deepEqual(view.queue, snapshot.queue)
  assert.deepEqual(
    view.approvals.filter((approval) => approval.status === 'pending'),
    snapshot.approvals,
  )
}

/** How many events an uncut reader of that turn gets. */
async function countEvents(): Promise<number> {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  let events = 0
  const reading = read(host.client, emptyView(sessionId), (view, _event, count) => {
    events = count
    return isOver(view) && view.rows.length === 4
  })
  await play(host, sessionId, 'count')
  await judge(host.client, await reading)
  await host.stop()
  return events
}

for (const when of ['at once', 'after the end', 'after a restart'] as const) {
  test(`BUG-36 BUG-37 a reader cut at every event that reconnects ${when} sees the same truth`, { timeout: 240_000 }, async () => {
    const total = await countEvents()
    assert.ok(total > 20)
    for (let cut = 1; cut <= total; cut += 1) {
      const dir = makeTempDir('cut')
      let host = await startTestHost({ dataDir: dir.path })
      const { sessionId } = await furnishSession(host.client)
      const over = (view: SessionView): boolean => isOver(view) && view.rows.length === 4
      const first = read(host.client, emptyView(sessionId), (view, _event, count) => count >= cut || over(view))
      const playing = play(host, sessionId, 'k')
      let view = await first
      if (when === 'at once') view = over(view) ? view : await read(host.client, view, over)
      await playing
      if (when === 'after a restart') {
        await host.stop()
        host = await startTestHost({ dataDir: dir.path })
      }
      const seen: string[] = []
      if (!over(view)) {
        view = await read(host.client, view, (now, event) => {
          seen.push(event.type)
          return over(now)
        })
      }
      assert.ok(!seen.includes('resync'), 'a cursor of this data directory continues')
      await judge(host.client, view)
      await host.stop()
      dir.remove()
    }
  })
}

test('a cursor past the last chunk gets exactly one resync, then everything', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  await host.client.sessions.send(sessionId, { text: 'say one\nwait x' })
  let view = await read(host.client, emptyView(sessionId), (now) => Object.values(now.pending).some((each) => each.n >= 2))
  const [epoch, rev, n] = (view.cursor ?? '').split('.')
  view = { ...emptyView(sessionId), cursor: `${epoch}.${rev}.${Number(n) + 50}` }
  const types: string[] = []
  view = await read(host.client, view, (now, event) => {
    types.push(event.type)
    return Object.values(now.pending).some((each) => each.n >= 2)
  })
  assert.equal(types.filter((type) => type === 'resync').length, 1)
  host.driver.release('x')
  view = await read(host.client, view, isOver)
  await judge(host.client, view)
  await host.stop()
})

test('a cursor behind which too much has changed gets exactly one resync', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const { cursor: old } = await host.client.sessions.transcript(sessionId)
  // More rows than are read in one go, in the way a person's hundred messages would make them.
  await host.client.sessions.send(sessionId, { text: 'wait a' })
  while (host.host.engine.runtime.session(sessionId)?.rev !== undefined) {
    const { messageId } = await host.client.sessions.send(sessionId, { text: 'x', when: 'queue' })
    await host.client.messages.withdraw(sessionId, messageId)
    if ((host.host.engine.runtime.session(sessionId)?.rev ?? 0) > 2 * 501 + 4) break
  }
  const begins = async (cursor: string): Promise<string[]> => {
    const stream = host.client.stream({ only: sessionId, sessions: [[sessionId, cursor]] })
    const types: string[] = []
    for await (const event of stream) {
      types.push(event.type === 'resync' ? `resync ${event.reason}` : event.type)
      if (types.length === 1) break
    }
    stream.close()
    return types
  }
  assert.deepEqual(await begins(old), ['resync cursor-too-old'])
  assert.deepEqual(await begins((await host.client.sessions.transcript(sessionId)).cursor), ['snapshot'])
})

test('a compaction is told as it begins and as it ends, well or not', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const told: string[] = []
  const stream = host.client.stream({ only: sessionId })
  const reading = (async () => {
    for await (const event of stream) if (event.type === 'compaction') told.push(`${event.phase} ${event.trigger} ${event.detail ?? '-'}`)
  })()
  await until('the reader to be there', async () => {
    await host.client.sessions.send(sessionId, { text: 'say hi\ncompact\ncompact fail too long' })
    return until('its end', async () => (await host.client.sessions.get(sessionId)).turn === null).then(() => told.length >= 4)
  })
  assert.deepEqual(told.slice(-4), ['started auto -', 'completed auto -', 'started auto -', 'failed auto too long'])
  stream.close()
  await reading
})

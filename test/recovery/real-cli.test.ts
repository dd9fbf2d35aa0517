/**
 * kill -9 of a host that runs the real Claude Code CLI against the practice model server, at named
 * moments. The server outlives the host: its request log and a file that the agent's tool wrote are
 * the witnesses that nothing ran twice.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import { startPracticeServer, type PracticeServer } from '../../packages/runtime/src/models/practice/server.ts'
import { furnishSession, makeTempDir, startDaemon, until, type Daemon } from '../support/daemon.ts'
import type { Point } from '../support/host-main.ts'
import { allGone, recordedProcesses } from '../support/processes.ts'

type Life = { daemon: Daemon; sessionId: string; practice: PracticeServer; workspace: string; dataDir: string }

/** As root, the CLI takes bypassPermissions only when told that it is sandboxed (decision 21). */
const ENV = { IS_SANDBOX: '1' }
const STREAM = '#practice: drip 100; long 100'
const TOOL =
  '#practice: say "I begin."; tool Bash {"command":"echo ran >> ran.txt; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done"}; say "finished"'

async function live(killAt: Point | undefined, run: (life: Life) => Promise<void>): Promise<void> {
  const dir = makeTempDir('cli')
  const practice = await startPracticeServer({ keepBodies: true })
  const workspace = join(dir.path, 'workspace')
  const dataDir = join(dir.path, 'data')
  mkdirSync(workspace)
  const life: Life = {
    daemon: await startDaemon({ dataDir, env: ENV, ...(killAt === undefined ? {} : { killAt }) }),
    sessionId: '',
    practice,
    workspace,
    dataDir,
  }
  try {
    const { sessionId } = await furnishSession(life.daemon.client, {
      type: 'claude-code',
      baseUrl: practice.url,
      workspace,
      mode: 'bypassPermissions',
    })
    life.sessionId = sessionId
    await run(life)
  } finally {
    await life.daemon.kill()
    await practice.close()
    dir.remove()
  }
}

/** A new host over what the dead one left; the recorded processes must be gone within their time. */
async function restart(life: Life): Promise<void> {
  await life.daemon.gone
  const left = recordedProcesses(life.dataDir)
  life.daemon = await startDaemon({ dataDir: life.dataDir, env: ENV })
  await allGone(left)
}

const rowsOf = async ({ daemon, sessionId }: Life): Promise<Message[]> => (await daemon.client.sessions.transcript(sessionId)).items
const answerOf = async (life: Life, messageId: string): Promise<Message | null> =>
  (await rowsOf(life)).find((row) => row.replyTo === messageId && row.status !== 'pending') ?? null
const requestsWith = (life: Life, text: string): number =>
  life.practice.requests.filter((request) => JSON.stringify(request).includes(text)).length
const ran = ({ workspace }: Life): number =>
  existsSync(join(workspace, 'ran.txt')) ? readFileSync(join(workspace, 'ran.txt'), 'utf8').trim().split('\n').length : 0

async function nextWorks(life: Life): Promise<void> {
  const next = await life.daemon.client.sessions.send(life.sessionId, { text: '#practice: say "still here"' })
  const answer = await until('the next message to be answered', () => answerOf(life, next.messageId), 60_000)
  assert.equal(answer.status, 'success', answer.errorText ?? '')
}

test('BUG-16 kill -9 while connecting: the unsent message runs after the restart, once', { timeout: 120_000 }, () =>
  live({ point: 'after-effect:connect', n: 1 }, async (life) => {
    const sent = await life.daemon.client.sessions
      .send(life.sessionId, { text: '#practice: say "first"' }, { idempotencyKey: 'k' })
      .catch(() => null)
    await restart(life)
    const again = await life.daemon.client.sessions.send(life.sessionId, { text: '#practice: say "first"' }, { idempotencyKey: 'k' })
    if (sent !== null) assert.equal(again.messageId, sent.messageId)
    const answer = await until('the answer', () => answerOf(life, again.messageId), 60_000)
    assert.equal(answer.status, 'success')
    assert.equal((await rowsOf(life)).filter((row) => row.role === 'user').length, 1)
    await nextWorks(life)
  }),
)

test('BUG-16 kill -9 after sentAt was committed and before the agent got it: interrupted, not run again', { timeout: 120_000 }, () =>
  live({ point: 'before-effect:send', n: 1 }, async (life) => {
    const { messageId } = await life.daemon.client.sessions.send(life.sessionId, { text: '#practice: say "first"' })
    await restart(life)
    const answer = await until('the row to close', () => answerOf(life, messageId))
    assert.equal(answer.status, 'interrupted')
    assert.equal(answer.errorCode, 'TURN_INTERRUPTED')
    assert.equal(life.practice.requests.length, 0, 'the model was never asked')
    await nextWorks(life)
  }),
)

test('BUG-16 kill -9 in mid-stream: what was shown is kept, nothing runs again, the token is gone', { timeout: 120_000 }, () =>
  live(undefined, async (life) => {
    const { messageId } = await life.daemon.client.sessions.send(life.sessionId, { text: STREAM })
    const shown = await shownText(life, 40)
    await life.daemon.kill()
    await restart(life)
    const answer = await until('the row to close', () => answerOf(life, messageId))
    assert.equal(answer.status, 'interrupted')
    const kept = answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    assert.ok(kept.startsWith(shown), `shown ${JSON.stringify(shown)} but kept ${JSON.stringify(kept)}`)
    const asked = life.practice.requests.length
    await nextWorks(life)
    assert.equal(life.practice.requests.length, asked + 1, 'only the next message asked the model')
    const body = JSON.stringify(life.practice.requests.at(-1))
    assert.ok(!body.includes('long 100'), 'the interrupted conversation was not resumed')
  }),
)

test('BUG-16 kill -9 in mid-tool: the tool ran once, its card is terminal, its processes are gone', { timeout: 120_000 }, () =>
  live(undefined, async (life) => {
    const { messageId } = await life.daemon.client.sessions.send(life.sessionId, { text: TOOL })
    await until('the tool to run', () => ran(life) === 1, 60_000)
    await life.daemon.kill()
    await restart(life)
    const answer = await until('the row to close', () => answerOf(life, messageId))
    assert.equal(answer.status, 'interrupted')
    const tool = answer.parts.find((part) => part.type === 'dynamic-tool')
    assert.equal(tool?.type === 'dynamic-tool' ? tool.state : null, 'output-error')
    await nextWorks(life)
    assert.equal(ran(life), 1)
  }),
)

test('BUG-12 kill -9 right after a Stop was acknowledged: paused, and nothing of before it starts', { timeout: 120_000 }, () =>
  live(undefined, async (life) => {
    const { messageId } = await life.daemon.client.sessions.send(life.sessionId, { text: TOOL })
    const queued = await life.daemon.client.sessions.send(life.sessionId, { text: '#practice: say "queued"', when: 'queue' })
    await until('the tool to run', () => ran(life) === 1, 60_000)
    await life.daemon.client.sessions.stop(life.sessionId)
    await life.daemon.kill()
    await restart(life)
    const answer = await until('the row to close', () => answerOf(life, messageId))
    assert.equal(answer.status, 'paused')
    const asked = life.practice.requests.length
    await nextWorks(life)
    const { queue } = await life.daemon.client.sessions.get(life.sessionId)
    assert.deepEqual(
      queue.map(({ id, inputState, heldReason }) => ({ id, inputState, heldReason })),
      [{ id: queued.messageId, inputState: 'held', heldReason: 'stopped' }],
    )
    assert.equal(life.practice.requests.length, asked + 1)
    assert.equal(requestsWith(life, 'say \\\\"queued'), 0)
  }),
)

/** Reads the stream until so many characters of the answer were shown; gives them. */
async function shownText({ daemon, sessionId }: Life, length: number): Promise<string> {
  let text = ''
  const stream = daemon.client.stream({ only: sessionId })
  for await (const event of stream) {
    if (event.type !== 'chunk') continue
    for (const chunk of event.chunks) if (chunk.type === 'text-delta') text += chunk.delta
    if (text.length >= length) break
  }
  stream.close()
  return text
}

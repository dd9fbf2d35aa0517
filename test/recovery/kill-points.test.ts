/**
 * kill -9 of a real host before and after every commit, and around every effect that reaches the
 * agent, of one turn with the scripted agent over stdio. After the restart: nothing accepted is
 * lost, nothing ran twice, nothing stays stuck, and the next message works.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import { allGone, recordedProcesses } from '../support/processes.ts'
import { DiedEarly, furnishSession, makeTempDir, startDaemon, until, type Daemon } from '../support/daemon.ts'
import type { Point } from '../support/host-main.ts'

/** More commits than one turn of this script makes; the loop ends at the first run that is not killed. */
const COMMITS_MAX = 20
const FIRST_LINE = 'think hm'
const SCRIPT = 'think hm\nsay one two three\ntool Bash {"command":"ls"} -> ok\nsay done'
const EFFECTS = ['connect', 'send', 'journal-chunks', 'publish-turn', 'look-for-delivery', 'reply'] as const

const isOver = (row: Message): boolean => row.role === 'assistant' && row.status !== 'pending'

async function transcript(daemon: Daemon, sessionId: string): Promise<Message[]> {
  return (await daemon.client.sessions.transcript(sessionId)).items
}

/** One life with a death in it. False: the point was never reached. */
async function survive(killAt: Point): Promise<boolean> {
  const dir = makeTempDir('kill')
  let daemon = await startDaemon({ dataDir: dir.path, killAt })
  try {
    const { sessionId } = await furnishSession(daemon.client)
    // A client that hears nothing repeats its request with the same key.
    const send = (to: Daemon): Promise<{ messageId: string }> =>
      to.client.sessions.send(sessionId, { text: SCRIPT }, { idempotencyKey: 'the-message' })
    const first = await send(daemon).catch(() => null)
    const died = await Promise.race([
      daemon.gone.then(() => true),
      until('the turn to end', async () => (await transcript(daemon, sessionId)).some(isOver)).then(
        () => false,
        () => daemon.gone.then(() => true),
      ),
    ])
    if (!died) return false
    const left = recordedProcesses(dir.path)
    daemon = await startDaemon({ dataDir: dir.path })
    await allGone(left)
    const again = await send(daemon)
    if (first !== null) assert.equal(again.messageId, first.messageId, 'the same key is the same message')
    const rows = await until('every row to be final', async () => {
      const items = await transcript(daemon, sessionId)
      return items.length > 0 && items.every((row) => row.status !== 'pending') && items.some(isOver) ? items : null
    })
    judge(rows, again.messageId, dir.path)
    const next = await daemon.client.sessions.send(sessionId, { text: 'say still here' })
    await until(
      'the next message to be answered',
      async () => (await transcript(daemon, sessionId)).find((row) => row.replyTo === next.messageId && row.status === 'success') ?? null,
    )
    return true
  } finally {
    await daemon.kill()
    dir.remove()
  }
}

function judge(rows: readonly Message[], messageId: string, dataDir: string): void {
  const inputs = rows.filter((row) => row.role === 'user')
  assert.deepEqual(
    inputs.map((row) => row.id),
    [messageId],
    'the message is there, once',
  )
  const answers = rows.filter((row) => row.replyTo === messageId)
  assert.equal(answers.length, 1, 'it has one answer')
  const [answer] = answers
  assert.ok(answer !== undefined && ['success', 'interrupted'].includes(answer.status ?? ''), `it ended as ${answer?.status}`)
  for (const part of answer.parts) if (part.type === 'dynamic-tool') assert.match(part.state, /^output-/, 'no tool call stays open')
  const seen = agentHistory(dataDir).filter((input) => input.includes(FIRST_LINE)).length
  assert.ok(seen <= 1, `the agent has it ${seen} times`)
  if (answer.status === 'success') assert.equal(seen, 1, 'what was answered was given to the agent')
}

/** What the scripted agents wrote down themselves: one line an input, in every conversation there ever was. */
function agentHistory(dataDir: string): string[] {
  const home = join(dataDir, 'runtimes', 'scripted')
  const files = existsSync(home) ? readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')) : []
  return files.flatMap((name) => readFileSync(join(home, name), 'utf8').split('\n'))
}

/** Lives are folders and processes of their own; most of their time they wait for the disk or for each other. */
const AT_ONCE = 2

describe('a host that is killed', { concurrency: AT_ONCE }, () => {
  for (const point of ['before-commit', 'after-commit'] as const) {
    test(`kill -9 ${point.replace('-', ' ')} of every commit of a turn`, { timeout: 240_000 }, async () => {
      let reached = 0
      for (let n = 1; n <= COMMITS_MAX; n += 1) {
        if (!(await survive({ point, n }))) break
        reached = n
      }
      assert.ok(reached >= 3, `only ${reached} commits were met`)
      assert.ok(reached < COMMITS_MAX, 'a turn makes a bounded number of commits')
    })
  }

  for (const effect of EFFECTS) {
    test(`kill -9 before and after the effect ${effect}`, { timeout: 60_000 }, async () => {
      for (const side of ['before', 'after'] as const)
        await survive({ point: `${side}-effect:${effect}`, n: 1 }).catch((error: unknown) => {
          if (!(error instanceof DiedEarly)) throw error
        })
    })
  }
})

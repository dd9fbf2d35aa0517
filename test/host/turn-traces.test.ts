import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TraceSpan } from '../../packages/runtime/src/host/turn-traces.ts'
import { furnishSession, makeTempDir, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts, type TestHost } from '../support/host.ts'

after(stopTestHosts)

const fileOf = ({ dataDir }: TestHost, sessionId: string): string => join(dataDir, 'traces', `${sessionId}.jsonl`)

const spansIn = (file: string): TraceSpan[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceSpan)

async function say(host: TestHost, sessionId: string, text: string): Promise<string> {
  const { messageId } = await host.client.sessions.send(sessionId, { text })
  let row: string | null = null
  await until('the end of the turn', async () => {
    const { items } = await host.client.sessions.transcript(sessionId)
    row = items.find((each) => each.replyTo === messageId && each.status !== 'pending')?.id ?? null
    return row !== null
  })
  return row ?? ''
}

test('the spans of a turn are flushed to the history file of its session when its row is final', async () => {
  const host = await startTestHost({ traces: true })
  const { sessionId } = await furnishSession(host.client)
  const good = await say(host, sessionId, 'say a secret sentence')
  const bad = await say(host, sessionId, 'fail PROVIDER_ERROR 500 no more')
  const file = fileOf(host, sessionId)
  await until(
    'both turns in the file',
    () => existsSync(file) && spansIn(file).some((span) => span.attributes['wheelhouse.message.id'] === bad),
  )

  const spans = spansIn(file)
  const turns = spans.filter((span) => span.name === 'agent-session.turn')
  assert.deepEqual(
    turns.map(({ attributes, status }) => [
      attributes['wheelhouse.message.id'],
      attributes['wheelhouse.status'],
      attributes['error.type'],
      status,
    ]),
    [
      [good, 'success', null, 'STATUS_CODE_OK'],
      [bad, 'error', 'PROVIDER_ERROR', 'STATUS_CODE_ERROR'],
    ],
  )
  const [turn] = turns
  assert.ok(turn !== undefined && BigInt(turn.endTimeUnixNano) >= BigInt(turn.startTimeUnixNano))
  const calls = spans.filter((span) => span.parentSpanId === turn.spanId)
  assert.deepEqual(
    calls.map((call) => [call.name, call.traceId, typeof call.attributes['gen_ai.usage.output_tokens']]),
    [['agent-session.provider-call', turn.traceId, 'number']],
  )
  assert.ok(!readFileSync(file, 'utf8').includes('secret sentence'), 'a trace holds nothing that was written')
  assert.equal(statSync(file).mode & 0o077, 0)

  await host.client.sessions.remove(sessionId, (await host.client.sessions.get(sessionId)).session.rev)
  await until('the file to go with its session', () => !existsSync(file))
})

test('a row that continues a turn after a steer stands below the one before it, in one trace', async () => {
  const host = await startTestHost({ traces: true })
  const { sessionId } = await furnishSession(host.client)
  await host.client.sessions.send(sessionId, { text: 'tool look {} wait key\nsay done' })
  await until('the tool', async () => (await host.client.sessions.get(sessionId)).turn?.phase === 'open')
  await host.client.sessions.send(sessionId, { text: 'say steered', when: 'steer' })
  host.driver.release('key')
  const file = fileOf(host, sessionId)
  await until(
    'both rows in the file',
    () => existsSync(file) && spansIn(file).filter((span) => span.name === 'agent-session.turn').length > 1,
  )
  const [first, second] = spansIn(file).filter((span) => span.name === 'agent-session.turn')
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([first.parentSpanId, second.parentSpanId, second.traceId], [null, first.spanId, first.traceId])
  assert.equal(first.attributes['wheelhouse.boundary'], 'row-roll')
})

test('a host that was not told to keeps no traces', async () => {
  const dir = makeTempDir('no-traces')
  const host = await startTestHost({ dataDir: dir.path })
  const { sessionId } = await furnishSession(host.client)
  await say(host, sessionId, 'say hi')
  await host.stop()
  assert.deepEqual([existsSync(join(dir.path, 'wheelhouse.db')), existsSync(join(dir.path, 'traces'))], [true, false])
  dir.remove()
})

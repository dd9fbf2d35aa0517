/** What meets a session, and in which order, when its commits fail and its agent answers at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentSessionRuntimeService, RETRY_DELAYS_MS } from '../../packages/runtime/src/host/runtime-service.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import { SimClock } from '../../sim/clock.ts'
import { faultyStore } from '../../sim/faulty-store.ts'
import { furnishStore } from '../../sim/furnish.ts'

test('an agent that is gone the moment it is closed: what could not be saved still comes first', () => {
  const clock = new SimClock()
  const raw = openSqliteStore({ path: ':memory:' })
  furnishStore(raw, 'scripted', ['s'], clock.iso())
  const faults = faultyStore(raw)
  const met: string[] = []
  let ids = 0
  let gone = false
  const runtime: AgentSessionRuntimeService = new AgentSessionRuntimeService({
    store: faults.store,
    clock,
    newId: () => `id-${(ids += 1)}`,
    generationFloor: 0,
    resolve: (writes) =>
      Object.fromEntries(writes.flatMap((write) => (write.type === 'close-turn' ? [[write.messageId, { parts: [], metadata: {} }]] : []))),
    publish: () => undefined,
    interpret: (session, effect) => {
      if (effect.type !== 'close-connection' || gone) return
      gone = true
      runtime.driverEvent(session.id, effect.generation, { type: 'connection-closed', code: null, message: '' })
    },
    abandoned: () => undefined,
    trace: (_before, event) => met.push(event.type === 'driver' ? event.event.type : event.type),
    report: () => undefined,
  })
  runtime.post('s', { type: 'compact-requested', commandId: 'c', modelId: 'm' })
  const { connection } = runtime.session('s') ?? assert.fail('the session is loaded')
  if (connection.phase === 'none') assert.fail('an agent is coming up')
  const { generation } = connection
  runtime.driverEvent('s', generation, { type: 'connected', resumed: false })
  met.length = 0
  const tries = 1 + RETRY_DELAYS_MS.length
  faults.failNext('failed', tries)
  runtime.driverEvent('s', generation, { type: 'resume-token', token: 't' })
  while (clock.next() !== null) clock.advance(clock.next() ?? 0)
  assert.deepEqual(met, [
    ...Array.from({ length: tries }, () => 'resume-token'),
    'terminal-persistence-failed',
    'resume-token',
    'connection-closed',
  ])
  raw.close()
})

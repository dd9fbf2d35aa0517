/** A host that is told to stop loses no more than one that is killed. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { createScriptedDriver } from '../../packages/runtime/src/driver/kit/index.ts'
import type { AgentSessionRuntimeDriver, DriverEvent } from '../../packages/runtime/src/driver/contract.ts'
import { furnishSession, makeTempDir, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts } from '../support/host.ts'

afterEach(() => stopTestHosts())

/** The scripted agent, which does not come up until `isUp` says so; it goes when it is told to. */
function lateDriver(isUp: () => boolean): AgentSessionRuntimeDriver {
  const scripted = createScriptedDriver({ transport: 'in-process' })
  return {
    ...scripted,
    connect(input) {
      const emit = (event: DriverEvent): void => {
        if (isUp() || event.type === 'connection-closed') input.emit(event)
      }
      return scripted.connect({ ...input, emit })
    },
  }
}

test('a message whose agent still comes up when the host stops runs at the next start, once', async () => {
  const dir = makeTempDir('orderly')
  let isUp = false
  const options = { dataDir: dir.path, drivers: [lateDriver(() => isUp)] }
  let host = await startTestHost(options)
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'say hi' })
  await host.client.sessions.send(sessionId, { text: 'say more', when: 'queue' })
  await until('the agent to be coming up', () => host.host.engine.runtime.session(sessionId)?.connection.phase === 'connecting')
  await host.stop()

  isUp = true
  host = await startTestHost(options)
  await until('both answers', async () => {
    const { items } = await host.client.sessions.transcript(sessionId)
    return items.filter((row) => row.status === 'success').length === 2
  })
  const { items } = await host.client.sessions.transcript(sessionId)
  assert.deepEqual(
    items.map((row) => [row.role, row.status, row.replyTo === messageId]),
    [
      ['user', null, false],
      ['assistant', 'success', true],
      ['user', null, false],
      ['assistant', 'success', false],
    ],
  )
  await host.stop()
  dir.remove()
})

test('a command that comes when the host has stopped is told so, and waits for nothing', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  await host.stop()
  await assert.rejects(host.host.runQueue(sessionId), { code: 'SHUTTING_DOWN' })
})

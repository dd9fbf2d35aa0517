import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '@wheelhouse/client/protocol'
import type { Effect } from '../../packages/runtime/src/core/effect.ts'
import type { AgentRuntimeConnection, SendInput } from '../../packages/runtime/src/driver/contract.ts'
import { AiService, MissingRuntimeMetadata, type StreamRequest } from '../../packages/runtime/src/host/ai-service.ts'
import { Connections } from '../../packages/runtime/src/host/connections.ts'
import { createScriptedDriver } from '../../packages/runtime/src/driver/kit/index.ts'
import { startTestHost } from '../support/host.ts'
import { furnishSession, until } from '../support/daemon.ts'

const admission: Extract<Effect, { type: 'send' }> = {
  type: 'send',
  generation: 1,
  turnId: 't',
  messageId: 'r',
  inputId: 'm',
  kind: 'user',
  steer: false,
  headless: false,
}
const request: StreamRequest = {
  topicId: 'agent-session:S',
  runtime: { kind: 'agent-session', sessionId: 'S', turnId: 't' },
  messageId: 'r',
  inputId: 'm',
  admission,
}

function service(): { ai: AiService; posted: unknown[] } {
  const posted: unknown[] = []
  const connections = new Connections({
    facts: () => ({ ok: false, code: 'CONNECT_FAILED', message: '' }),
    emit: () => undefined,
    report: () => undefined,
  })
  const messages = { input: (): Message | null => null } as unknown as ConstructorParameters<typeof AiService>[0]['messages']
  return { ai: new AiService({ connections, messages, follow: (_id, event) => void posted.push(event) }), posted }
}

test('an agent-session topic without the metadata of its turn is refused', () => {
  const { ai, posted } = service()
  const { runtime: _, ...bare } = request
  assert.throws(() => ai.streamText(bare), MissingRuntimeMetadata)
  assert.throws(() => ai.streamText({ ...request, topicId: 'agent-session:OTHER' }), MissingRuntimeMetadata)
  assert.throws(() => ai.streamText({ ...request, topicId: 'chat:S' }), MissingRuntimeMetadata)
  assert.deepEqual(posted, [])
})

test('a turn for which there is no connection comes back as a failed send', () => {
  const { ai, posted } = service()
  ai.streamText(request)
  assert.deepEqual(
    posted.map((event) => (event as { type: string }).type),
    ['send-failed'],
  )
})

test('a turn of an agent session is routed to openTurnStream', async () => {
  // The real host and the real scripted agent; only what passes the contract is looked at.
  const sends: SendInput[] = []
  const scripted = createScriptedDriver({ transport: 'in-process' })
  const host = await startTestHost({
    drivers: [
      {
        ...scripted,
        connect(input) {
          const connection = scripted.connect(input)
          return new Proxy(connection, {
            get(target, name: keyof AgentRuntimeConnection) {
              if (name !== 'send') return typeof target[name] === 'function' ? target[name].bind(target) : target[name]
              return (given: SendInput) => {
                sends.push(given)
                target.send(given)
              }
            },
          })
        },
      },
    ],
  })
  try {
    const { sessionId } = await furnishSession(host.client)
    const sent = await host.client.sessions.send(sessionId, { text: 'say hi' })
    await until('the answer', async () => (await host.client.sessions.transcript(sessionId)).items.some((row) => row.status === 'success'))
    assert.deepEqual(sends, [
      {
        turnId: sent.turnId,
        inputId: sent.messageId,
        kind: 'user',
        parts: [{ type: 'text', text: 'say hi' }],
        steer: false,
        headless: false,
        seed: null,
      },
    ])
  } finally {
    await host.stop()
  }
})

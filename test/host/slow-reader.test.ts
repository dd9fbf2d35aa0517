import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { afterEach, test } from 'node:test'
import { LIMITS, type StreamEvent } from '@wheelhouse/client/protocol'
import { furnishSession, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts } from '../support/host.ts'

/** What one turn says. */
const PIECE_BYTES = 512 * 1024
const WORDS = 8

afterEach(() => stopTestHosts())

/** A reader that asks for the stream and reads nothing until `read` is called; then it collects what comes. */
function stalledReader(
  host: { url: string; token: string },
  sessionId: string,
): Promise<{ socket: Socket; events: StreamEvent[]; read(): void }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(host.url)
    const events: StreamEvent[] = []
    let rest = ''
    const read = (): void => {
      socket.on('data', (data: Buffer) => {
        rest += data.toString()
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const line = /^data: (.*)$/m.exec(rest.slice(0, end))?.[1]
          rest = rest.slice(end + 2)
          if (line !== undefined) events.push(JSON.parse(line) as StreamEvent)
        }
      })
    }
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET /v1/sessions/${sessionId}/stream HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${host.token}\r\n\r\n`,
      )
      resolve({ socket, events, read })
    })
    socket.on('error', reject)
  })
}

test(
  'a reader that stalls is told to resync, once, when it reads again; the others get everything meanwhile',
  { timeout: 60_000 },
  async () => {
    const host = await startTestHost()
    const { sessionId } = await furnishSession(host.client)
    const { socket, events, read } = await stalledReader(host, sessionId)
    // More than the kernel and the host keep for it, in pieces that a reader who reads can follow.
    const turns = Math.ceil((LIMITS.subscriberBufferBytes * 4) / PIECE_BYTES)
    let ended = 0
    const stream = host.client.stream({ only: sessionId })
    const reading = (async () => {
      for await (const event of stream) {
        assert.notEqual(event.type, 'resync')
        if (event.type === 'turn' && event.phase === 'ended') ended += 1
        if (ended === turns) break
      }
    })()
    for (let turn = 1; turn <= turns; turn += 1) {
      await host.client.sessions.send(sessionId, { text: `repeat ${WORDS} ${'w'.repeat(PIECE_BYTES / WORDS)}` })
      await until('the other reader to follow', () => ended === turn)
    }
    await reading
    stream.close()
    read()
    await until('the stalled reader to be told', () => events.some((event) => event.type === 'resync'))
    const { messageId } = await host.client.sessions.send(sessionId, { text: 'say after' })
    await until('it to go on', () =>
      events.some((event) => event.type === 'row' && event.row.replyTo === messageId && event.row.status === 'success'),
    )
    const resyncs = events.filter((event) => event.type === 'resync')
    assert.equal(resyncs.length, 1)
    assert.equal(resyncs[0]?.type === 'resync' ? resyncs[0].reason : null, 'slow-subscriber')
    socket.destroy()
  },
)

/** 1,000 subscribers of one session at 10 events a second, 10 of them stalled. */
import { connect, type Socket } from 'node:net'
import { call, follow, furnish, ms, percentile, sorted, start, type Finding } from './lib.ts'

const SUBSCRIBERS = 1000
const STALLED = 10
const EVENTS = 100
const EVERY_MS = 100
const LAG_P99_MS = 100
const MIB = 1024 * 1024
const RSS_MIB = STALLED * 4 + 64

export async function fanOut(folder: string): Promise<Finding[]> {
  const host = await start('./host-main.ts', [`${folder}/fan-out`, 'in-process', '0'])
  const id = await furnish(host)
  const path = `/v1/sessions/${id}/stream`
  const got = Array.from({ length: SUBSCRIBERS - STALLED }, () => 0)
  const lags: number[] = []
  /** When each event was first seen by anybody: the machine has one clock, the host's own send time is before it. */
  const firstSeen = new Map<number, number>()
  const ends: (() => void)[] = []
  for (const index of got.keys()) {
    ends.push(
      await follow(host, path, (type, data) => {
        if (type !== 'chunk' || !data.includes('tick')) return
        const event = JSON.parse(data) as { n: number; chunks: { type: string; delta?: string }[] }
        got[index] = (got[index] ?? 0) + event.chunks.filter((chunk) => chunk.delta?.includes('tick') === true).length
        const now = performance.now()
        const first = firstSeen.get(event.n)
        if (first === undefined) firstSeen.set(event.n, now)
        else lags.push(now - first)
      }),
    )
  }
  const stalled = await Promise.all(Array.from({ length: STALLED }, () => stall(host, path)))
  const before = await host.stats()
  await call(host, 'POST', `/v1/sessions/${id}/messages`, {
    text: Array.from({ length: EVENTS }, () => `say tick\nsleep ${EVERY_MS}`).join('\n'),
  })
  await done(() => got.every((count) => count >= EVENTS), EVENTS * EVERY_MS * 3)
  const after = await host.stats()
  for (const end of ends) end()
  for (const socket of stalled) socket.destroy()
  await host.stop()
  const all = got.filter((count) => count === EVENTS).length
  const grown = (after.rss - before.rss) / MIB
  const p99 = percentile(sorted(lags), 0.99)
  return [
    {
      name: `${SUBSCRIBERS - STALLED} subscribers beside ${STALLED} stalled ones that got everything`,
      figure: String(all),
      bound: String(SUBSCRIBERS - STALLED),
      ok: all === SUBSCRIBERS - STALLED,
    },
    { name: 'fan-out lag p99, first to last reader of an event', figure: ms(p99), bound: `${LAG_P99_MS} ms`, ok: p99 <= LAG_P99_MS },
    { name: 'host RSS growth of the fan-out', figure: `${grown.toFixed(1)} MiB`, bound: `${RSS_MIB} MiB`, ok: grown <= RSS_MIB },
    {
      name: 'host CPU a delivery',
      figure: `${((after.cpuUs - before.cpuUs) / (EVENTS * SUBSCRIBERS)).toFixed(1)} µs`,
      bound: '-',
      ok: true,
    },
  ]
}

/** A reader that asks and never reads. */
function stall(host: { url: string; token: string }, path: string): Promise<Socket> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(host.url)
    const socket = connect(Number(port), hostname, () => {
      socket.pause()
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${host.token}\r\n\r\n`)
      resolve(socket)
    })
    socket.on('error', () => undefined)
  })
}

async function done(ask: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!ask() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Message in to first chunk at a subscriber, beside a bare echo in the same run; commits and CPU of a message. */
import { call, follow, furnish, ms, percentile, sorted, start, type Finding, type Target } from './lib.ts'

const WARM_UP = 20
const MESSAGES = 300
const CPU_MESSAGES = 1000
/** Before CPU is counted: a host runs for days, so it is measured with its code compiled. */
const CPU_WARM_UP = 3000
/** Allowed beyond the echo. */
const P50_MS = 3
const P99_MS = 10
const CPU_US = 1000

/** Sends one message after the other, each when the turn before is over; gives the times to the first chunk. */
async function times(target: Target, stream: string, post: string, text: string, count: number): Promise<number[]> {
  let onFirst: (() => void) | null = null
  let onEnd: (() => void) | null = null
  const end = await follow(target, stream, (type, data) => {
    if (type === 'chunk') onFirst?.()
    if (type === 'turn' && data.includes('"phase":"ended"')) onEnd?.()
  })
  const made: number[] = []
  for (let n = 0; n < count; n += 1) {
    const ended = new Promise<void>((resolve) => (onEnd = resolve))
    const began = performance.now()
    const first = new Promise<number>((resolve) => (onFirst = () => resolve(performance.now() - began)))
    const { status, body } = await call(target, 'POST', post, { text })
    if (status !== 202) throw new Error(`${status}: ${body}`)
    made.push(await first)
    onFirst = null
    await ended
  }
  end()
  return made
}

export async function latency(folder: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const fsyncMs of [0, 10]) {
    const echo = await start('./echo-main.ts', [`${folder}/echo-${fsyncMs}`, String(fsyncMs)])
    await times(echo, '/stream', '/', 'say hi', WARM_UP)
    const bare = sorted(await times(echo, '/stream', '/', 'say hi', MESSAGES))
    await echo.stop()
    for (const transport of ['in-process', 'stdio']) {
      const host = await start('./host-main.ts', [`${folder}/host-${fsyncMs}-${transport}`, transport, String(fsyncMs)])
      const id = await furnish(host)
      const paths = [`/v1/sessions/${id}/stream`, `/v1/sessions/${id}/messages`] as const
      await times(host, ...paths, 'say hi', WARM_UP)
      const made = sorted(await times(host, ...paths, 'say hi', MESSAGES))
      await host.stop()
      for (const [p, bound] of [
        [0.5, P50_MS],
        [0.99, P99_MS],
      ] as const) {
        const [ours, theirs] = [percentile(made, p), percentile(bare, p)]
        findings.push({
          name: `first chunk p${p * 100}, ${transport}, fsync +${fsyncMs} ms`,
          figure: `${ms(ours)} against echo ${ms(theirs)} (x${(ours / theirs).toFixed(2)})`,
          bound: `echo + ${bound} ms`,
          ok: ours <= theirs + bound,
        })
      }
    }
  }
  return [...findings, ...(await costs(folder))]
}

/** Durable commits on the path of a warm message, and CPU of the host over many. */
async function costs(folder: string): Promise<Finding[]> {
  const host = await start('./host-main.ts', [`${folder}/costs`, 'stdio', '0'])
  const id = await furnish(host)
  const paths = [`/v1/sessions/${id}/stream`, `/v1/sessions/${id}/messages`] as const
  const script = 'repeat 10 word'
  await times(host, ...paths, script, WARM_UP)
  const before = await host.stats()
  // Held open, so that only what lies between message and first chunk is counted.
  await call(host, 'POST', paths[1], { text: 'say x\nwait bench' })
  await new Promise<void>((resolve) => {
    void follow(host, paths[0], (type) => {
      if (type === 'chunk') resolve()
    })
  })
  const path = (await host.stats()).commits - before.commits
  await call(host, 'POST', `/v1/sessions/${id}/stop`, {})
  await times(host, ...paths, script, CPU_WARM_UP)
  const began = await host.stats()
  await times(host, ...paths, script, CPU_MESSAGES)
  const done = await host.stats()
  await host.stop()
  const cpu = (done.cpuUs - began.cpuUs) / CPU_MESSAGES
  return [
    { name: 'durable commits on the path of a warm message', figure: String(path), bound: 'exactly 1', ok: path === 1 },
    {
      name: 'commits and chunk appends of a whole message',
      figure: `${((done.commits - began.commits) / CPU_MESSAGES).toFixed(2)} and ${((done.appends - began.appends) / CPU_MESSAGES).toFixed(2)}`,
      bound: '-',
      ok: true,
    },
    { name: 'host CPU a message of 10 chunks, stdio', figure: `${(cpu / 1000).toFixed(3)} ms`, bound: '1 ms', ok: cpu <= CPU_US },
  ]
}

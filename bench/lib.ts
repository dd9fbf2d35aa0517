/** What the benchmarks share: processes, requests, percentiles. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Stats } from './host-main.ts'

export type Target = { url: string; token: string; stats(): Promise<Stats>; stop(): Promise<void>; startedMs: number }

/** Starts a server of this folder and waits for its line; `startedMs` from exec to ready. */
export async function start(script: string, args: readonly string[]): Promise<Target> {
  const began = performance.now()
  const child: ChildProcess = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (child.stdout === null || child.stdin === null) throw new Error('no pipes')
  const lines: Interface = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  const startedMs = performance.now() - began
  const { url, token } = JSON.parse(line) as { url: string; token: string }
  return {
    url,
    token,
    startedMs,
    async stats() {
      child.stdin?.write('stats\n')
      const [answer] = (await once(lines, 'line')) as [string]
      return JSON.parse(answer) as Stats
    },
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** One request over a kept connection; gives status and body. */
export function call(
  target: Pick<Target, 'url' | 'token'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${target.token}`,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    }
    const made = request(target.url + path, { method, agent, headers }, (response) => {
      let answer = ''
      response.setEncoding('utf8')
      response.on('data', (data: string) => (answer += data))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: answer }))
    })
    made.on('error', reject)
    made.end(text)
  })
}

/** Reads a stream; `onEvent` gets each event's type and data. The answer ends it. */
export function follow(
  target: Pick<Target, 'url' | 'token'>,
  path: string,
  onEvent: (type: string, data: string) => void,
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const made = request(target.url + path, { headers: { authorization: `Bearer ${target.token}` } }, (response: IncomingMessage) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream answers ${response.statusCode}`))
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (data: string) => {
        rest += data
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const frame = rest.slice(0, end)
          rest = rest.slice(end + 2)
          onEvent(/^event: (.*)$/m.exec(frame)?.[1] ?? '', /^data: (.*)$/m.exec(frame)?.[1] ?? '')
        }
      })
      response.on('error', () => undefined)
      resolve(() => made.destroy())
    })
    made.on('error', () => undefined)
    made.end()
  })
}

/** Provider, agent and session on the scripted agent; gives the session's id. */
export async function furnish(target: Pick<Target, 'url' | 'token'>, name = 'bench'): Promise<string> {
  const idOf = async (path: string, body: unknown): Promise<string> => {
    const { status, body: answer } = await call(target, 'POST', path, body)
    if (status !== 201) throw new Error(`${path} answers ${status}: ${answer}`)
    return (JSON.parse(answer) as { id: string }).id
  }
  const providerId = await idOf('/v1/providers', { name, protocol: 'anthropic', baseUrl: 'http://127.0.0.1:9', models: [{ id: 'm' }] })
  const agentId = await idOf('/v1/agents', { name, type: 'scripted', providerId, modelId: 'm' })
  return idOf('/v1/sessions', { agentId })
}

export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN
}

export const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)
export const ms = (value: number): string => `${value.toFixed(2)} ms`

/** One line of the report, and whether a bound holds. */
export type Finding = { name: string; figure: string; bound: string; ok: boolean }

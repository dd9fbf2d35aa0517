/** Starts real hosts as processes, talks to them, kills them. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient, type WheelhouseClient } from '@wheelhouse/client'
import type { Point } from './host-main.ts'

const MAIN = fileURLToPath(new URL('./host-main.ts', import.meta.url))

export type Daemon = {
  url: string
  token: string
  pid: number
  client: WheelhouseClient
  /** Resolves when the process is gone. */
  gone: Promise<void>
  alive(): boolean
  kill(signal?: NodeJS.Signals): Promise<void>
}

export type DaemonOptions = {
  dataDir: string
  killAt?: Point
  transport?: 'stdio' | 'in-process'
  env?: { [name: string]: string }
  logLevel?: string
}

/** Starts a host and waits until it is ready. Rejects when it ends before. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const env = { ...process.env, ...(options.killAt === undefined ? {} : { KILL_AT: JSON.stringify(options.killAt) }), ...options.env }
  const child = spawn(process.execPath, [MAIN, options.dataDir, options.transport ?? 'stdio', options.logLevel ?? 'silent'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit').then(() => undefined)
  const line = await Promise.race([firstLine(child), gone.then(() => null)])
  if (line === null) throw new DiedEarly(`the host ended before it was ready (${child.signalCode ?? child.exitCode})`)
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string }
  const token = readFileSync(tokenFile, 'utf8').trim()
  return {
    url,
    token,
    pid: child.pid ?? 0,
    // A host that was killed does not come back by waiting: its caller is told at once.
    client: createClient({ baseUrl: url, token, wait: () => Promise.resolve() }),
    gone,
    alive: () => child.exitCode === null && child.signalCode === null,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await gone
    },
  }
}

export class DiedEarly extends Error {}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output')
  const reader = createInterface({ input: child.stdout })
  const [line] = (await once(reader, 'line')) as [string]
  reader.close()
  child.stdout.resume()
  return line
}

/** A folder of one test, removed at its end. */
export function makeTempDir(name: string): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `wheelhouse-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) }
}

/** Often enough to see what passes, seldom enough to leave the machine to what is waited for. */
const POLL_MS = 10

/** Asks until the answer is neither null nor false, or throws with what it waited for. */
export async function until<T>(what: string, ask: () => Promise<T | null | false> | T | null | false, timeoutMs = 20_000): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`timed out waiting for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** A provider, an agent and a session on it; repeated by the same keys it is the same session. */
export async function furnishSession(
  client: WheelhouseClient,
  options: {
    type?: string
    baseUrl?: string
    workspace?: string
    key?: string
    mode?: 'default' | 'acceptEdits' | 'bypassPermissions'
  } = {},
): Promise<{ sessionId: string; agentId: string; providerId: string }> {
  const { type = 'scripted', key = 'one' } = options
  const provider = await client.providers.create(
    {
      name: `p-${key}`,
      protocol: 'anthropic',
      baseUrl: options.baseUrl ?? 'http://127.0.0.1:9',
      apiKey: 'k',
      models: [{ id: 'practice' }],
    },
    { idempotencyKey: `p-${key}` },
  )
  const agent = await client.agents.create(
    {
      name: `a-${key}`,
      type,
      providerId: provider.id,
      modelId: 'practice',
      ...(options.mode === undefined ? {} : { permissionMode: options.mode }),
    },
    { idempotencyKey: `a-${key}` },
  )
  const workspace = options.workspace === undefined ? {} : { workspace: { kind: 'user' as const, path: options.workspace } }
  const session = await client.sessions.create({ agentId: agent.id, ...workspace }, { idempotencyKey: `s-${key}` })
  return { sessionId: session.id, agentId: agent.id, providerId: provider.id }
}

/** A host with its server in this process, over the scripted agent: for tests that need no process to die. */
import { join } from 'node:path'
import { createClient, type WheelhouseClient } from '@wheelhouse/client'
import { createScriptedDriver, type ScriptedDriver } from '../../packages/runtime/src/driver/kit/index.ts'
import type { AgentSessionRuntimeDriver } from '../../packages/runtime/src/driver/contract.ts'
import { createHost, type Host, type HostOptions } from '../../packages/runtime/src/host/host.ts'
import { createLogger } from '../../packages/runtime/src/host/log.ts'
import { startServer, type Server } from '../../packages/runtime/src/server/http.ts'
import { lockFile } from '../../packages/runtime/src/store/sqlite/database.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../../packages/runtime/src/store/store.ts'
import { makeTempDir } from './daemon.ts'

export type TestHost = {
  host: Host
  server: Server
  client: WheelhouseClient
  driver: ScriptedDriver
  url: string
  token: string
  dataDir: string
  stop(): Promise<void>
}

export type TestHostOptions = {
  dataDir?: string
  /** Wraps the store: faults. */
  store?: (store: Store) => Store
  drivers?: readonly AgentSessionRuntimeDriver[]
  timers?: HostOptions['timers']
  clock?: HostOptions['clock']
  logLevel?: string
  traces?: boolean
}

export async function startTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const dir = options.dataDir === undefined ? makeTempDir('host') : { path: options.dataDir, remove: () => undefined }
  const driver = createScriptedDriver({ transport: 'in-process' })
  const wrap = options.store ?? ((store: Store) => store)
  const host = await createHost({
    dataDir: dir.path,
    lockFile,
    openStore: (path) => wrap(openSqliteStore({ path })),
    drivers: [driver, ...(options.drivers ?? [])],
    log: createLogger(options.logLevel ?? 'silent'),
    traces: options.traces ?? false,
    ...(options.timers === undefined ? {} : { timers: options.timers }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  const server = await startServer({ host, port: 0, address: '127.0.0.1', webDir: join(dir.path, 'no-web') })
  const { token } = host.dataDir
  const testHost: TestHost = {
    host,
    server,
    driver,
    url: server.url,
    token,
    dataDir: dir.path,
    client: createClient({ baseUrl: server.url, token, wait: () => Promise.resolve() }),
    async stop() {
      if (!running.delete(testHost)) return
      await server.close()
      await host.stop()
      dir.remove()
    },
  }
  running.add(testHost)
  return testHost
}

const running = new Set<TestHost>()

/** Stops what a test that failed has left running, so that the run ends. */
export async function stopTestHosts(): Promise<void> {
  await Promise.all([...running].map((each) => each.stop()))
}

/** A raw request, for what a well-behaved client never sends. */
export function raw(
  host: Pick<TestHost, 'url' | 'token'>,
  path: string,
  init: RequestInit & { noToken?: boolean } = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  if (init.noToken !== true && !headers.has('authorization')) headers.set('authorization', `Bearer ${host.token}`)
  if (init.body != null && !headers.has('content-type')) headers.set('content-type', 'application/json')
  return fetch(host.url + path, { ...init, headers })
}

/**
 * A host for benchmarks: the scripted agent, commits counted and, with FSYNC_MS, delayed. A line
 * `stats` on its input is answered by one line of JSON.
 */
import { createInterface } from 'node:readline'
import { createScriptedDriver } from '../packages/runtime/src/driver/kit/index.ts'
import { createHost } from '../packages/runtime/src/host/host.ts'
import { createLogger } from '../packages/runtime/src/host/log.ts'
import { startServer } from '../packages/runtime/src/server/http.ts'
import { lockFile } from '../packages/runtime/src/store/sqlite/database.ts'
import { openSqliteStore } from '../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../packages/runtime/src/store/store.ts'
import { slowDisk } from './slow-disk.ts'

export type Stats = { commits: number; appends: number; cpuUs: number; systemUs: number; rss: number }

const [dataDir = '', transport = 'stdio', fsyncMs = '0'] = process.argv.slice(2)
const wait = slowDisk(Number(fsyncMs))
const counted = { commits: 0, appends: 0 }

function count(store: Store): Store {
  return {
    ...store,
    commit(commit, content) {
      counted.commits += 1
      const result = store.commit(commit, content)
      wait()
      return result
    },
    appendChunks(entries) {
      counted.appends += 1
      store.appendChunks(entries)
    },
  }
}

const host = await createHost({
  dataDir,
  lockFile,
  openStore: (path) => count(openSqliteStore({ path })),
  drivers: [createScriptedDriver({ transport: transport === 'stdio' ? 'stdio' : 'in-process' })],
  log: createLogger('error'),
})
const server = await startServer({ host, port: 0, address: '127.0.0.1', webDir: dataDir })
process.stdout.write(`${JSON.stringify({ url: server.url, token: host.dataDir.token })}\n`)

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line !== 'stats') return
  const { user, system } = process.cpuUsage()
  const stats: Stats = { ...counted, cpuUs: user + system, systemUs: system, rss: process.memoryUsage().rss }
  process.stdout.write(`${JSON.stringify(stats)}\n`)
})
process.on('SIGTERM', () => {
  void server
    .close()
    .then(() => host.stop())
    .then(() => process.exit(0))
})

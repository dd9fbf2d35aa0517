/**
 * A host like `wheelhouse serve`, composed for tests: the scripted driver beside the real ones, and a
 * process that kills itself at a named point. Product code knows nothing of it.
 *
 * Environment: KILL_AT = {"point": …, "n": …} (see `Point`), COUNT_FILE = where the points passed are
 * counted, FSYNC_MS = delay added to each commit, TIMERS = limits of timers.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createScriptedDriver } from '../../packages/runtime/src/driver/kit/index.ts'
import { claudeCodeDriver } from '../../packages/runtime/src/drivers/claude-code/driver.ts'
import { createHost } from '../../packages/runtime/src/host/host.ts'
import { createLogger } from '../../packages/runtime/src/host/log.ts'
import { TIMER_MS } from '../../packages/runtime/src/host/timers.ts'
import { startServer } from '../../packages/runtime/src/server/http.ts'
import { lockFile } from '../../packages/runtime/src/store/sqlite/database.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../../packages/runtime/src/store/store.ts'

/** Where to die: around the nth commit, or before or after the nth effect of a type. */
export type Point = { point: 'before-commit' | 'after-commit' | `before-effect:${string}` | `after-effect:${string}`; n: number }

const [dataDir = '', transport = 'stdio', logLevel = 'silent'] = process.argv.slice(2)
const killAt = process.env['KILL_AT'] === undefined ? null : (JSON.parse(process.env['KILL_AT']) as Point)
const countFile = process.env['COUNT_FILE'] ?? null
const timers =
  process.env['TIMERS'] === undefined ? TIMER_MS : { ...TIMER_MS, ...(JSON.parse(process.env['TIMERS']) as Partial<typeof TIMER_MS>) }
const passed = new Map<string, number>()

function pass(point: string): void {
  const n = (passed.get(point) ?? 0) + 1
  passed.set(point, n)
  if (countFile !== null) appendFileSync(countFile, `${point}\n`)
  if (killAt?.point === point && killAt.n === n) {
    process.kill(process.pid, 'SIGKILL')
    // The signal is on its way; nothing more may happen.
    for (;;);
  }
}

function mortal(store: Store): Store {
  return {
    ...store,
    commit(commit, content) {
      pass('before-commit')
      const result = store.commit(commit, content)
      pass('after-commit')
      return result
    },
  }
}

const host = await createHost({
  dataDir,
  lockFile,
  openStore: (path) => mortal(openSqliteStore({ path })),
  drivers: [createScriptedDriver({ transport: transport === 'stdio' ? 'stdio' : 'in-process' }), claudeCodeDriver()],
  log: createLogger(logLevel),
  timers,
  aroundEffect(_session, effect, run) {
    pass(`before-effect:${effect.type}`)
    run()
    pass(`after-effect:${effect.type}`)
  },
})
const server = await startServer({
  host,
  port: Number(process.env['PORT'] ?? 0),
  address: '127.0.0.1',
  webDir: process.env['WEB_DIR'] ?? join(dataDir, 'no-web'),
})
process.stdout.write(`${JSON.stringify({ url: server.url, tokenFile: host.dataDir.tokenFile })}\n`)
process.on('SIGTERM', () => {
  void server
    .close()
    .then(() => host.stop())
    .then(() => process.exit(0))
})

/** From exec to ready with 10,000 sessions and 100 pending rows; memory of an idle host. */
import { openSqliteStore } from '../packages/runtime/src/store/sqlite/open.ts'
import { mkdirSync } from 'node:fs'
import { furnishStore } from '../sim/furnish.ts'
import { call, ms, start, type Finding } from './lib.ts'

const SESSIONS = 10_000
const PENDING = 100
const READY_MS = 1000
const MIB = 1024 * 1024
const RSS_MIB = 150

export async function coldStart(folder: string): Promise<Finding[]> {
  const dataDir = `${folder}/cold`
  mkdirSync(dataDir, { recursive: true })
  seed(`${dataDir}/wheelhouse.db`)
  const host = await start('./host-main.ts', [dataDir, 'stdio', '0'])
  const began = performance.now()
  const { status } = await call(host, 'GET', '/v1/sessions?limit=50')
  const listMs = performance.now() - began
  await host.stop()
  const idle = await start('./host-main.ts', [`${folder}/idle`, 'stdio', '0'])
  const { rss } = await idle.stats()
  await idle.stop()
  return [
    {
      name: `ready with ${SESSIONS} sessions and ${PENDING} pending rows`,
      figure: ms(host.startedMs),
      bound: `${READY_MS} ms`,
      ok: host.startedMs <= READY_MS,
    },
    { name: 'first page of the list', figure: `${ms(listMs)} (${status})`, bound: '-', ok: status === 200 },
    {
      name: 'RSS of an idle host, no driver loaded',
      figure: `${(rss / MIB).toFixed(1)} MiB`,
      bound: `${RSS_MIB} MiB`,
      ok: rss <= RSS_MIB * MIB,
    },
  ]
}

function seed(path: string): void {
  const store = openSqliteStore({ path })
  const at = new Date(0).toISOString()
  const ids = Array.from({ length: SESSIONS }, (_, n) => `session-${n}`)
  furnishStore(store, 'scripted', ids, at)
  for (const [n, id] of ids.slice(0, PENDING).entries()) {
    const input = {
      id: `i${n}`,
      seq: 1,
      queuePos: null,
      inputState: 'taken' as const,
      heldReason: null,
      steer: false,
      origin: 'interactive' as const,
      headless: false,
      parts: [{ type: 'text' as const, text: 'x' }],
      modelId: 'm',
      turnId: `t${n}`,
      sentBy: null,
      idempotencyKey: null,
      bodyHash: null,
    }
    const turn = {
      id: `r${n}`,
      seq: 2,
      turnId: `t${n}`,
      kind: 'user' as const,
      replyTo: `i${n}`,
      rollOf: null,
      origin: 'interactive' as const,
      headless: false,
      modelId: 'm',
      sent: true,
    }
    store.commit(
      {
        sessionId: id,
        expectedRev: 1,
        at,
        lastSeq: 2,
        lastQueuePos: 0,
        writes: [
          { type: 'insert-input', row: input },
          { type: 'open-turn', row: turn },
        ],
      },
      {},
    )
  }
  store.close()
}

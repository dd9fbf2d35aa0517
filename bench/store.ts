/**
 * What the embedded store costs: durable commits and chunk appends in microseconds, each beside a bare
 * insert with the same durability in the same run, so that the ratio says something on any machine;
 * and the looks at 10,000 sessions that a start and a session list take. Run: node bench/store.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Write } from '../packages/runtime/src/core/write.ts'
import { openSqliteStore } from '../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../packages/runtime/src/store/store.ts'

const COMMITS = 1_000
const APPENDS = 5_000
const SESSIONS = 10_000
const PENDING = 100
const AT = '2026-01-01T00:00:00.000Z'

type Sample = { p50: number; p99: number; cpu: number }

const nothing = (): void => undefined

/** Times `body` in microseconds, wall p50 and p99, and CPU a call, with `before` and `after` around it untimed. The first tenth warms up. */
function measure(times: number, body: (at: number) => void, around: { before?: () => void; after?: () => void } = {}): Sample {
  const { before = nothing, after = nothing } = around
  const walls: number[] = []
  const warm = Math.ceil(times / 10)
  let cpu = 0
  for (let at = 0; at < times + warm; at += 1) {
    before()
    const cpuBefore = process.cpuUsage()
    const started = process.hrtime.bigint()
    body(at)
    const wall = Number(process.hrtime.bigint() - started) / 1_000
    const used = process.cpuUsage(cpuBefore)
    after()
    if (at < warm) continue
    walls.push(wall)
    cpu += used.user + used.system
  }
  walls.sort((a, b) => a - b)
  const quantile = (share: number): number => walls[Math.floor(walls.length * share)] ?? 0
  return { p50: quantile(0.5), p99: quantile(0.99), cpu: cpu / times }
}

const show = (name: string, sample: Sample, base: Sample | null): void => {
  const ratio = base === null ? '' : `   ${(sample.p50 / base.p50).toFixed(2)} x bare`
  const figures = [sample.p50, sample.p99, sample.cpu].map((each) => each.toFixed(0).padStart(7)).join('')
  process.stdout.write(`${name.padEnd(46)}${figures}${ratio}\n`)
}

function bare(path: string, synchronous: 'FULL' | 'NORMAL', text: string): (at: number) => void {
  const database = new DatabaseSync(path)
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; create table bare (no integer primary key, text text)`)
  const insert = database.prepare('insert into bare (text) values (?)')
  return () => void insert.run(text)
}

function given(store: Store, sessions: number): void {
  const keys = { at: AT, idempotencyKey: null, bodyHash: null }
  store.insertAgent({
    id: 'a1',
    name: 'Agent',
    type: 'scripted',
    providerId: null,
    modelId: 'm1',
    instructions: '',
    permissionMode: 'default',
    disabledTools: [],
    mcpServerIds: [],
    skillIds: [],
    channels: [],
    language: null,
    ...keys,
  })
  for (let at = 0; at < sessions; at += 1) {
    store.insertSession({
      id: `s${at}`,
      agentId: 'a1',
      name: `Session ${at}`,
      description: '',
      workspaceKind: 'system',
      workspacePath: '/w',
      ...keys,
    })
  }
}

const input = (id: string, seq: number, turnId: string): Write => ({
  type: 'insert-input',
  row: {
    id,
    seq,
    queuePos: null,
    inputState: 'taken',
    heldReason: null,
    steer: false,
    origin: 'interactive',
    headless: false,
    parts: [{ type: 'text', text: 'Please have a look at the failing test and say what is wrong.' }],
    modelId: 'm1',
    turnId,
    sentBy: null,
    idempotencyKey: `key-${id}`,
    bodyHash: 'hash',
  },
})
const opening = (id: string, seq: number, turnId: string, replyTo: string): Write => ({
  type: 'open-turn',
  row: { id, seq, turnId, kind: 'user', replyTo, rollOf: null, origin: 'interactive', headless: false, modelId: 'm1', sent: true },
})
const closing = (messageId: string): Write => ({
  type: 'close-turn',
  messageId,
  status: 'success',
  errorCode: null,
  errorText: null,
  boundary: 'turn',
  token: { token: 'token', epoch: 0 },
  content: { metadata: {} },
})

/** Commits and fails loudly when it is not saved. */
function save(store: Store, session: string, rev: number, seq: number, writes: Write[]): void {
  const content = { [`r${rev - 1}-${session}`]: { parts: [{ type: 'text' as const, text: 'An answer. '.repeat(100) }], metadata: {} } }
  const result = store.commit({ sessionId: session, expectedRev: rev, at: AT, lastSeq: seq, lastQueuePos: 0, writes }, content)
  if (result.outcome !== 'done') throw new Error(JSON.stringify(result))
}

/** The two durable commits of a warm message, timed apart while they alternate. */
function turns(store: Store): { begin: Sample; end: Sample } {
  let rev = 1
  const open = (): void => {
    const [i, r, t] = [`i${rev}-s0`, `r${rev}-s0`, `t${rev}`]
    save(store, 's0', rev, rev + 1, [input(i, rev, t), opening(r, rev + 1, t, i)])
    rev += 1
  }
  const close = (): void => {
    save(store, 's0', rev, rev, [closing(`r${rev - 1}-s0`)])
    rev += 1
  }
  return {
    begin: measure(COMMITS, open, { after: close }),
    end: measure(COMMITS, close, { before: open }),
  }
}

function main(folder: string): void {
  const store = openSqliteStore({ path: join(folder, 'wheelhouse.db') })
  given(store, 1)
  process.stdout.write(`${''.padEnd(46)}    p50    p99    cpu   (µs)\n`)
  const text = 'x'.repeat(600)
  const durable = measure(COMMITS, bare(join(folder, 'bare-full.db'), 'FULL', text))
  show('bare insert, synchronous=FULL', durable, null)
  const { begin, end } = turns(store)
  show('commit of a warm message', begin, durable)
  show('commit of a turn’s end', end, durable)
  const loose = measure(APPENDS, bare(join(folder, 'bare-normal.db'), 'NORMAL', text))
  show('bare insert, synchronous=NORMAL', loose, null)
  const chunk = { type: 'text-delta' as const, id: 't1', delta: 'x'.repeat(180) }
  show(
    'append of 1 chunk',
    measure(APPENDS, (at) => store.appendChunks([{ sessionId: 's0', messageId: 'r', n: at + 1, chunk }])),
    loose,
  )
  const tick = measure(APPENDS, (at) =>
    store.appendChunks(
      Array.from({ length: 10 }, (_, session) => ({ sessionId: `s${session}`, messageId: `q${session}`, n: at + 1, chunk })),
    ),
  )
  show('append of 1 chunk each of 10 sessions', tick, loose)
  store.close()
  many(join(folder, 'many.db'))
}

/** Runs `body` once and prints how many milliseconds it took. */
const once = <T>(name: string, body: () => T): T => {
  const started = performance.now()
  const result = body()
  process.stdout.write(`${name.padEnd(46)}${(performance.now() - started).toFixed(1).padStart(7)}\n`)
  return result
}

function many(path: string): void {
  const store = openSqliteStore({ path })
  given(store, SESSIONS)
  for (let at = 0; at < PENDING; at += 1) save(store, `s${at}`, 1, 2, [input(`i${at}`, 1, 't'), opening(`r${at}`, 2, 't', `i${at}`)])
  store.close()
  process.stdout.write(`\n${SESSIONS} sessions, ${PENDING} pending rows (ms)\n`)
  const opened = once('open', () => openSqliteStore({ path }))
  const owing = once('sessionsOwing', () => opened.sessionsOwing())
  once(`load ${owing.length} sessions`, () => owing.map((id) => opened.loadSession(id)))
  once('listSessions, page of 50', () => opened.listSessions({ limit: 50, before: null, agentId: null }))
  once(`listSessions, all ${SESSIONS}`, () => opened.listSessions({ limit: SESSIONS, before: null, agentId: null }))
  opened.close()
}

const folder = mkdtempSync(join(tmpdir(), 'wheelhouse-bench-'))
try {
  main(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { MARKER_VARIABLE, type ProcessLedger } from '../../packages/runtime/src/host/process-manager.ts'
import { descendantsOf, findProcessTable, parsePs } from '../../packages/runtime/src/host/process-table.ts'
import type { LedgerEntry } from '../../packages/runtime/src/store/store.ts'
import { alive, fileLedger, makeManager, portOpen } from './ledger.ts'
import { until } from '../support/daemon.ts'

const folder = mkdtempSync(join(tmpdir(), 'process-'))
const AGENT = join(import.meta.dirname, 'agent-fixture.ts')
const HOST = join(import.meta.dirname, 'host-fixture.ts')
const ENV = { PATH: process.env['PATH'] ?? '' }
const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' }
after(() => rmSync(folder, { recursive: true }))

let ledgers = 0
const newLedgerPath = (): string => join(folder, `ledger-${++ledgers}.jsonl`)
const newLedger = (): ProcessLedger => fileLedger(newLedgerPath())

type Tree = { agent: number; shell: number; sleeper: number; server: number; port: number }
const pidsOf = (tree: Tree): number[] => [tree.agent, tree.shell, tree.sleeper, tree.server]

/** The trees that a child, or a host in front of it, tells of. */
async function readTrees(child: ChildProcess, count = 1): Promise<Tree[]> {
  let text = ''
  child.stdout?.on('data', (piece) => {
    text += String(piece)
  })
  await until('the agents say their pids', () => text.split('\n').length > count, 20_000)
  return text
    .split('\n')
    .slice(0, count)
    .map((line) => {
      const tree: Tree = JSON.parse(line)
      return tree
    })
}

const group = (of: number | string): string | undefined => readFileSync(`/proc/${of}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]
const exitOf = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('exit', () => resolve()))

test('a child has three pipes, the host’s process group, a marker, and stands in the ledger at once', linux, async () => {
  const ledger = newLedger()
  const manager = makeManager(ledger)
  const child = manager.spawn('session-1', 'cat', [], { cwd: folder, env: { ONLY: 'this' } })
  const [entry] = ledger.list()
  assert.equal(entry?.pid, child.pid)
  assert.equal(entry?.sessionId, 'session-1')
  assert.match(entry?.startTime ?? '', /^[0-9a-f-]{36}:\d+$/)
  assert.ok(child.stdin !== null && child.stdout !== null && child.stderr !== null)
  const pid = child.pid ?? 0
  await until('it runs cat', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('cat'))
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean).toSorted()
  assert.deepEqual(environment, ['ONLY=this', `${MARKER_VARIABLE}=${entry?.marker}`])
  assert.equal(group(pid), group('self'))
  child.stdin.end()
  await exitOf(child)
  await manager.settled()
  assert.deepEqual(ledger.list(), [])
  assert.equal(manager.count, 0)
})

test('a ledger that cannot be written starts nothing', linux, async () => {
  let seen: LedgerEntry | null = null
  const manager = makeManager({
    add(entry) {
      seen = entry
      throw new Error('disk full')
    },
    remove: () => undefined,
    list: () => [],
  })
  assert.throws(() => manager.spawn(null, 'sleep', ['300'], { cwd: folder, env: ENV }), /disk full/)
  const { pid } = seen ?? { pid: 0 }
  assert.ok(pid > 0)
  await until('the child is gone', () => !alive(pid))
  assert.equal(manager.count, 0)
})

test('a command that does not exist is told by the child and leaves no entry', linux, async () => {
  const ledger = newLedger()
  const manager = makeManager(ledger)
  const child = manager.spawn(null, 'no-such-command-here', [], { cwd: folder, env: ENV })
  await new Promise((resolve) => {
    child.once('error', resolve)
    child.once('exit', resolve)
  })
  await manager.settled()
  assert.deepEqual(ledger.list(), [])
})

test('what a child leaves behind when it ends goes with it, and only then its entry', linux, async () => {
  const ledger = newLedger()
  const manager = makeManager(ledger)
  const child = manager.spawn(null, 'sh', ['-c', 'setsid sleep 300 >/dev/null 2>&1 & echo $!'], { cwd: folder, env: ENV })
  let text = ''
  child.stdout?.on('data', (piece) => {
    text += String(piece)
  })
  await exitOf(child)
  const pid = Number(text)
  assert.ok(pid > 0)
  await manager.settled()
  assert.equal(alive(pid), false)
  assert.deepEqual(ledger.list(), [])
})

test('BUG-29 ending what a child’s tools started frees the port, within 5 s, and leaves the child', linux, async () => {
  const manager = makeManager(newLedger())
  const child = manager.spawn(null, process.execPath, [AGENT, 'loner'], { cwd: folder, env: ENV })
  const [tree] = await readTrees(child)
  assert.ok(tree !== undefined && (await portOpen(tree.port)))
  const began = Date.now()
  assert.equal(await manager.killTree(child.pid ?? 0, { root: false, startedWithinMs: null }), 0)
  assert.ok(Date.now() - began < 5_000)
  assert.deepEqual([tree.shell, tree.sleeper, tree.server].filter(alive), [])
  assert.equal(await portOpen(tree.port), false)
  assert.ok(alive(tree.agent))
  child.kill('SIGKILL')
  await exitOf(child)
  await manager.settled()
})

test('ending what started lately spares what runs longer', linux, async () => {
  const manager = makeManager(newLedger())
  const child = manager.spawn(null, 'sh', ['-c', 'sleep 300 & echo $!; read x; sleep 300 & echo $!; wait'], { cwd: folder, env: ENV })
  let text = ''
  child.stdout?.on('data', (piece) => {
    text += String(piece)
  })
  await until('the first sleeper', () => text.split('\n').length === 2)
  const table = findProcessTable()
  const startedMs = table.list().find((each) => each.pid === Number(text.trim()))?.startedMs ?? 0
  await until('the first sleeper to have run for a while', () => table.nowMs() - startedMs > 300)
  child.stdin?.write('go\n')
  await until('the second sleeper', () => text.split('\n').length === 3)
  const [old = 0, young = 0] = text.split('\n').map(Number)
  await manager.killTree(child.pid ?? 0, { root: false, startedWithinMs: 200 })
  assert.deepEqual([alive(old), alive(young)], [true, false])
  await manager.killTree(child.pid ?? 0, { root: true, startedWithinMs: null })
  await manager.settled()
  assert.equal(alive(old), false)
})

test('BUG-28 a host killed with -9 leaves no process alive that the next one does not end by its ledger', linux, async () => {
  const path = newLedgerPath()
  const host = spawn(process.execPath, [HOST, path, AGENT, '5', 'loner'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const trees = await readTrees(host, 5)
  assert.equal(new Set(trees.flatMap(pidsOf)).size, 20)
  host.kill('SIGKILL')
  await exitOf(host)
  const next = makeManager(fileLedger(path))
  const began = Date.now()
  const report = await next.reap()
  assert.ok(Date.now() - began < 5_000)
  assert.equal(report.entries, 5)
  assert.deepEqual(report.left, [])
  assert.deepEqual(trees.flatMap(pidsOf).filter(alive), [])
  assert.deepEqual(fileLedger(path).list(), [])
})

test('BUG-28 an agent ends by itself when its host is killed with -9', { skip: hasSetpriv() ? linux.skip : 'needs setpriv' }, async () => {
  const host = spawn(process.execPath, [HOST, newLedgerPath(), AGENT, '1', 'plain'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [tree] = await readTrees(host)
  host.kill('SIGKILL')
  await until('the agent is gone', () => tree !== undefined && !alive(tree.agent))
  for (const pid of tree === undefined ? [] : pidsOf(tree).slice(1)) if (alive(pid)) process.kill(pid, 'SIGKILL')
})

test('BUG-28 a host that stops asks its agents to end at once', linux, async () => {
  const host = spawn(process.execPath, [HOST, newLedgerPath(), AGENT, '2', 'plain'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const trees = await readTrees(host, 2)
  host.kill('SIGTERM')
  await exitOf(host)
  await until('the agents are gone', () => !trees.some((tree) => alive(tree.agent)))
  for (const pid of trees.flatMap(pidsOf)) if (alive(pid)) process.kill(pid, 'SIGKILL')
})

test('BUG-28 fifty openings and closings leak no process and no entry', linux, async () => {
  const ledger = newLedger()
  const manager = makeManager(ledger)
  const pids: number[] = []
  for (let round = 0; round < 50; round++) {
    const child = manager.spawn(`session-${round}`, 'cat', [], { cwd: folder, env: ENV })
    pids.push(child.pid ?? 0)
    if (round % 2 === 0) child.stdin?.end()
    else child.kill('SIGTERM')
    await exitOf(child)
  }
  await manager.settled()
  assert.equal(new Set(pids).size, 50)
  assert.deepEqual(pids.filter(alive), [])
  assert.deepEqual(ledger.list(), [])
})

test('BUG-21 an orphan that ignores SIGTERM is dead before a new host goes on', linux, async () => {
  const path = newLedgerPath()
  const host = spawn(process.execPath, [HOST, path, AGENT, '1', 'stubborn'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [tree] = await readTrees(host)
  assert.ok(tree !== undefined)
  host.kill('SIGKILL')
  await exitOf(host)
  assert.ok(alive(tree.agent))
  const report = await makeManager(fileLedger(path)).reap()
  assert.deepEqual(report.left, [])
  assert.deepEqual(pidsOf(tree).filter(alive), [])
})

test('BUG-21 a pid that belongs to somebody else by now is spared, and so is a process of the same name', linux, async () => {
  const bystander = spawn('sleep', ['300'])
  const path = newLedgerPath()
  const ledger = fileLedger(path)
  const startTime = findProcessTable().startTimeOf(bystander.pid ?? 0) ?? ''
  const [boot, ticks] = startTime.split(':')
  const entry: LedgerEntry = { pid: bystander.pid ?? 0, startTime, sessionId: null, marker: 'nobody-has-this-one', at: '' }
  ledger.add({ ...entry, startTime: `${boot}:${Number(ticks) + 1}` })
  ledger.add({ ...entry, startTime: `00000000-0000-0000-0000-000000000000:${ticks}` })
  const report = await makeManager(ledger).reap()
  assert.deepEqual(report, { entries: 2, ended: 0, left: [] })
  assert.ok(alive(bystander.pid ?? 0))
  assert.deepEqual(ledger.list(), [])
  bystander.kill('SIGKILL')
  await exitOf(bystander)
})

test('with ps alone the recorded process and its descendants are ended', linux, async () => {
  const path = newLedgerPath()
  const table = findProcessTable('darwin')
  assert.equal(table.kind, 'ps')
  const manager = makeManager(fileLedger(path), { table })
  const child = manager.spawn(null, process.execPath, [AGENT, 'plain'], { cwd: folder, env: ENV })
  const [tree] = await readTrees(child)
  assert.ok(tree !== undefined)
  const report = await makeManager(fileLedger(path), { table }).reap()
  assert.deepEqual(report.left, [])
  assert.deepEqual(pidsOf(tree).filter(alive), [])
  await manager.settled()
})

test('without any process table the report says that nothing could be looked for', async () => {
  const ledger = newLedger()
  ledger.add({ pid: 1, startTime: 'x', sessionId: null, marker: 'm', at: '' })
  const report = await makeManager(ledger, { table: findProcessTable('win32') }).reap()
  assert.equal(report.left.length, 1)
  assert.match(report.left[0]?.reason ?? '', /neither \/proc nor ps/)
  assert.equal(ledger.list().length, 1)
})

test('ps output is read with zombies left out, and descendants are found in any order', () => {
  const list = parsePs(
    '    1     0 Ss   Mon Dec  1 10:00:00 2025\n   30    20 S    Mon Dec  1 10:00:02 2025\n   20    10 S+   Mon Dec  1 10:00:01 2025\n   40    20 Z    Mon Dec  1 10:00:01 2025\n   50     1 S    Mon Dec  1 10:00:01 2025\n',
  )
  assert.deepEqual(
    list.map((info) => info.pid),
    [1, 30, 20, 50],
  )
  assert.equal(list[1]?.startTime, 'Mon Dec  1 10:00:02 2025')
  assert.deepEqual(
    descendantsOf(list, new Set([10])).map((info) => info.pid),
    [20, 30],
  )
})

function hasSetpriv(): boolean {
  return ENV.PATH.split(':').some((place) => {
    try {
      return readFileSync(join(place, 'setpriv')).length > 0
    } catch {
      // Not in this folder.
      return false
    }
  })
}

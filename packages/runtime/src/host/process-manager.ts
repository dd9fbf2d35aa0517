/**
 * Owns every agent process this host starts (spec, Idle and shutdown; decision 11). It is made first
 * and stopped last.
 *
 * - One way to start a child: three pipes, never detached. Its stdin being our pipe, and where the
 *   system has it a parent-death signal, end it when the host dies without a word.
 * - A child is in the ledger before anybody can send it anything, and leaves it when it and all it
 *   started are gone. Boot reaps what a host that died left behind, before any resume.
 * - A process is known by pid and start time, what it started by descent and by a random variable in
 *   the environment. Nothing is looked up or killed by name.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { LedgerEntry } from '../store/store.ts'
import { descendantsOf, findProcessTable, type ProcessInfo, type ProcessTable } from './process-table.ts'

/** Where the children are written down; the store's three methods. */
export type ProcessLedger = {
  add(entry: LedgerEntry): void
  remove(pid: number, startTime: string): void
  list(): LedgerEntry[]
}

export type ProcessManagerPorts = {
  ledger: ProcessLedger
  /** Runs `fire` once after `ms`; returns the cancel. */
  after(ms: number, fire: () => void): () => void
  /** ISO 8601. */
  timestamp(): string
  log(level: 'info' | 'warn' | 'error', message: string, fields: { [name: string]: string | number }): void
  /** Left out: the table of this system. */
  table?: ProcessTable
}

/** Which of the processes a child started. */
export type TreeScope = {
  /** The child itself too. */
  root: boolean
  /** Only those that started within this many milliseconds; null = all. Ignored where the system does not tell ages. */
  startedWithinMs: number | null
}

/** `left`: processes of the ledger that could not be ended, or not be looked for on this system. */
export type ReapReport = { entries: number; ended: number; left: { pid: number; reason: string }[] }

/** Variable that every child and all it starts carry. */
export const MARKER_VARIABLE = 'WHEELHOUSE_PROCESS'

/** What a process gets to end by itself before SIGKILL: an agent saves its session within 100 ms, a tool shell within 2 s. */
const TERM_GRACE_MS = 1_500
/** SIGKILL needs a moment; what is alive after it sleeps in the kernel and cannot be ended. */
const KILL_GRACE_MS = 2_000
const POLL_MS = 25
/** Looks that must find nothing: between two of them a process may have been in the middle of a fork. */
const CLEAN_LOOKS = 2
/** A process younger than this whose environment cannot be read is starting its program; an older one has none for good. */
const STARTING_MS = 2_000

type Registered = { child: ChildProcess; entry: LedgerEntry }

export class ClaudeCodeProcessManager {
  readonly #ports: ProcessManagerPorts
  readonly #table: ProcessTable
  readonly #children = new Map<number, Registered>()
  readonly #sweeps = new Set<Promise<void>>()
  #prefix: readonly string[] | null = null

  constructor(ports: ProcessManagerPorts) {
    this.#ports = ports
    this.#table = ports.table ?? findProcessTable()
  }

  /**
   * Starts a child for a session and writes it down. `env` is its whole environment, but for the
   * marker. Throws when the ledger cannot be written (the child is gone then); a command that does
   * not exist is told by the child's `error` or `exit`.
   */
  spawn(
    sessionId: string | null,
    command: string,
    args: readonly string[],
    options: { cwd: string; env: { [name: string]: string } },
  ): ChildProcess {
    const marker = randomBytes(16).toString('hex')
    this.#prefix ??= parentDeathPrefix(this.#table)
    const [program, ...rest] = [...this.#prefix, command, ...args]
    const child = spawn(program ?? command, rest, {
      cwd: options.cwd,
      env: { ...options.env, [MARKER_VARIABLE]: marker },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: false,
      windowsHide: true,
    })
    // A broken pipe to a child that ended is told by its exit; without a listener it would end the host.
    child.stdin.on('error', () => undefined)
    const { pid } = child
    if (pid === undefined) return child
    const entry: LedgerEntry = { pid, startTime: this.#table.startTimeOf(pid) ?? '', sessionId, marker, at: this.#ports.timestamp() }
    this.#record(child, entry)
    child.once('exit', () => this.#exited(entry))
    return child
  }

  /** Ends what a child of ours started, by whatever way it was started. Resolves with the number of processes that could not be ended. */
  async killTree(pid: number, scope: TreeScope): Promise<number> {
    const registered = this.#children.get(pid)
    if (registered === undefined) return 0
    const sinceMs = scope.startedWithinMs === null ? null : this.#table.nowMs() - scope.startedWithinMs
    const { left } = await this.#end(registered.entry, () => this.#treeOf(registered.entry, scope.root, sinceMs))
    return left.length
  }

  /**
   * Ends what an earlier host left behind: every entry's process, if it is still that very one, and
   * all it started. Entries that are done with leave the ledger; the others stay for the next boot.
   */
  async reap(entries: readonly LedgerEntry[] = this.#ports.ledger.list()): Promise<ReapReport> {
    const report: ReapReport = { entries: entries.length, ended: 0, left: [] }
    if (this.#table.kind === 'none' && entries.length > 0) {
      this.#ports.log('warn', 'processes of an earlier run cannot be looked for on this system', { entries: entries.length })
      return { ...report, left: entries.map(({ pid }) => ({ pid, reason: 'this system has neither /proc nor ps' })) }
    }
    const outcomes = await Promise.all(entries.map((entry) => this.#reapOne(entry)))
    for (const outcome of outcomes) {
      report.ended += outcome.ended
      report.left.push(...outcome.left.map(({ pid }) => ({ pid, reason: 'it does not end' })))
    }
    if (report.ended > 0) this.#ports.log('info', 'processes of an earlier run ended', { processes: report.ended })
    return report
  }

  /** Asks what is left to end, at once and without waiting (spec: a net for lost handles, not the mechanism). */
  stop(): void {
    for (const { child } of this.#children.values()) child.kill('SIGTERM')
  }

  /** Resolves when everything that ended children had started is gone, too. */
  async settled(): Promise<void> {
    while (this.#sweeps.size > 0) await Promise.all(this.#sweeps)
  }

  /** Children alive now. */
  get count(): number {
    return this.#children.size
  }

  #record(child: ChildProcess, entry: LedgerEntry): void {
    try {
      this.#ports.ledger.add(entry)
    } catch (error) {
      // A process that is not written down could outlive the host unnoticed.
      child.kill('SIGKILL')
      throw error
    }
    this.#children.set(entry.pid, { child, entry })
  }

  #exited(entry: LedgerEntry): void {
    this.#children.delete(entry.pid)
    const sweep = this.#sweepAfter(entry).finally(() => this.#sweeps.delete(sweep))
    this.#sweeps.add(sweep)
  }

  /** What a child leaves behind (a server its shell started) goes with it. */
  async #sweepAfter(entry: LedgerEntry): Promise<void> {
    const { left } = await this.#end(entry, () => this.#markedBy(entry, this.#table.list()))
    if (left.length > 0) return
    this.#forget(entry)
  }

  async #reapOne(entry: LedgerEntry): Promise<{ ended: number; left: ProcessInfo[] }> {
    const outcome = await this.#end(entry, () => this.#treeOf(entry, true, null))
    if (outcome.left.length === 0) this.#forget(entry)
    return outcome
  }

  #forget(entry: LedgerEntry): void {
    try {
      this.#ports.ledger.remove(entry.pid, entry.startTime)
    } catch (error) {
      // The entry stays and names a process that is gone: the next boot finds nothing under it and removes it.
      this.#ports.log('warn', 'a ledger entry could not be removed', { pid: entry.pid, error: String(error) })
    }
  }

  /** The living processes that belong to an entry: the recorded one, its descendants, and all that carry the marker. */
  #treeOf(entry: LedgerEntry, withRoot: boolean, sinceMs: number | null): ProcessInfo[] {
    const list = this.#table.list()
    const root = list.find((info) => info.pid === entry.pid && info.startTime === entry.startTime)
    const marked = this.#markedBy(entry, list).filter((info) => info !== root)
    const roots = new Set([...marked.map((info) => info.pid), ...(root === undefined ? [] : [root.pid])])
    const within = (info: ProcessInfo): boolean => sinceMs === null || info.startedMs === null || info.startedMs >= sinceMs
    const below = [...marked, ...descendantsOf(list, roots)].filter(within)
    return withRoot && root !== undefined ? [...below, root] : below
  }

  #markedBy(entry: LedgerEntry, list: readonly ProcessInfo[]): ProcessInfo[] {
    return list.filter((info) => info.pid !== process.pid && this.#marker(info.pid, entry) === 'yes')
  }

  #marker(pid: number, entry: LedgerEntry): ReturnType<ProcessTable['hasVariable']> {
    return this.#table.hasVariable(pid, `${MARKER_VARIABLE}=${entry.marker}`)
  }

  /** Somebody is in the middle of starting a program, so that nobody can say yet whose it is. */
  #isUnclear(entry: LedgerEntry): boolean {
    const sinceMs = this.#table.nowMs() - STARTING_MS
    return this.#table.list().some((info) => (info.startedMs ?? 0) > sinceMs && this.#marker(info.pid, entry) === 'unknown')
  }

  /** SIGTERM, then SIGKILL; looks again all the time, since a tree grows while it is being ended. */
  async #end(entry: LedgerEntry, find: () => ProcessInfo[]): Promise<{ ended: number; left: ProcessInfo[] }> {
    const seen = new Set<string>()
    let clean = 0
    for (const [signal, graceMs] of [
      ['SIGTERM', TERM_GRACE_MS],
      ['SIGKILL', KILL_GRACE_MS],
    ] as const) {
      for (let waitedMs = 0; waitedMs <= graceMs; waitedMs += POLL_MS) {
        const alive = find()
        clean = alive.length > 0 || this.#isUnclear(entry) ? 0 : clean + 1
        if (clean >= CLEAN_LOOKS) return { ended: seen.size, left: [] }
        for (const info of alive) {
          const name = `${info.pid}:${info.startTime}`
          if (signal === 'SIGKILL' || !seen.has(name)) this.#signal(info, signal)
          seen.add(name)
        }
        await this.#wait(POLL_MS)
      }
    }
    const left = find()
    return { ended: seen.size - left.length, left }
  }

  #signal(info: ProcessInfo, signal: 'SIGTERM' | 'SIGKILL'): void {
    // Looked at once more right before, so that a pid given to somebody else meanwhile is spared.
    if (this.#table.startTimeOf(info.pid) !== info.startTime) return
    try {
      process.kill(info.pid, signal)
    } catch {
      // It ended between the look and the signal.
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#ports.after(ms, resolve)
    })
  }
}

/** `setpriv` with a parent-death signal, where it is present and knows that option. Found once: it costs a process. */
function parentDeathPrefix(table: ProcessTable): readonly string[] {
  if (table.kind !== 'proc') return []
  const prefix = ['setpriv', '--pdeathsig', 'SIGTERM', '--'] as const
  return spawnSync(prefix[0], [...prefix.slice(1), 'true'], { stdio: 'ignore' }).status === 0 ? prefix : []
}

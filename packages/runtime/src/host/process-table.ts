/**
 * The machine's processes as the process manager needs them: who is whose child, since when, and
 * which carry a marker in their environment. A process is its pid together with its start time;
 * a pid alone may be somebody else's by now. Nothing here looks at names.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export type ProcessInfo = {
  pid: number
  parentPid: number
  startTime: string
  /** When it started, on the table's clock; null where the system does not say it finely enough. */
  startedMs: number | null
}

/** `proc`: everything is known. `ps`: no markers. `none`: nothing can be told and nothing is killed by guess. */
export type ProcessTable = {
  kind: 'proc' | 'ps' | 'none'
  /** Start time of a living process, unique on this machine together with its pid; null when it is gone. */
  startTimeOf(pid: number): string | null
  /** Milliseconds of the clock that `startedMs` counts on. */
  nowMs(): number
  /** The living processes; zombies count as gone. */
  list(): ProcessInfo[]
  /**
   * Whether its environment holds `text` as one variable; `unknown` while it is being replaced by
   * another program, and for good where it has no environment at all.
   */
  hasVariable(pid: number, text: string): 'yes' | 'no' | 'unknown'
}

/** The table of this system. */
export function findProcessTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  if (platform === 'linux' && readProc('/proc/self/stat') !== null) return procTable()
  if (platform !== 'win32' && spawnSync('ps', ['-p', String(process.pid)]).status === 0) return psTable()
  return { kind: 'none', nowMs: () => 0, startTimeOf: () => null, list: () => [], hasVariable: () => 'no' }
}

/** Clock ticks a second in /proc/<pid>/stat: fixed at 100 for user space on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

function procTable(): ProcessTable {
  // Ticks count from boot, so a start time of an earlier boot must not look like one of this.
  const boot = (readProc('/proc/sys/kernel/random/boot_id') ?? '').trim()
  const read = (pid: number): ProcessInfo | null => parseStat(pid, readProc(`/proc/${pid}/stat`), boot)
  return {
    kind: 'proc',
    nowMs: uptimeMs,
    startTimeOf: (pid) => read(pid)?.startTime ?? null,
    list() {
      return readdirSync('/proc').flatMap((name) => {
        const pid = Number(name)
        const info = Number.isInteger(pid) ? parseStat(pid, readProc(`/proc/${pid}/stat`), boot) : null
        return info === null ? [] : [info]
      })
    },
    hasVariable(pid, text) {
      const environment = readProc(`/proc/${pid}/environ`)
      if (environment === '' && !isKernelThread(pid)) return 'unknown'
      return environment?.split('\0').includes(text) === true ? 'yes' : 'no'
    },
  }
}

/** Fields behind the name, which stands in parentheses and may itself hold spaces and parentheses. */
function parseStat(pid: number, stat: string | null, boot: string): ProcessInfo | null {
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields
  const ticks = Number(fields[19])
  // The first thread of a process may be gone while others still hold its files and ports.
  const isGone = state === undefined || ((state === 'Z' || state === 'X') && !(Number(fields[17]) > 1))
  if (isGone || !Number.isFinite(ticks)) return null
  return { pid, parentPid: Number(parent), startTime: `${boot}:${ticks}`, startedMs: (ticks * 1000) / TICKS_PER_SECOND }
}

/** PF_KTHREAD in the flags of /proc/<pid>/stat. */
const KERNEL_THREAD = 0x00200000

function isKernelThread(pid: number): boolean {
  const stat = readProc(`/proc/${pid}/stat`) ?? ''
  return (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6]) & KERNEL_THREAD) !== 0
}

const uptimeMs = (): number => Number((readProc('/proc/uptime') ?? '0').split(' ')[0]) * 1000

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process is gone, or belongs to somebody else: either way it is not one of ours.
    return null
  }
}

function psTable(): ProcessTable {
  return {
    kind: 'ps',
    nowMs: () => 0,
    startTimeOf: (pid) =>
      parsePs(spawnSync('ps', ['-p', String(pid), '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' }).stdout)[0]?.startTime ?? null,
    list: () => parsePs(spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' }).stdout),
    hasVariable: () => 'no',
  }
}

/** Lines of `ps -o pid=,ppid=,stat=,lstart=`. Exported for its test, since the tests may run where /proc is used. */
export function parsePs(output: string): ProcessInfo[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line)
    if (match?.[4] === undefined || match[3]?.startsWith('Z') === true) return []
    return [{ pid: Number(match[1]), parentPid: Number(match[2]), startTime: match[4], startedMs: null }]
  })
}

/** Everything below `roots` in the parent relation; the roots themselves are not in it. */
export function descendantsOf(list: readonly ProcessInfo[], roots: ReadonlySet<number>): ProcessInfo[] {
  const found = new Set(roots)
  const below: ProcessInfo[] = []
  // A child may stand before its parent in the list, so it is walked until nothing is added.
  for (let grew = true; grew;) {
    grew = false
    for (const info of list) {
      if (found.has(info.pid) || !found.has(info.parentPid)) continue
      found.add(info.pid)
      below.push(info)
      grew = true
    }
  }
  return below
}

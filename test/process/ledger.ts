/** A ledger in a file, so that another process can read what a killed one wrote; and small helpers. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { ProcessLedger } from '../../packages/runtime/src/host/process-manager.ts'
import { ClaudeCodeProcessManager, type ProcessManagerPorts } from '../../packages/runtime/src/host/process-manager.ts'
import type { LedgerEntry } from '../../packages/runtime/src/store/store.ts'

type Line = { add: LedgerEntry } | { remove: { pid: number; startTime: string } }

export function fileLedger(path: string): ProcessLedger {
  const write = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`)
  return {
    add: (entry) => write({ add: entry }),
    remove: (pid, startTime) => write({ remove: { pid, startTime } }),
    list: () => readLines(path).reduce(apply, []),
  }
}

function readLines(path: string): Line[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((text) => {
      const line: Line = JSON.parse(text)
      return line
    })
}

const apply = (entries: LedgerEntry[], line: Line): LedgerEntry[] =>
  'add' in line
    ? [...entries, line.add]
    : entries.filter((entry) => entry.pid !== line.remove.pid || entry.startTime !== line.remove.startTime)

export function makeManager(ledger: ProcessLedger, more: Partial<ProcessManagerPorts> = {}): ClaudeCodeProcessManager {
  return new ClaudeCodeProcessManager({
    ledger,
    after(ms, fire) {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
    timestamp: () => new Date().toISOString(),
    log: () => undefined,
    ...more,
  })
}

/** Alive: a zombie only waits for its parent to look, unless it has threads that still run. */
export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] !== 'Z' || Number(fields[17]) > 1
  } catch {
    // No such process.
    return false
  }
}

export function portOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

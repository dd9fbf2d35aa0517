/**
 * The data directory: one host at a time, its token, its folders. Everything in it is readable by
 * this user alone.
 *
 *   wheelhouse.db, wheelhouse.db-chunks   truth and chunk journal
 *   token, keys.json                      secrets (0600)
 *   host-id                               tells this directory's cursors from another's
 *   lock                                  pid and start time of the host that owns it
 *   workspaces/ runtimes/ tmp/            managed workspaces, the drivers' own homes, scratch space
 *   traces/                               spans of turns, for a host that was told to keep them
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ProcessTable } from './process-table.ts'

/** Default place, unless `--data-dir` or WHEELHOUSE_DATA_DIR says otherwise. */
export const defaultDataDir = (): string => process.env['WHEELHOUSE_DATA_DIR'] ?? join(homedir(), '.wheelhouse')

/** Thrown when another living host owns the directory: its pid is in the message. */
export class DataDirLocked extends Error {
  override name = 'DataDirLocked'
  readonly pid: number
  constructor(path: string, pid: number) {
    super(`Another wheelhouse host (pid ${pid}) is using ${path}. Stop it first, or choose another folder with --data-dir.`)
    this.pid = pid
  }
}

export type DataDir = {
  path: string
  database: string
  token: string
  tokenFile: string
  keysFile: string
  /** Distinguishes cursors of this directory from those of another (decision 5). */
  hostId: number
  workspaces: string
  tmp: string
  /** Made by the first trace. */
  traces: string
  runtimeHome(type: string): string
  /** Free bytes on its disk. */
  free(): number
  release(): void
}

const TOKEN_BYTES = 32
/** 40 bits, so that an epoch counted up from it stays an exact number. */
const HOST_ID_BYTES = 5

/** Opens, and makes what is missing. Throws {@link DataDirLocked}. */
export function openDataDir(path: string, processes: ProcessTable): DataDir {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const lock = takeLock(path, processes)
  const folder = (name: string): string => {
    const full = join(path, name)
    mkdirSync(full, { recursive: true, mode: 0o700 })
    return full
  }
  const tokenFile = join(path, 'token')
  return {
    path,
    database: join(path, 'wheelhouse.db'),
    tokenFile,
    token: readOrMake(tokenFile, () => randomBytes(TOKEN_BYTES).toString('base64url')),
    keysFile: join(path, 'keys.json'),
    hostId: Number.parseInt(
      readOrMake(join(path, 'host-id'), () => randomBytes(HOST_ID_BYTES).toString('hex')),
      16,
    ),
    workspaces: folder('workspaces'),
    tmp: folder('tmp'),
    traces: join(path, 'traces'),
    runtimeHome: (type) => folder(join('runtimes', type)),
    free() {
      const { bavail, bsize } = statfsSync(path)
      return bavail * bsize
    },
    release: () => rmSync(lock, { force: true }),
  }
}

/** Writes a file whole or not at all, 0600, and on the disk when it returns. */
export function writePrivate(path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

function readOrMake(path: string, make: () => string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  const text = make()
  writePrivate(path, text)
  return text
}

/** A stale lock is taken away once; each further try means that another host was faster, or that it cannot be taken away. */
const LOCK_TRIES = 100

/**
 * A lock is a file with pid and start time, put in place by a link, which exactly one of several
 * hosts can make. One left by a host that died names no living process and is taken over.
 */
function takeLock(path: string, processes: ProcessTable): string {
  const lock = join(path, 'lock')
  const mine = join(path, `lock.${process.pid}`)
  writePrivate(mine, JSON.stringify({ pid: process.pid, startTime: processes.startTimeOf(process.pid) }))
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        linkSync(mine, lock)
        return lock
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST') || tries > LOCK_TRIES) throw error
      }
      const text = readText(lock)
      const owner = ownerOf(text)
      if (owner !== null && isAlive(owner, processes)) throw new DataDirLocked(path, owner.pid)
      removeStale(lock, text)
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

/** Where a system tells no start times, a pid that lives counts as the owner's: refusing too often is the lesser harm. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

type Owner = { pid: number; startTime: string | null }

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Gone meanwhile.
    return null
  }
}

function ownerOf(text: string | null): Owner | null {
  try {
    return JSON.parse(text ?? 'null') as Owner | null
  } catch {
    // Not written by a host: nobody's.
    return null
  }
}

/**
 * Takes away the lock that was looked at and no other: a host that was faster may have replaced it
 * meanwhile, and two hosts would own the directory.
 */
function removeStale(lock: string, text: string | null): void {
  const aside = `${lock}.stale.${process.pid}`
  try {
    renameSync(lock, aside)
    if (readText(aside) !== text) linkSync(aside, lock)
  } catch {
    // Gone, or there again: the next look tells whose it is.
  }
  rmSync(aside, { force: true })
}

function isAlive(owner: Owner, processes: ProcessTable): boolean {
  if (processes.kind === 'none') return exists(owner.pid)
  const startTime = processes.startTimeOf(owner.pid)
  return startTime !== null && (owner.startTime === null || owner.startTime === startTime)
}

/**
 * The data directory: one host at a time, its token, its folders. Everything in it is readable by
 * this user alone.
 *
 *   wheelhouse.db, wheelhouse.db-chunks   truth and chunk journal
 *   token, keys.json                      secrets (0600)
 *   host-id                               tells this directory's cursors from another's
 *   host.lock, host.pid                   held by the host that owns it; who that is, for people
 *   workspaces/ runtimes/ tmp/            managed workspaces, the drivers' own homes, scratch space
 *   traces/                               spans of turns, for a host that was told to keep them
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Default place, unless `--data-dir` or WHEELHOUSE_DATA_DIR says otherwise. */
export const defaultDataDir = (): string => process.env['WHEELHOUSE_DATA_DIR'] ?? join(homedir(), '.wheelhouse')

/** Thrown when another living host owns the directory: its pid is in the message, as far as it is known. */
export class DataDirLocked extends Error {
  override name = 'DataDirLocked'
  readonly pid: number
  constructor(path: string, pid: number) {
    const who = Number.isNaN(pid) ? 'Another wheelhouse host' : `Another wheelhouse host (pid ${pid})`
    super(`${who} is using ${path}. Stop it first, or choose another folder with --data-dir.`)
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
/** A token may be one that a person chose. */
const TOKEN = /^[\x21-\x7e]{16,}$/
const HOST_ID = /^[0-9a-f]{10}$/

/** Holds a file until it is told otherwise or its process is gone; null when somebody else holds it. */
export type LockFile = (path: string) => (() => void) | null

/** Opens, and makes what is missing. Throws {@link DataDirLocked}. */
export function openDataDir(path: string, lock: LockFile): DataDir {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const release = takeLock(path, lock)
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
    token: readOrMake(tokenFile, TOKEN, () => randomBytes(TOKEN_BYTES).toString('base64url')),
    keysFile: join(path, 'keys.json'),
    hostId: Number.parseInt(
      readOrMake(join(path, 'host-id'), HOST_ID, () => randomBytes(HOST_ID_BYTES).toString('hex')),
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
    release,
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

/** A file that does not hold what it should is made anew: clients sign in again, or read their sessions anew. */
function readOrMake(path: string, form: RegExp, make: () => string): string {
  const known = readText(path)?.trim() ?? ''
  if (form.test(known)) {
    chmodSync(path, 0o600)
    return known
  }
  const text = make()
  writePrivate(path, text)
  return text
}

/** Thrown is only what the system says; a lock that another host holds is {@link DataDirLocked}. */
function takeLock(path: string, lock: LockFile): () => void {
  const owner = join(path, 'host.pid')
  const release = lock(join(path, 'host.lock'))
  if (release === null) throw new DataDirLocked(path, Number(readText(owner) ?? Number.NaN))
  writePrivate(owner, String(process.pid))
  return () => {
    rmSync(owner, { force: true })
    release()
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not there.
    return null
  }
}

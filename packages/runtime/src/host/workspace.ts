/**
 * Workspaces: whether a folder can be worked in. A probe is bounded, and repeated questions about
 * one path share it, so that a dead mount holds up nobody for longer (spec, Delivery rows).
 */
import { access, constants, mkdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { ErrorCode } from '@wheelhouse/client/protocol'
import type { Clock } from './clock.ts'

/** A folder that has not answered by then counts as away (spec README, constants). */
export const PROBE_MS = 5000

/** Errors that pass: the folder may be there again (spec README). */
const PASSING = new Set(['EBUSY', 'EIO', 'EMFILE', 'ENFILE', 'ENOSPC', 'ESTALE', 'ETIMEDOUT'])

/** A path that can name no folder. */
const UNUSABLE = new Set(['ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/** `retryable`: it may work later without anybody changing anything. */
export type WorkspaceProblem = { code: Extract<ErrorCode, `WORKSPACE_${string}`>; detail: string; retryable: boolean }

export class Workspaces {
  readonly #clock: Clock
  readonly #probes = new Map<string, Promise<WorkspaceProblem | null>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Null when the folder can be worked in. A `system` workspace is made when it is missing. Never rejects. */
  probe(kind: 'system' | 'user', path: string): Promise<WorkspaceProblem | null> {
    let probe = this.#probes.get(path)
    if (probe === undefined) {
      probe = look(kind, path).finally(() => this.#probes.delete(path))
      this.#probes.set(path, probe)
    }
    return this.#bounded(path, probe)
  }

  #bounded(path: string, probe: Promise<WorkspaceProblem | null>): Promise<WorkspaceProblem | null> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(PROBE_MS, () => resolve(away(path, 'no answer')))
      void probe.then((problem) => {
        cancel()
        resolve(problem)
      })
    })
  }
}

async function look(kind: 'system' | 'user', path: string): Promise<WorkspaceProblem | null> {
  try {
    await enter(path)
    return null
  } catch (error) {
    const problem = problemOf(path, error)
    if (kind === 'user' || problem.code !== 'WORKSPACE_MISSING') return problem
    return make(path)
  }
}

/** One call tells whether it is there, a folder, and open to this user. */
const enter = (path: string): Promise<void> => access(join(path, '.') + sep, constants.R_OK | constants.X_OK)

async function make(path: string): Promise<WorkspaceProblem | null> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    return null
  } catch (error) {
    return problemOf(path, error)
  }
}

function problemOf(path: string, error: unknown): WorkspaceProblem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return { code: 'WORKSPACE_MISSING', detail: path, retryable: false }
  if (UNUSABLE.has(code)) return { code: 'WORKSPACE_MISSING', detail: `${path}: ${code}`, retryable: false }
  if (code === 'ENOTDIR' || code === 'EEXIST') return { code: 'WORKSPACE_NOT_A_DIRECTORY', detail: path, retryable: false }
  if (code === 'EACCES' || code === 'EPERM') return { code: 'WORKSPACE_FORBIDDEN', detail: path, retryable: false }
  if (PASSING.has(code)) return away(path, code)
  return { code: 'WORKSPACE_FORBIDDEN', detail: `${path}: ${code}`, retryable: false }
}

const away = (path: string, why: string): WorkspaceProblem => ({
  code: 'WORKSPACE_UNAVAILABLE',
  detail: `${path}: ${why}`,
  retryable: true,
})

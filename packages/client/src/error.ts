import { ERRORS, type ErrorCode, type ErrorEntry, type Problem } from './protocol/index.ts'

/** Why a call got no answer from the host at all. */
export type LineFailure = 'network' | 'timeout' | 'not-wheelhouse'

/**
 * What every call of the SDK rejects with. `problem` is the host's own refusal (PROTOCOL.md, section
 * 4), or null when no host answered; then `failure` says why, and whether the call took effect is
 * unknown: repeat it with the same Idempotency-Key.
 */
export class WheelhouseError extends Error {
  override readonly name = 'WheelhouseError'
  readonly problem: Problem | null
  readonly failure: LineFailure | null

  constructor(message: string, problem: Problem | null, failure: LineFailure | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.problem = problem
    this.failure = failure
  }

  /** The stable code of the refusal, or null when no host answered. */
  get code(): ErrorCode | null {
    return this.problem?.code ?? null
  }

  /** Nobody answered, or the host says that the same call may succeed later. */
  get retryable(): boolean {
    return this.problem === null ? this.failure !== 'not-wheelhouse' : this.problem.retryable
  }
}

/** Turns a refusal into the error to throw. A body that is no problem (a proxy's page) keeps its status. */
export async function refusalOf(response: Response): Promise<WheelhouseError> {
  const body: unknown = await response.json().catch(() => null /* not JSON: handled as a foreign answer */)
  if (isProblem(body)) return new WheelhouseError(tellProblem(body), body, null)
  return new WheelhouseError(`HTTP ${String(response.status)} without a problem; is this a Wheelhouse host?`, null, 'not-wheelhouse')
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' && 'status' in body
}

/** A refusal as one text. Of a request that cannot be taken the detail says it all; its title speaks of routes. */
export function tellProblem({ code, title, detail }: Problem): string {
  return code === 'INVALID_REQUEST' ? detail : `${title}: ${detail}`
}

/** Title and advice of a code, also of one this version does not know. */
export function explain(code: string): { title: string; advice: string } {
  const table: { readonly [code: string]: ErrorEntry } = ERRORS
  const known = Object.hasOwn(ERRORS, code) ? table[code] : undefined
  return known === undefined ? { title: code, advice: '' } : { title: known.title, advice: known.advice }
}

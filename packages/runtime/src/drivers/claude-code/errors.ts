/** How the CLI's endings read: which are failures, whose they are, and which can be mended. */
import { wellFormed } from '@wheelhouse/client/protocol'
import type { DriverEvent } from '../../driver/contract.ts'
import type { ResultFrame } from './signals.ts'

type TurnError = Extract<DriverEvent, { type: 'error' }>
export type Ending = { kind: 'success' } | { kind: 'stopped' } | ({ kind: 'error' } & Pick<TurnError, 'code' | 'message' | 'status'>)

/** Endings that are failures whatever else the result says. */
const FAILED_REASONS: readonly string[] = [
  'api_error',
  'model_error',
  'image_error',
  'prompt_too_long',
  'blocking_limit',
  'rapid_refill_breaker',
  'malformed_tool_use_exhausted',
  'turn_setup_failed',
]

/**
 * A result's subtype alone says little: `success` stands on failures of the provider (BUG-50), and
 * `error_during_execution` on a Stop (BUG-05).
 */
export function endingOf(result: ResultFrame, stopped: boolean): Ending {
  const reason = result.terminal_reason ?? ''
  if (reason.startsWith('aborted_') && (stopped || result.subtype !== 'success')) return { kind: 'stopped' }
  if (stopped && result.subtype === 'error_during_execution') return { kind: 'stopped' }
  const status = result.subtype === 'success' ? (result.api_error_status ?? null) : null
  const failed = result.subtype !== 'success' || result.is_error || status !== null || FAILED_REASONS.includes(reason)
  // An answer that came whole while it was being stopped was not shown from there on: it is stopped, too.
  if (!failed) return { kind: stopped ? 'stopped' : 'success' }
  const message = textOf(result)
  if (status === 401 || status === 403 || isAuthText(message))
    return { kind: 'error', code: 'PROVIDER_AUTH_FAILED', message: withoutLogin(message), status }
  const isProviders = result.subtype === 'success'
  return { kind: 'error', code: isProviders ? 'PROVIDER_ERROR' : 'AGENT_ERROR', message, status }
}

/** The words of a result that failed. */
function textOf(result: ResultFrame): string {
  const words = result.subtype === 'success' ? result.result : result.errors.join('\n')
  return wellFormed(words === '' ? `The agent ended the turn: ${result.terminal_reason ?? result.subtype}.` : words)
}

const isAuthText = (text: string): boolean => /^(?:Not logged in|Invalid API key|Please run \/login)/i.test(text)

/** The CLI tells of a command of its own terminal, which nobody has here: the key is the host's to give. */
function withoutLogin(text: string): string {
  const rest = text.replace(/^Please run \/login(?: · )?|(?: · )?Please run \/login/i, '')
  return rest === '' ? 'The provider refused the key.' : rest
}

/** Why a conversation cannot go on from its stored history (decision 10). */
export type Mendable = 'missing' | 'poisoned' | null

const MISSING = /No conversation found with session ID/i
/** The provider's words, and the CLI's own for the same. */
const POISONED: readonly RegExp[] = [
  /tool_use.{0,3} ids must be unique/i,
  /duplicate tool_use ID in conversation history/i,
  /400 due to tool use concurrency issues/i,
  /tool_use.{0,3} ids were found without .{0,3}tool_result/i,
  /unexpected .{0,3}tool_use_id.{0,3} found in .{0,3}tool_result/i,
  /invalid .{0,3}signature.{0,3} in .{0,3}thinking/i,
]

/** `missing`: the agent does not know the conversation. `poisoned`: the provider refuses its history for good. */
export function mendable(text: string): Mendable {
  if (MISSING.test(text)) return 'missing'
  return POISONED.some((pattern) => pattern.test(text)) ? 'poisoned' : null
}

export const messageOf = (error: unknown): string => wellFormed(error instanceof Error ? error.message : String(error))

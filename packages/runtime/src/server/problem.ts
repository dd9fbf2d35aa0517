/** Errors on the wire: problem+json with a stable code (RFC 9457; PROTOCOL, Errors). */
import { ERRORS, type ErrorCode, type Problem } from '@wheelhouse/client/protocol'
import { HostError } from '../host/host-api.ts'
import { StoreError } from '../store/errors.ts'

/** Seconds after which a 503 may be tried again. */
export const RETRY_AFTER_S = 1

export function problemOf(code: ErrorCode, detail: string): Problem {
  const { status, title, advice, retryable } = ERRORS[code]
  return {
    type: `urn:wheelhouse:error:${code}`,
    title,
    status: status ?? 500,
    code,
    detail: sentences(detail, advice),
    retryable,
  }
}

/** An advice that only points at the detail says nothing beside it. */
function sentences(detail: string, advice: string): string {
  if (detail === '') return advice
  if (advice === ERRORS.INVALID_REQUEST.advice) return detail
  return `${detail}${/[.!?]$/.test(detail) ? '' : '.'} ${advice}`
}

/** What went wrong, as a code. Anything not foreseen is INTERNAL_ERROR, and its text stays in the log. */
export function codeOf(error: unknown): { code: ErrorCode; detail: string } {
  if (error instanceof HostError) return { code: error.code, detail: error.message }
  if (error instanceof StoreError) return { code: 'STORE_FAILED', detail: '' }
  const known = error as { code?: unknown; statusCode?: unknown; validation?: unknown; message?: unknown }
  switch (known.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'BODY_TOO_LARGE', detail: '' }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { code: 'UNSUPPORTED_MEDIA_TYPE', detail: '' }
    // An id longer than any id names nothing.
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'NOT_FOUND', detail: '' }
    default:
  }
  // A body nested so deeply that looking at it takes more stack than there is.
  if (error instanceof RangeError && /call stack/.test(error.message))
    return { code: 'INVALID_REQUEST', detail: 'The body is nested too deeply.' }
  if (Array.isArray(known.validation)) return { code: 'INVALID_REQUEST', detail: known.validation.map(fieldError).join(' ') }
  if (known.statusCode === 400) return { code: 'INVALID_REQUEST', detail: typeof known.message === 'string' ? known.message : '' }
  return { code: 'INTERNAL_ERROR', detail: '' }
}

/** What is wrong with one field: `models.0.id: Too small: …`. */
function fieldError({ instancePath = '', message = '' }: { instancePath?: string; message?: string }): string {
  const field = instancePath.split('/').slice(1).join('.')
  const words = message.replace(/^Invalid input: .* received undefined$/, 'It is missing')
  return `${field === '' ? '' : `${field}: `}${words}.`
}

/** Idempotency keys (decision 4): same key and body, same answer; another body is refused. */
import { createHash } from 'node:crypto'
import type { Json } from '@wheelhouse/client/protocol'
import { HostError, type Keyed } from '../host/host-api.ts'
import { IDEMPOTENCY_KEY } from './schemas.ts'

/** The key of a request and the digest of its parsed body: spelling of the JSON does not count. */
export function keyOf(header: string | undefined, body: unknown): Keyed {
  if (header === undefined) return { idempotencyKey: null, bodyHash: null }
  if (!IDEMPOTENCY_KEY.test(header)) throw new HostError('INVALID_REQUEST', 'Idempotency-Key must be 1 to 128 of A-Z a-z 0-9 . _ : and -.')
  return {
    idempotencyKey: header,
    bodyHash: createHash('sha256')
      .update(canonical((body ?? {}) as Json))
      .digest('base64url'),
  }
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.keys(value).toSorted()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${canonical(value[field] ?? null)}`).join(',')}}`
}

/** What comes from the agent as JSON values and bounded texts; characters are made whole by driver/well-formed.ts. */
import type { Json } from '@wheelhouse/client/protocol'

/** Any value as JSON; what JSON does not know becomes null. */
export function toJson(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return null
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))
}

/** Cuts a long text at a character and says so at its end. `mostBytes` counts UTF-8. */
export function cutText(text: string, mostBytes: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= mostBytes) return text
  // A cut inside a character leaves replacement marks at the end, which go.
  const head = Buffer.from(text)
    .subarray(0, mostBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
  return `${head}\n… [cut here: ${bytes} bytes in all]`
}

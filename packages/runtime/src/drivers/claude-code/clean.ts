/** What comes from the agent is made fit to store at the door: well-formed text, JSON values, bounded sizes (decision 26). */
import type { Json } from '@wheelhouse/client/protocol'

const NUL = /\0/g
/** Stands for NUL, which databases and terminals do not take. */
const VISIBLE_NUL = '\u2400'

/** Half characters become U+FFFD, NUL becomes visible. */
export const cleanText = (text: string): string => text.toWellFormed().replace(NUL, VISIBLE_NUL)

/** Any value as JSON: text cleaned, what JSON does not know becomes null. */
export function cleanJson(value: unknown): Json {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(cleanJson)
  if (typeof value !== 'object' || value === null) return null
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleanText(key), cleanJson(inner)]))
}

/**
 * Splits streamed text so that no delta ends inside a character: what stands alone at the end waits
 * for its other half in `rest`.
 */
export function wholeCharacters(text: string): { whole: string; rest: string } {
  const last = text.charCodeAt(text.length - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return isHalf ? { whole: text.slice(0, -1), rest: text.slice(-1) } : { whole: text, rest: '' }
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

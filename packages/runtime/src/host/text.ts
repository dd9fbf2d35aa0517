/** Text from the world is made well-formed at the door (decision 26), before row, model and search see it. */
import type { Json } from '@wheelhouse/client/protocol'

const NUL = /\0/g
const VISIBLE_NUL = '\u2400'

/** Lone surrogates become U+FFFD, NUL becomes U+2400; everything else stays as it is. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replace(NUL, VISIBLE_NUL)
}

/** The same for every string in a JSON value, keys included. */
export function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), wellFormedJson(each)]))
}

/** At most `length` UTF-16 units, never half a character. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** Text from the world is made well-formed at the door (decision 26), before row, model and search see it. */
import type { Json } from './json.ts'

const NUL = /\0/g
const VISIBLE_NUL = '\u2400'

/** Lone surrogates become U+FFFD, NUL becomes U+2400; valid text stays byte for byte. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replace(NUL, VISIBLE_NUL)
}

/** The same for every string of a JSON value, keys included. */
export function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), wellFormedJson(each)]))
}

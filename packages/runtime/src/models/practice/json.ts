/** Typed doors between text and JSON values. */
import type { Json, JsonObject } from '@wheelhouse/client/protocol'

/** Throws `SyntaxError`. */
export function parseJson(text: string): Json {
  const value: Json = JSON.parse(text)
  return value
}

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first `most` characters, none of them split. */
export const firstCharacters = (text: string, most: number): string =>
  text.length <= most ? text : Array.from(text).slice(0, most).join('')

/** Small helpers: typed doors between text and JSON values, and the end of a switch. */
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

/** Ends the switch over a closed union; reaching it is a bug of this server. */
export function unreachable(value: never): never {
  throw new Error(`unhandled: ${JSON.stringify(value)}`)
}

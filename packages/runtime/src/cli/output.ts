/** What commands print: for people by default, JSON with --json; and what their exit codes mean. */
import { WheelhouseError } from '@wheelhouse/client'
import { ERRORS } from '@wheelhouse/client/protocol'

/** Exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The host refused: its code and advice are printed. */
  refused: 1,
  usage: 2,
  /** No host answers at that address. */
  unreachable: 3,
  /** The turn that was followed did not end well. */
  'turn failed': 4,
} as const

/** Ends a command with words a person can act on; `address` tells where a host was looked for. */
export function fail(error: unknown, json: boolean, address: () => string): void {
  if (error instanceof WheelhouseError) {
    const network = error.problem === null
    const text = network
      ? `No host answers at ${address()}. Start one with \`wheelhouse serve\`.`
      : `${error.problem?.title}: ${error.problem?.detail}`
    print(json, error.problem ?? { code: 'UNREACHABLE', detail: text }, () => text, process.stderr)
    process.exitCode = network ? EXIT.unreachable : EXIT.refused
    return
  }
  const text = error instanceof Error ? error.message : String(error)
  print(json, { code: 'FAILED', detail: text }, () => text, process.stderr)
  process.exitCode = EXIT.refused
}

/** Control characters of the world do not reach the terminal; line breaks and tabs do. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
export const safe = (text: string): string => text.replaceAll(CONTROL, '')

/** The beginning of a text on one line, never cut inside a character. */
export function cut(text: string, length: number): string {
  const characters = [...graphemes.segment(text.slice(0, length * LONGEST_CHARACTER).replaceAll(/\s+/g, ' '))]
  const line = characters.map(({ segment }) => segment)
  return line.length > length ? `${line.slice(0, length - 1).join('')}…` : line.join('')
}

const graphemes = new Intl.Segmenter()
/** In code units: a family of four with skin colours, and some more. */
const LONGEST_CHARACTER = 24

/** Prints `value` as one line of JSON, or the words made of it. */
export function print(json: boolean, value: unknown, words: () => string, to: NodeJS.WritableStream = process.stdout): void {
  to.write(`${json ? JSON.stringify(value) : safe(words())}\n`)
}

/** Columns of equal width, two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, widthOf(cell))), [])
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column] ?? 0))).join('  '))
    .join('\n')
}

const padded = (cell: string, width: number): string => cell + ' '.repeat(width - widthOf(cell))

/** What takes two columns of a terminal. */
const WIDE = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60]/u

/** Columns of a terminal that a text takes. */
const widthOf = (text: string): number => [...graphemes.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0)

/** The advice that belongs to a code standing on a row; empty for an unknown one. */
export function adviceOf(code: string | null): string {
  return code !== null && code in ERRORS ? ERRORS[code as keyof typeof ERRORS].advice : ''
}

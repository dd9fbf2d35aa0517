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

/** Ends a command with words a person can act on. */
export function fail(error: unknown, json: boolean): void {
  if (error instanceof WheelhouseError) {
    const network = error.problem === null
    const text = network
      ? `No host answers (${error.message}). Start one with \`wheelhouse serve\`.`
      : `${error.problem?.title}: ${error.problem?.detail}`
    print(json, error.problem ?? { code: 'UNREACHABLE', detail: text }, () => text, process.stderr)
    process.exitCode = network ? EXIT.unreachable : EXIT.refused
    return
  }
  const text = error instanceof Error ? error.message : String(error)
  print(json, { code: 'FAILED', detail: text }, () => text, process.stderr)
  process.exitCode = EXIT.refused
}

/** Prints `value` as one line of JSON, or the words made of it. */
export function print(json: boolean, value: unknown, words: () => string, to: NodeJS.WritableStream = process.stdout): void {
  to.write(`${json ? JSON.stringify(value) : words()}\n`)
}

/** Columns of equal width, two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, cell.length)), [])
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '))
    .join('\n')
}

/** The advice that belongs to a code standing on a row; empty for an unknown one. */
export function adviceOf(code: string | null): string {
  return code !== null && code in ERRORS ? ERRORS[code as keyof typeof ERRORS].advice : ''
}

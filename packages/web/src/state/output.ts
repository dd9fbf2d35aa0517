/** What a tool gave back, as text a person reads. Pure. */
import type { Json, JsonObject } from '@wheelhouse/client'

export type ToolOutput = { text: string; exitCode: number | null; images: number }

/** Escape sequences of terminals: colours, cursor moves, titles, and the bare controls among text. */
const ANSI =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u007f]/g

/** Text as a terminal would leave it: no escapes, and a line overwritten by carriage returns in its last form. */
export function stripAnsi(text: string): string {
  return text
    .replaceAll(ANSI, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line))
    .join('\n')
}

/** Reads the forms agents use: plain text, content blocks, `{ stdout, stderr, exitCode }`, or any JSON. */
export function readOutput(output: Json | undefined): ToolOutput {
  if (output === undefined || output === null) return { text: '', exitCode: null, images: 0 }
  if (typeof output === 'string') return { text: stripAnsi(output), exitCode: exitIn(output), images: 0 }
  if (Array.isArray(output)) return readBlocks(output)
  if (typeof output !== 'object') return { text: String(output), exitCode: null, images: 0 }
  return readObject(output)
}

function readBlocks(blocks: readonly Json[]): ToolOutput {
  const parts = blocks.filter(isObject)
  const isBlocks = parts.length === blocks.length && parts.length > 0 && parts.every((part) => typeof part['type'] === 'string')
  if (!isBlocks) return { text: JSON.stringify(blocks, null, 2), exitCode: null, images: 0 }
  const text = parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
  return { text: stripAnsi(text), exitCode: exitIn(text), images: parts.filter((part) => part['type'] === 'image').length }
}

function readObject(output: JsonObject): ToolOutput {
  const inner = output['content']
  if (Array.isArray(inner) || typeof inner === 'string') return { ...readOutput(inner), ...exitOf(output) }
  const streams = ['stdout', 'stderr', 'output', 'text'].flatMap((name) => {
    const text = output[name]
    return typeof text === 'string' && text !== '' ? [text] : []
  })
  if (streams.length > 0) return { text: stripAnsi(streams.join('\n')), images: 0, ...exitOf(output) }
  if ('stdout' in output) return { text: '', images: 0, ...exitOf(output) }
  return { text: JSON.stringify(output, null, 2), exitCode: null, images: 0 }
}

function exitOf(output: JsonObject): { exitCode: number | null } {
  const code = output['exitCode'] ?? output['exit_code'] ?? output['code']
  return { exitCode: typeof code === 'number' ? code : null }
}

/** Claude Code puts a failed command's code on the first line of its text. */
function exitIn(text: string): number | null {
  const match = /^(?:Error: )?Exit code (\d+)/.exec(text)
  return match === null ? null : Number(match[1])
}

/** The exit code an error text carries, and the text without that line. */
export function readError(errorText: string): ToolOutput {
  const exitCode = exitIn(errorText)
  const text = stripAnsi(exitCode === null ? errorText : errorText.replace(/^.*\n?/, ''))
  return { text, exitCode, images: 0 }
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The script language of the practice model (docs/practice-model.md): lines that begin with
 * `#practice:` inside a prompt say what the model answers, answer by answer. Pure: text in, steps out.
 *
 *   #practice: think "hm"; say "I look."; tool Bash {"command":"ls"}; say "It has: $result"
 *
 * One answer ("round") ends after its tool calls; the steps behind them are the answer to the
 * results. Tool calls that stand side by side go out together; `then` parts them.
 */
import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '@wheelhouse/client/protocol'
import { isObject, parseJson } from './json.ts'

/** How often a disturbance happens before the script goes on as if it were not there; Infinity = always. */
type Times = {
  times: number
  scope: 'conversation' | 'all'
  /** Only where the conversation held something before the prompt: a history that is at fault, not the prompt. */
  onlyWithHistory: boolean
}

/** One thing the model does. Times are milliseconds; `dripMs` is the pause after each chunk. */
export type Step =
  | { do: 'think'; text: string; dripMs: number }
  | { do: 'say'; text: string; dripMs: number }
  | { do: 'tool'; name: string; input: JsonObject; id: string | null; dripMs: number }
  | { do: 'wait'; ms: number }
  /** Waits until somebody releases the name. */
  | { do: 'hold'; name: string }
  | { do: 'usage'; inputTokens: number | null; outputTokens: number | null }
  | { do: 'stop'; reason: string }
  | ({ do: 'fault'; status: number; errorType: string; message: string; retryAfterS: number | null } & Times)
  | ({ do: 'midError'; errorType: string; message: string } & Times)
  | ({ do: 'cut' } & Times)
  | ({ do: 'hang' } & Times)

/** A script: `key` names its text, so that a position in it can be found again in a tool call's id. */
export type Script = { key: string; rounds: Step[][]; /** Round that answers the news of a background task. */ noticeAt: number | null }
export type ParsedScript = { ok: true; script: Script } | { ok: false; message: string }

/** Longest pause a script may ask for: longer than any test, shorter than a forgotten stream. */
const MAX_PAUSE_MS = 600_000
/** Longest generated text, in words: about the largest answer a real model gives. */
const MAX_WORDS = 100_000

/** Ready-made faults with the provider's own status, type and words. */
const FAULTS: { [name: string]: { status: number; errorType: string; message: string } } = {
  overloaded: { status: 529, errorType: 'overloaded_error', message: 'Overloaded' },
  rateLimit: { status: 429, errorType: 'rate_limit_error', message: 'This request would exceed your rate limit.' },
  auth: { status: 401, errorType: 'authentication_error', message: 'invalid x-api-key' },
  forbidden: { status: 403, errorType: 'permission_error', message: 'Your API key does not have permission to use this model.' },
  server: { status: 500, errorType: 'api_error', message: 'Internal server error' },
  promptTooLong: { status: 400, errorType: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  duplicateToolUse: { status: 400, errorType: 'invalid_request_error', message: 'messages.1.content.0: `tool_use` ids must be unique' },
  danglingToolUse: {
    status: 400,
    errorType: 'invalid_request_error',
    message:
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_0. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  signature: { status: 400, errorType: 'invalid_request_error', message: 'messages.1.content.0: Invalid `signature` in `thinking` block' },
}

/** The error type a provider sends with a status. */
function errorTypeOf(status: number): string {
  const known = Object.values(FAULTS).find((fault) => fault.status === status)
  return known?.errorType ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** The script in a text: null when there is none, a message with the place when it cannot be read. */
export function parseScript(text: string): ParsedScript | null {
  const lines = [...text.matchAll(/^[ \t]*#practice:(.*)$/gm)].map((match) => (match[1] ?? '').trim())
  if (lines.length === 0) return null
  const source = lines.filter((line) => line !== '').join('; ')
  try {
    return { ok: true, script: { key: keyOf(source), ...toRounds(readSteps(source)) } }
  } catch (error) {
    if (error instanceof ScriptError) return { ok: false, message: error.message }
    throw error
  }
}

const keyOf = (source: string): string => createHash('sha256').update(source).digest('hex').slice(0, 8)

class ScriptError extends Error {}

type Word =
  | { kind: 'word'; text: string }
  | { kind: 'pair'; name: string; value: string }
  | { kind: 'string'; text: string }
  | { kind: 'object'; value: JsonObject }
type Scanner = { source: string; at: number }

/** Steps, and the marks that part rounds. */
type Mark = Step | { do: 'then' } | { do: 'notice' }

function readSteps(source: string): Mark[] {
  const scanner: Scanner = { source, at: 0 }
  const marks: Mark[] = []
  let dripMs = 0
  for (;;) {
    skip(scanner, /[\s;]*/y)
    if (scanner.at >= source.length) return marks
    const begin = scanner.at
    const words = readWords(scanner)
    const [first, ...rest] = words
    if (first === undefined || first.kind !== 'word') throw new ScriptError(`a step must begin with a word, at ${place(source, begin)}`)
    if (first.text === 'drip') dripMs = pause(rest, 'drip')
    else marks.push(toStep(first.text, rest, dripMs, place(source, begin)))
  }
}

function readWords(scanner: Scanner): Word[] {
  const words: Word[] = []
  for (;;) {
    skip(scanner, /\s*/y)
    const next = scanner.source[scanner.at]
    if (next === undefined || next === ';') return words
    if (next === '"') words.push({ kind: 'string', text: readString(scanner) })
    else if (next === '{') words.push({ kind: 'object', value: readObject(scanner) })
    else words.push(readWord(scanner))
  }
}

function readWord(scanner: Scanner): Word {
  const text = take(scanner, /[^\s;"{]+/y)
  if (!text.endsWith('=')) {
    const equals = text.indexOf('=')
    return equals > 0 ? { kind: 'pair', name: text.slice(0, equals), value: text.slice(equals + 1) } : { kind: 'word', text }
  }
  return { kind: 'pair', name: text.slice(0, -1), value: readString(scanner) }
}

/** Reads a balanced JSON object; braces inside its strings do not count. */
function readObject(scanner: Scanner): JsonObject {
  const begin = scanner.at
  let depth = 0
  let quoted = false
  for (let at = begin; at < scanner.source.length; at++) {
    const char = scanner.source[at]
    if (quoted) {
      if (char === '\\') at++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) {
      scanner.at = at + 1
      return readPiece(scanner.source.slice(begin, scanner.at), place(scanner.source, begin), isObject)
    }
  }
  throw new ScriptError(`an object is not closed, from ${place(scanner.source, begin)}`)
}

function readString(scanner: Scanner): string {
  const begin = scanner.at
  return readPiece(take(scanner, /"(?:[^"\\]|\\.)*"/y), place(scanner.source, begin), (value) => typeof value === 'string')
}

function readPiece<T extends Json>(text: string, where: string, fits: (value: Json) => value is T): T {
  try {
    const value = parseJson(text)
    if (fits(value)) return value
  } catch {
    // The parser's own words name positions inside the fragment; ours name the place in the script.
  }
  throw new ScriptError(`not JSON, at ${where}`)
}

function take(scanner: Scanner, pattern: RegExp): string {
  pattern.lastIndex = scanner.at
  const match = pattern.exec(scanner.source)
  if (match === null || match[0] === '') throw new ScriptError(`cannot read on at ${place(scanner.source, scanner.at)}`)
  scanner.at = pattern.lastIndex
  return match[0]
}

function skip(scanner: Scanner, pattern: RegExp): void {
  pattern.lastIndex = scanner.at
  pattern.exec(scanner.source)
  scanner.at = pattern.lastIndex
}

const place = (source: string, at: number): string => `character ${at + 1}: ${JSON.stringify(source.slice(at, at + 24))}`

function toStep(name: string, words: Word[], dripMs: number, where: string): Mark {
  switch (name) {
    case 'think':
    case 'say':
      return { do: name, text: stringOf(words, where), dripMs }
    case 'long':
      return { do: 'say', text: manyWords(numberOf(words, name, MAX_WORDS)), dripMs }
    case 'tool':
      return toTool(words, dripMs, where)
    case 'hold':
      return { do: 'hold', name: wordOf(words, where) }
    case 'wait':
      return { do: 'wait', ms: pause(words, 'wait') }
    case 'then':
    case 'notice':
      return { do: name }
    case 'usage':
      return { do: 'usage', inputTokens: optionalNumber(words, 'in'), outputTokens: optionalNumber(words, 'out') }
    case 'stop':
      return { do: 'stop', reason: pairOf(words, 'reason') ?? 'end_turn' }
    case 'fault':
      return toFault(words, where)
    case 'midError':
      return {
        do: 'midError',
        errorType: pairOf(words, 'type') ?? 'overloaded_error',
        message: pairOf(words, 'message') ?? 'Overloaded',
        ...timesOf(words, 1),
      }
    case 'cut':
      return { do: 'cut', ...timesOf(words, 1) }
    case 'hang':
      return { do: 'hang', ...timesOf(words, Infinity) }
    default:
      throw new ScriptError(`unknown step "${name}", at ${where}`)
  }
}

function toTool(words: Word[], dripMs: number, where: string): Step {
  const [name] = words
  const input = words.find((word) => word.kind === 'object')
  if (name === undefined || name.kind !== 'word') throw new ScriptError(`tool needs a name, at ${where}`)
  return { do: 'tool', name: name.text, input: input?.kind === 'object' ? input.value : {}, id: pairOf(words, 'id'), dripMs }
}

function toFault(words: Word[], where: string): Step {
  const preset = words.find((word) => word.kind === 'word')
  const base = preset?.kind === 'word' ? FAULTS[preset.text] : undefined
  if (preset !== undefined && base === undefined) throw new ScriptError(`unknown fault, at ${where}`)
  const status = optionalNumber(words, 'status') ?? base?.status ?? 529
  if (status < 400 || status > 599) throw new ScriptError(`a fault's status is 400 to 599, at ${where}`)
  return {
    do: 'fault',
    status,
    errorType: pairOf(words, 'type') ?? base?.errorType ?? errorTypeOf(status),
    message: pairOf(words, 'message') ?? base?.message ?? `practice fault ${status}`,
    retryAfterS: optionalNumber(words, 'retryAfter'),
    ...timesOf(words, 1),
  }
}

function timesOf(words: Word[], preset: number): Times {
  const times = pairOf(words, 'times')
  const scope = pairOf(words, 'scope') === 'all' ? 'all' : 'conversation'
  const onlyWithHistory = pairOf(words, 'when') === 'history'
  return { times: times === 'always' ? Infinity : (optionalNumber(words, 'times') ?? preset), scope, onlyWithHistory }
}

function pairOf(words: Word[], name: string): string | null {
  const pair = words.find((word) => word.kind === 'pair' && word.name === name)
  return pair?.kind === 'pair' ? pair.value : null
}

function optionalNumber(words: Word[], name: string): number | null {
  const text = pairOf(words, name)
  if (text === null || text === 'always') return null
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0) throw new ScriptError(`${name}= needs a number, not "${text}"`)
  return value
}

function numberOf(words: Word[], step: string, most: number): number {
  const [word] = words
  const value = word?.kind === 'word' ? Number(word.text) : Number.NaN
  if (!Number.isFinite(value) || value < 0 || value > most) throw new ScriptError(`${step} needs a number from 0 to ${most}`)
  return value
}

const pause = (words: Word[], step: string): number => numberOf(words, step, MAX_PAUSE_MS)

function wordOf(words: Word[], where: string): string {
  const [word] = words
  if (word?.kind !== 'word') throw new ScriptError(`a name is missing, at ${where}`)
  return word.text
}

function stringOf(words: Word[], where: string): string {
  const word = words.find((candidate) => candidate.kind === 'string')
  if (word?.kind !== 'string' || word.text === '') throw new ScriptError(`a text in double quotes is missing, at ${where}`)
  return word.text
}

const VOCABULARY = ['practice', 'makes', 'a', 'steady', 'hand', 'and', 'an', 'even', 'wheel']
const manyWords = (count: number): string =>
  Array.from({ length: count }, (_, index) => VOCABULARY[index % VOCABULARY.length]).join(' ') || 'practice'

/** What may still follow a tool call inside the same answer: it ends or disturbs it. */
const AFTER_TOOL = new Set<Mark['do']>(['tool', 'usage', 'stop', 'midError', 'cut', 'hang'])

function toRounds(marks: Mark[]): Pick<Script, 'rounds' | 'noticeAt'> {
  const rounds: Step[][] = []
  let noticeAt: number | null = null
  let round: Step[] = []
  const close = (): void => {
    if (round.length > 0) rounds.push(round)
    round = []
  }
  for (const mark of marks) {
    const called = round.some((step) => step.do === 'tool')
    if (mark.do === 'then') close()
    else if (mark.do === 'notice') {
      close()
      noticeAt = rounds.length
    } else {
      if (called && !AFTER_TOOL.has(mark.do)) close()
      round.push(mark)
    }
  }
  close()
  return { rounds, noticeAt }
}

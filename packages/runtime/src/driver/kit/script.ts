/**
 * The language a scripted agent is told what to do in: one step a line, in the text of the message.
 *
 *   say TEXT                          streams TEXT word by word
 *   think TEXT                        the same as reasoning
 *   tool NAME JSON [wait KEY] [-> OUTPUT]   runs a tool; with `wait` until KEY is released
 *   ask NAME JSON [-> OUTPUT]         asks for approval before the tool
 *   question TEXT | OPTION | OPTION   asks a person; the answer is the tool's output
 *   plan TEXT                         asks for approval of a plan
 *   repeat N TEXT                     N deltas of one text
 *   file URL MEDIATYPE                shows a file
 *   garble                            streams ill-formed text, and a character cut in half
 *   wait KEY                          goes on when KEY is released
 *   sleep MS                          goes on after so many milliseconds
 *   retry [N]                         tells of N attempts that the provider refused (default 1)
 *   compact [fail TEXT]               compacts by itself
 *   recall                            says how many inputs it remembers, and the first of them
 *   meanwhile STEP                    runs STEP in a turn of its own inside this one
 *   autonomous STEP                   runs STEP in a turn of its own after this one
 *   background KEY TITLE              starts a task; its release ends it and causes a turn of its own
 *   fail CODE [STATUS] TEXT           ends the turn by an error: PROVIDER_ERROR, PROVIDER_AUTH_FAILED or AGENT_ERROR
 *   die                               the agent is gone, without a word
 *   stubborn                          from now on it does not hear an interrupt
 *   cling                             from now on only SIGKILL ends it
 *
 * A line that begins with no such word is said back as it is, so that any message gets an answer.
 */
import type { Json } from '@wheelhouse/client/protocol'

export type FailCode = 'PROVIDER_ERROR' | 'PROVIDER_AUTH_FAILED' | 'AGENT_ERROR'

export type Step =
  | { verb: 'say' | 'think'; text: string }
  | { verb: 'tool'; name: string; input: Json; until: string | null; output: string }
  | { verb: 'ask'; name: string; input: Json; output: string }
  | { verb: 'question'; text: string; options: string[] }
  | { verb: 'plan'; text: string }
  | { verb: 'repeat'; times: number; text: string }
  | { verb: 'file'; url: string; mediaType: string }
  | { verb: 'wait'; key: string }
  | { verb: 'sleep'; ms: number }
  | { verb: 'retry'; times: number }
  | { verb: 'compact'; error: string | null }
  | { verb: 'meanwhile'; step: Step }
  | { verb: 'autonomous'; step: Step }
  | { verb: 'background'; key: string; title: string }
  | { verb: 'fail'; code: FailCode; status: number | null; text: string }
  | { verb: 'garble' | 'recall' | 'die' | 'stubborn' | 'cling' }

/** Deltas of one `repeat`, and milliseconds of one `sleep`, at most: a slip of the pen must not fill the memory or hang a test. */
const REPEAT_MAX = 100_000
const SLEEP_MAX_MS = 600_000

type Reader = (rest: string) => Step | null

const READERS: { [verb: string]: Reader } = {
  say: (text) => ({ verb: 'say', text }),
  think: (text) => ({ verb: 'think', text }),
  tool: (rest) => readTool(rest),
  ask: (rest) => {
    const tool = readTool(rest)
    return tool?.verb === 'tool' ? { verb: 'ask', name: tool.name, input: tool.input, output: tool.output } : null
  },
  question: (rest) => {
    const [text = '', ...options] = rest.split('|').map((each) => each.trim())
    return { verb: 'question', text, options }
  },
  plan: (text) => ({ verb: 'plan', text }),
  repeat: (rest) => {
    const [times, text] = readNumber(rest, REPEAT_MAX)
    return times === null ? null : { verb: 'repeat', times, text }
  },
  file: (rest) => {
    const [url = '', mediaType = 'application/octet-stream'] = rest.split(' ')
    return { verb: 'file', url, mediaType }
  },
  wait: (key) => ({ verb: 'wait', key }),
  sleep: (rest) => {
    const [ms] = readNumber(rest, SLEEP_MAX_MS)
    return ms === null ? null : { verb: 'sleep', ms }
  },
  retry: (rest) => ({ verb: 'retry', times: readNumber(rest, REPEAT_MAX)[0] ?? 1 }),
  compact: (rest) => ({ verb: 'compact', error: /^fail\b/.test(rest) ? rest.slice('fail'.length).trim() : null }),
  meanwhile: (rest) => ({ verb: 'meanwhile', step: readStep(rest) }),
  autonomous: (rest) => ({ verb: 'autonomous', step: readStep(rest) }),
  background: (rest) => {
    const [key, title] = firstWord(rest)
    return { verb: 'background', key, title: title === '' ? key : title }
  },
  fail: (rest) => readFail(rest),
  garble: () => ({ verb: 'garble' }),
  recall: () => ({ verb: 'recall' }),
  die: () => ({ verb: 'die' }),
  stubborn: () => ({ verb: 'stubborn' }),
  cling: () => ({ verb: 'cling' }),
}

/** The steps of a message. A message without text is answered by an empty one. */
export function parseScript(text: string): Step[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readStep)
}

function readStep(line: string): Step {
  const [verb, rest] = firstWord(line.trim())
  return (Object.hasOwn(READERS, verb) ? READERS[verb]?.(rest) : null) ?? { verb: 'say', text: line.trim() }
}

function firstWord(text: string): [string, string] {
  const at = text.indexOf(' ')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1).trim()]
}

function readNumber(rest: string, max: number): [number | null, string] {
  const [word, text] = firstWord(rest)
  return /^\d+$/.test(word) ? [Math.min(Number(word), max), text] : [null, rest]
}

function readTool(rest: string): Step | null {
  const [call, output = ''] = splitOnce(rest, ' -> ')
  const [name, after] = firstWord(call)
  const match = /^(.*?)(?:\s+wait\s+(\S+))?$/.exec(after)
  const input = readJson(match?.[1] ?? '')
  return name === '' || input === undefined ? null : { verb: 'tool', name, input, until: match?.[2] ?? null, output }
}

function splitOnce(text: string, by: string): [string, string | undefined] {
  const at = text.indexOf(by)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + by.length)]
}

function readJson(text: string): Json | undefined {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the line is no tool call, and is said back.
    return undefined
  }
}

function readFail(rest: string): Step | null {
  const [code, after] = firstWord(rest)
  if (code !== 'PROVIDER_ERROR' && code !== 'PROVIDER_AUTH_FAILED' && code !== 'AGENT_ERROR') return null
  const [status, text] = readNumber(after, Number.MAX_SAFE_INTEGER)
  return { verb: 'fail', code, status, text }
}

/**
 * What a request asks of the practice model, found in its content alone: the same request always
 * means the same, however often it is sent and whatever came before it. Pure.
 *
 * The position in a script is written into the ids of its tool calls (`toolu_<script>r<round>...`),
 * so it comes back with their results. What an agent adds around a prompt (reminders, hook context,
 * stop marks) is told apart from the prompt itself.
 */
import type { JsonObject } from '@wheelhouse/client/protocol'
import type { Block, ModelRequest, Turn } from './request.ts'
import { parseScript, type Script } from './script.ts'

/** Texts that came with the newest message beside the prompt: tool results, and what the agent slipped in (steers). */
export type Around = { result: string; failed: boolean; context: string }
export type Call = { name: string; input: JsonObject }

export type Ask =
  /** `resumed`: how many disturbances of this round were passed already, because the answer was cut there. */
  | { kind: 'script'; script: Script; round: number; notice: boolean; resumed: number; promptTurn: number; around: Around }
  | { kind: 'bad-script'; message: string }
  | { kind: 'prompt'; text: string; first: boolean; around: Around }
  | { kind: 'results'; calls: Call[]; prompt: string; around: Around }
  /** The agent compacted its history: all that is left is a summary. */
  | { kind: 'continued' }
  /** A background task of the agent has news. */
  | { kind: 'notice'; text: string }
  | { kind: 'summary' }
  | { kind: 'schema'; schema: JsonObject }
  | { kind: 'title'; text: string }

export function whatIsAsked(request: ModelRequest): Ask {
  if (request.schema !== null) return { kind: 'schema', schema: request.schema }
  const last = request.turns.at(-1)
  const prompt = last === undefined ? null : promptOf(last)
  if (prompt !== null && SUMMARY.test(prompt)) return { kind: 'summary' }
  if (request.tools.length === 0 && TITLE.test(request.system)) return { kind: 'title', text: prompt ?? '' }
  return askOf(request.turns)
}

/** An agent that compacts its history asks for a summary in a long message of its own. */
const SUMMARY = /\b(?:create|write|provide)\b[^.]{0,80}\bsummary of (?:the|this|our)\b[\s\S]{200,}/i
const TITLE = /\btitle\b/i
/** What an agent says after a stream that broke in the middle. */
const CUT_OFF = /\bcut off mid-stream\b/i
const CONTINUED = /^\s*This session is being continued from a previous conversation/
/** News of a background task, which is no person's words. */
const NOTICE = /<task-notification>/
const STOPPED = /^\s*\[Request interrupted by user/
const REMINDER = /^\s*<system-reminder>/
/** Reminders that carry words of the person, put in by a hook or by the agent's own queue. */
const CARRIED = /(?:hook additional context:|The user sent (?:a new|this) message[^\n]*)\s*([\s\S]*?)\s*<\/system-reminder>/g

function askOf(turns: readonly Turn[]): Ask {
  const last = turns.at(-1)
  if (last === undefined || last.role !== 'user')
    return { kind: 'prompt', text: '', first: false, around: { result: '', failed: false, context: '' } }
  const prompt = promptOf(last)
  if (saysCutOff(last)) return resumeOf(turns)
  const around = aroundOf(last)
  const said = prompt ?? around.context
  const parsed = parseScript(said)
  if (parsed !== null) {
    if (!parsed.ok) return { kind: 'bad-script', message: parsed.message }
    return { kind: 'script', script: parsed.script, round: 0, notice: false, resumed: 0, promptTurn: turns.length - 1, around }
  }
  if (prompt !== null && CONTINUED.test(prompt)) return { kind: 'continued' }
  if (prompt !== null) return { kind: 'prompt', text: prompt, first: !turns.some((turn) => turn.role === 'assistant'), around }
  const notice = noticeOf(last)
  return notice === null ? afterResults(turns, around) : afterNotice(turns, notice, around)
}

function afterNotice(turns: readonly Turn[], notice: string, around: Around): Ask {
  const found = findScript(turns, (script) => script.noticeAt !== null)
  if (found === null || found.script.noticeAt === null) return { kind: 'notice', text: notice }
  const { script, turn } = found
  return { kind: 'script', script, round: found.script.noticeAt, notice: true, resumed: 0, promptTurn: turn, around }
}

/** The agent's own news of a task, when the message holds nothing else. */
function noticeOf(turn: Turn): string | null {
  if (turn.blocks.some((block) => block.type === 'tool-result')) return null
  const news = turn.blocks.findLast((block) => block.type === 'text' && NOTICE.test(block.text))
  return news?.type === 'text' ? (/<summary>([\s\S]*?)<\/summary>/.exec(news.text)?.[1] ?? news.text) : null
}

/** The newest text is the agent's own request to go on. */
function saysCutOff(turn: Turn): boolean {
  const text = turn.blocks.findLast((block) => block.type === 'text')
  return text?.type === 'text' && CUT_OFF.test(text.text)
}

/** The answer was broken off: the same round goes on behind the step that broke it. */
function resumeOf(turns: readonly Turn[]): Ask {
  const begin = turns.findLastIndex((turn) => turn.role === 'assistant')
  const before = askOf(turns.slice(0, Math.max(begin, 0)))
  return before.kind === 'script' ? { ...before, resumed: before.resumed + 1 } : before
}

/** Tool results came back: the script goes on with its next round, or the free answer with its next step. */
function afterResults(turns: readonly Turn[], around: Around): Ask {
  const position = (turns.at(-1)?.blocks ?? [])
    .flatMap((block) => (block.type === 'tool-result' ? [readCallId(block.callId)] : []))
    .find((found) => found !== null)
  const found = findScript(turns, (script) => position === undefined || script.key === position.key)
  if (found !== null) {
    const round = position === undefined ? callingAnswers(turns.slice(found.turn)) : position.round + 1
    return { kind: 'script', script: found.script, round, notice: false, resumed: 0, promptTurn: found.turn, around }
  }
  return { kind: 'results', calls: callsBefore(turns), prompt: lastPrompt(turns), around }
}

/** Where a script gave its calls ids of its own, the position is the number of answers that called tools. */
const callingAnswers = (turns: readonly Turn[]): number =>
  turns.filter((turn) => turn.role === 'assistant' && turn.blocks.some((block) => block.type === 'tool-call')).length

/** The newest script that fits. */
function findScript(turns: readonly Turn[], fits: (script: Script) => boolean): { script: Script; turn: number } | null {
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index]
    if (turn === undefined || turn.role !== 'user') continue
    for (const text of [promptOf(turn), aroundOf(turn).context]) {
      const parsed = text === null ? null : parseScript(text)
      if (parsed?.ok === true && fits(parsed.script)) return { script: parsed.script, turn: index }
    }
  }
  return null
}

function callsBefore(turns: readonly Turn[]): Call[] {
  const answer = turns.at(-2)
  return (answer?.blocks ?? []).flatMap((block) => (block.type === 'tool-call' ? [{ name: block.name, input: block.input }] : []))
}

function lastPrompt(turns: readonly Turn[]): string {
  const turn = turns.findLast((candidate) => candidate.role === 'user' && promptOf(candidate) !== null)
  return turn === undefined ? '' : (promptOf(turn) ?? '')
}

/** The person's own words: the last plain text behind the last tool result; null when the message has none. */
export function promptOf(turn: Turn): string | null {
  const from = turn.blocks.findLastIndex((block) => block.type === 'tool-result')
  const prompt = turn.blocks.slice(from + 1).findLast((block) => block.type === 'text' && isPrompt(block.text))
  return prompt?.type === 'text' ? prompt.text : null
}

const isPrompt = (text: string): boolean => text.trim() !== '' && !REMINDER.test(text) && !STOPPED.test(text)

function aroundOf(turn: Turn): Around {
  const results = turn.blocks.flatMap((block) => (block.type === 'tool-result' ? [block] : []))
  return {
    result: results.map((block) => plain(block.text)).join('\n'),
    failed: results.some((block) => block.isError),
    context: turn.blocks
      .map(carriedOf)
      .filter((text) => text !== '')
      .join('\n'),
  }
}

function carriedOf(block: Block): string {
  const text = block.type === 'text' && REMINDER.test(block.text) ? block.text : block.type === 'tool-result' ? block.text : ''
  return [...text.matchAll(CARRIED)].map((match) => match[1] ?? '').join('\n')
}

/** A tool's own output, without what the agent appended to it. */
const plain = (text: string): string =>
  text
    .replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
    .replaceAll(/<total_tokens>[^<]*(?:<\/total_tokens>)?/g, '')
    .trim()

/** Id of a tool call; `unique` keeps two runs of one script apart, since ids must not repeat in a history. */
export const callId = (key: string, round: number, index: number, unique: string): string => `toolu_${key}r${round}t${index}x${unique}`

function readCallId(id: string): { key: string; round: number } | null {
  const match = /^toolu_([0-9a-f]{8})r(\d+)t\d+x/.exec(id)
  return match?.[1] === undefined ? null : { key: match[1], round: Number(match[2]) }
}

/**
 * One answer as a sequence of frames: Anthropic stream events, pauses and disturbances. The server
 * plays them; a request without `stream` gets them folded into one message. Pure.
 */
import type { Json } from '@wheelhouse/client/protocol'
import { firstCharacters, parseJson, unreachable } from './json.ts'
import { SIGNATURE_PREFIX } from './request.ts'
import type { Step } from './script.ts'
import { callId } from './ask.ts'

type Delta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }
type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Json }
type WireUsage = { input_tokens: number; cache_creation_input_tokens: number; cache_read_input_tokens: number; output_tokens: number }
type WireMessage = {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: ContentBlock[]
  stop_reason: string | null
  stop_sequence: null
  usage: WireUsage
}
/** The provider's stream events. */
export type StreamEvent =
  | { type: 'message_start'; message: WireMessage }
  | { type: 'content_block_start'; index: number; content_block: ContentBlock }
  | { type: 'content_block_delta'; index: number; delta: Delta }
  | { type: 'content_block_stop'; index: number }
  | { type: 'message_delta'; delta: { stop_reason: string; stop_sequence: null }; usage: WireUsage }
  | { type: 'message_stop' }
  | { type: 'error'; error: { type: string; message: string } }
export type Frame =
  | { kind: 'event'; event: StreamEvent }
  | { kind: 'pause'; ms: number }
  | { kind: 'hold'; name: string }
  | { kind: 'refuse'; status: number; errorType: string; message: string; retryAfterS: number | null }
  | { kind: 'break'; errorType: string; message: string }
  | { kind: 'cut' }
  | { kind: 'hang' }

export type Usage = { inputTokens: number; cacheReadTokens: number; cacheWriteTokens: number; outputTokens: number }

/** What an answer is made from. `unique` is random text for ids; `words` are put in for `$result`, `$context` and `$first`. */
export type Answer = {
  steps: readonly Step[]
  modelId: string
  key: string
  round: number
  unique: string
  usage: Omit<Usage, 'outputTokens'>
  words: { result: string; context: string; first: string }
  /** Asked once for each disturbance, by its place among the steps: whether it happens this time. */
  happens: (step: number) => boolean
}

/** Longest quotation of a tool's result, in characters: an answer stays an answer. */
const QUOTE_CHARS = 4_000
/** About four characters a token, as providers' own rules of thumb say. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4)

type Writer = {
  index: number
  started: boolean
  called: boolean
  written: number
  reported: { input: number | null; output: number | null }
  stop: string | null
}

export function* framesOf(answer: Answer): Generator<Frame> {
  const writer: Writer = { index: 0, started: false, called: false, written: 0, reported: { input: null, output: null }, stop: null }
  const usageStep = answer.steps.find((step) => step.do === 'usage')
  if (usageStep !== undefined) writer.reported = { input: usageStep.inputTokens, output: usageStep.outputTokens }
  for (const [position, step] of answer.steps.entries()) {
    const ended = yield* playStep(answer, writer, step, position)
    if (ended) return
  }
  yield* start(answer, writer)
  yield event({
    type: 'message_delta',
    delta: { stop_reason: writer.stop ?? (writer.called ? 'tool_use' : 'end_turn'), stop_sequence: null },
    usage: usageJson(answer, writer, writer.reported.output ?? writer.written),
  })
  yield event({ type: 'message_stop' })
}

/** Plays one step; true = the answer ends here, by whatever means. */
function* playStep(answer: Answer, writer: Writer, step: Step, position: number): Generator<Frame, boolean> {
  switch (step.do) {
    case 'think':
      yield* start(answer, writer)
      yield* block(writer, { type: 'thinking', thinking: '', signature: '' }, thinkingDeltas(filled(step.text, answer)), step.dripMs)
      return false
    case 'say':
      yield* start(answer, writer)
      yield* block(
        writer,
        { type: 'text', text: '' },
        chunks(filled(step.text, answer)).map((text) => ({ type: 'text_delta' as const, text })),
        step.dripMs,
      )
      return false
    case 'tool': {
      yield* start(answer, writer)
      writer.called = true
      const id = step.id ?? callId(answer.key, answer.round, writer.index, answer.unique)
      const deltas = chunks(JSON.stringify(step.input)).map((text) => ({ type: 'input_json_delta' as const, partial_json: text }))
      yield* block(writer, { type: 'tool_use', id, name: step.name, input: {} }, deltas, step.dripMs)
      return false
    }
    case 'wait':
      yield { kind: 'pause', ms: step.ms }
      return false
    case 'hold':
      yield { kind: 'hold', name: step.name }
      return false
    case 'usage':
      return false
    case 'stop':
      writer.stop = step.reason
      return false
    case 'fault':
    case 'midError':
    case 'cut':
    case 'hang':
      if (!answer.happens(position)) return false
      yield disturbance(step, writer.started)
      return true
    default:
      return unreachable(step)
  }
}

/** A fault before the first word is an HTTP status; behind it only the stream can carry it. */
function disturbance(step: Extract<Step, { do: 'fault' | 'midError' | 'cut' | 'hang' }>, started: boolean): Frame {
  if (step.do === 'cut' || step.do === 'hang') return { kind: step.do }
  if (step.do === 'fault' && !started)
    return { kind: 'refuse', status: step.status, errorType: step.errorType, message: step.message, retryAfterS: step.retryAfterS }
  return { kind: 'break', errorType: step.errorType, message: step.message }
}

function* start(answer: Answer, writer: Writer): Generator<Frame> {
  if (writer.started) return
  writer.started = true
  yield event({
    type: 'message_start',
    message: {
      id: `msg_practice_${answer.unique}`,
      type: 'message',
      role: 'assistant',
      model: answer.modelId,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageJson(answer, writer, 1),
    },
  })
}

function* block(writer: Writer, content: ContentBlock, deltas: Delta[], dripMs: number): Generator<Frame> {
  const index = writer.index++
  yield event({ type: 'content_block_start', index, content_block: content })
  for (const delta of deltas) {
    writer.written += deltaTokens(delta)
    yield event({ type: 'content_block_delta', index, delta })
    if (dripMs > 0) yield { kind: 'pause', ms: dripMs }
  }
  yield event({ type: 'content_block_stop', index })
}

const event = (value: StreamEvent): Frame => ({ kind: 'event', event: value })

function deltaTokens(delta: Delta): number {
  switch (delta.type) {
    case 'text_delta':
      return tokensOf(delta.text)
    case 'thinking_delta':
      return tokensOf(delta.thinking)
    case 'input_json_delta':
      return tokensOf(delta.partial_json)
    case 'signature_delta':
      return 0
    default:
      return unreachable(delta)
  }
}

function thinkingDeltas(text: string): Delta[] {
  const signature = `${SIGNATURE_PREFIX}${Buffer.from(text).toString('base64').slice(0, 64)}`
  return [...chunks(text).map((thinking) => ({ type: 'thinking_delta' as const, thinking })), { type: 'signature_delta', signature }]
}

function usageJson(answer: Answer, writer: Writer, outputTokens: number): WireUsage {
  return {
    input_tokens: writer.reported.input ?? answer.usage.inputTokens,
    cache_creation_input_tokens: answer.usage.cacheWriteTokens,
    cache_read_input_tokens: answer.usage.cacheReadTokens,
    output_tokens: outputTokens,
  }
}

/** Words with the space behind them; a long run without spaces goes out in pieces of whole characters. */
const chunks = (text: string): string[] => text.match(/\S{1,24}\s*|\s+/gu) ?? []

const filled = (text: string, answer: Answer): string =>
  text
    .replaceAll('$result', () => quote(answer.words.result))
    .replaceAll('$context', () => quote(answer.words.context))
    .replaceAll('$first', () => quote(answer.words.first))
const quote = (text: string): string => firstCharacters(text, QUOTE_CHARS) || '(nothing)'

/** Folds the events of an undisturbed answer into the message a request without `stream` gets; null when it never started. */
export function messageOf(events: readonly StreamEvent[]): WireMessage | null {
  let message: WireMessage | null = null
  const inputs: { [index: number]: string } = {}
  for (const one of events) {
    if (one.type === 'message_start') message = { ...one.message, content: [] }
    if (message === null) continue
    if (one.type === 'content_block_start') message.content[one.index] = { ...one.content_block }
    else if (one.type === 'content_block_delta') extend(message.content[one.index], one.index, one.delta, inputs)
    else if (one.type === 'content_block_stop') finish(message.content[one.index], inputs[one.index])
    else if (one.type === 'message_delta') message = { ...message, ...one.delta, usage: one.usage }
  }
  return message
}

function extend(content: ContentBlock | undefined, index: number, delta: Delta, inputs: { [index: number]: string }): void {
  if (content?.type === 'text' && delta.type === 'text_delta') content.text += delta.text
  else if (content?.type === 'thinking' && delta.type === 'thinking_delta') content.thinking += delta.thinking
  else if (content?.type === 'thinking' && delta.type === 'signature_delta') content.signature += delta.signature
  else if (content?.type === 'tool_use' && delta.type === 'input_json_delta') inputs[index] = (inputs[index] ?? '') + delta.partial_json
}

function finish(content: ContentBlock | undefined, input: string | undefined): void {
  if (content?.type === 'tool_use' && input !== undefined) content.input = parseJson(input)
}

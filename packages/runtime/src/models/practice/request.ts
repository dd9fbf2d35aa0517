/**
 * Reads an Anthropic Messages request into a plain conversation, and refuses what the real provider
 * refuses, in its words: a history the provider would call invalid must be called so here too, or a
 * driver that poisons its agent's history would pass its tests.
 */
import { z } from 'zod'
import type { JsonObject } from '@wheelhouse/client/protocol'
import { isObject, parseJson } from './json.ts'

export type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; signature: string }
  | { type: 'tool-call'; id: string; name: string; input: JsonObject }
  | { type: 'tool-result'; callId: string; text: string; isError: boolean }
  | { type: 'other'; kind: string }
/** Consecutive messages of one role, merged as the provider merges them. */
export type Turn = { role: 'user' | 'assistant'; blocks: Block[] }

export type ModelRequest = {
  modelId: string
  stream: boolean
  thinking: boolean
  system: string
  tools: string[]
  turns: Turn[]
  /** JSON schema the answer has to fit, when one was asked for. */
  schema: JsonObject | null
}

/** A refusal with the provider's status and words. */
export class ProviderRefusal extends Error {
  readonly status: number
  readonly errorType: string
  readonly retryAfterS: number | null
  constructor(status: number, errorType: string, message: string, retryAfterS: number | null = null) {
    super(message)
    this.status = status
    this.errorType = errorType
    this.retryAfterS = retryAfterS
  }
}

const invalid = (message: string): ProviderRefusal => new ProviderRefusal(400, 'invalid_request_error', message)

/** Signatures this server made begin so; others are refused, as the provider refuses foreign ones. */
export const SIGNATURE_PREFIX = 'cHJhY3RpY2U'

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])
const Body = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.number().optional(),
  stream: z.boolean().optional(),
  system: Content.optional(),
  tools: z.array(z.looseObject({ name: z.string().optional() })).optional(),
  thinking: z.looseObject({ type: z.string() }).optional(),
  output_config: z.looseObject({ format: z.looseObject({ schema: z.unknown() }).optional() }).optional(),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: Content })).min(1),
})

/** Parses and validates a request body. Throws `ProviderRefusal`. */
export function readRequest(raw: string): ModelRequest {
  const parsed = Body.safeParse(parseBody(raw))
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error))
  const body = parsed.data
  const turns = toTurns(body.messages)
  checkTurns(turns)
  return {
    modelId: body.model,
    stream: body.stream === true,
    thinking: body.thinking !== undefined && body.thinking.type !== 'disabled',
    system: textOf(body.system),
    tools: (body.tools ?? []).flatMap((tool) => (tool.name === undefined ? [] : [tool.name])),
    turns,
    schema: isObject(body.output_config?.format?.schema) ? body.output_config.format.schema : null,
  }
}

function parseBody(raw: string): unknown {
  if (/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}/i.test(raw.replaceAll('\\\\', '')))
    throw invalid('The request body is not valid JSON: no low surrogate in string')
  try {
    return parseJson(raw)
  } catch (error) {
    throw invalid(`The request body is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

function toTurns(messages: z.infer<typeof Body>['messages']): Turn[] {
  const turns: Turn[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') {
      // What an agent says between the turns stands with the person's turn it was said in.
      const text = textOf(message.content)
      if (text !== '') turns.at(-1)?.blocks.push({ type: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` })
      continue
    }
    const blocks =
      typeof message.content === 'string' ? [textBlock(message.content, index)] : message.content.map((block) => toBlock(block, index))
    const last = turns.at(-1)
    if (last?.role === message.role) last.blocks.push(...blocks)
    else turns.push({ role: message.role, blocks })
  }
  return turns
}

function textBlock(text: string, index: number): Block {
  if (text === '') throw invalid(`messages.${index}: text content blocks must be non-empty`)
  return { type: 'text', text }
}

function toBlock(block: { type: string; [key: string]: unknown }, index: number): Block {
  switch (block.type) {
    case 'text':
      return textBlock(textField(block, 'text'), index)
    case 'thinking':
      return { type: 'thinking', signature: textField(block, 'signature') }
    case 'tool_use':
      return {
        type: 'tool-call',
        id: String(block['id']),
        name: String(block['name']),
        input: isObject(block['input']) ? block['input'] : {},
      }
    case 'tool_result':
      return {
        type: 'tool-result',
        callId: String(block['tool_use_id']),
        text: textOf(block['content']),
        isError: block['is_error'] === true,
      }
    default:
      return { type: 'other', kind: block.type }
  }
}

function textField(block: { [key: string]: unknown }, name: string): string {
  const value = block[name]
  return typeof value === 'string' ? value : ''
}

/** The text of a content field: a string, or the text blocks of a list. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.flatMap((block: unknown) => (isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [])).join('\n')
}

/** The provider's rules about history: unique calls, each answered at once, no foreign signature, user first. */
function checkTurns(turns: readonly Turn[]): void {
  if (turns[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role')
  const seen = new Set<string>()
  for (const [index, turn] of turns.entries()) {
    if (turn.blocks.length === 0) throw invalid(`messages.${index}: all messages must have non-empty content`)
    for (const block of turn.blocks) {
      if (block.type === 'thinking' && !block.signature.startsWith(SIGNATURE_PREFIX))
        throw invalid(`messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`)
      if (block.type !== 'tool-call') continue
      if (seen.has(block.id)) throw invalid(`messages.${index}.content.0: \`tool_use\` ids must be unique`)
      seen.add(block.id)
    }
    checkAnswers(turns, index)
  }
}

function checkAnswers(turns: readonly Turn[], index: number): void {
  const turn = turns[index]
  if (turn === undefined) return
  const calls = turn.blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
  const answered = new Set((turns[index + 1]?.blocks ?? []).flatMap((block) => (block.type === 'tool-result' ? [block.callId] : [])))
  const open = calls.filter((id) => !answered.has(id))
  if (open.length > 0)
    throw invalid(
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    )
  const before = new Set((turns[index - 1]?.blocks ?? []).flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])))
  const stray = turn.blocks.find((block) => block.type === 'tool-result' && !before.has(block.callId))
  if (stray?.type === 'tool-result')
    throw invalid(`messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.callId}.`)
}

/**
 * Chunks to parts: the one place where a stream becomes a message. The host folds what it stores,
 * a window folds what it shows, so both see the same truth (decision 5). Pure; the content given in
 * is never changed.
 */
import type { MessageContent, MessagePart, ToolPart, UIMessageChunk } from './chunks.ts'
import type { JsonObject } from './json.ts'

/** A message before its first chunk. */
export const emptyContent = (): MessageContent => ({ parts: [], metadata: {} })

/** Applies chunks in order. */
export function foldChunks(content: MessageContent, chunks: readonly UIMessageChunk[]): MessageContent {
  let next = content
  for (const chunk of chunks) next = foldChunk(next, chunk)
  return next
}

/** Applies one chunk. A delta for a part that was never started starts it; unknown chunk types change nothing. */
export function foldChunk(content: MessageContent, chunk: UIMessageChunk): MessageContent {
  switch (chunk.type) {
    case 'start':
    case 'finish':
    case 'message-metadata':
      return chunk.messageMetadata === undefined
        ? content
        : { ...content, metadata: mergeMetadata(content.metadata, chunk.messageMetadata) }
    case 'start-step':
      return push(content, { type: 'step-start' })
    case 'text-start':
      return push(content, { type: 'text', text: '', state: 'streaming' })
    case 'reasoning-start':
      return push(content, {
        type: 'reasoning',
        text: '',
        state: 'streaming',
        ...(chunk.providerMetadata === undefined ? {} : { providerMetadata: chunk.providerMetadata }),
      })
    case 'text-delta':
      return extend(content, 'text', chunk.delta)
    case 'reasoning-delta':
      return extend(content, 'reasoning', chunk.delta)
    case 'text-end':
      return endProse(content, 'text')
    case 'reasoning-end':
      return endProse(content, 'reasoning')
    case 'tool-input-start':
      return putTool(content, chunk.toolCallId, chunk.toolName, { state: 'input-streaming', ...titled(chunk.title) })
    case 'tool-input-available':
      return putTool(content, chunk.toolCallId, chunk.toolName, { state: 'input-available', input: chunk.input, ...titled(chunk.title) })
    case 'tool-input-error':
      return putTool(content, chunk.toolCallId, chunk.toolName, { state: 'output-error', input: chunk.input, errorText: chunk.errorText })
    case 'tool-approval-request':
      return patchTool(content, chunk.toolCallId, { state: 'approval-requested', approval: { id: chunk.approvalId } })
    case 'tool-output-available':
      return patchTool(content, chunk.toolCallId, {
        state: 'output-available',
        output: chunk.output,
        ...(chunk.preliminary === undefined ? {} : { preliminary: chunk.preliminary }),
      })
    case 'tool-output-error':
      return patchTool(content, chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText })
    case 'tool-output-denied':
      return patchTool(content, chunk.toolCallId, { state: 'output-denied' })
    case 'file':
      return push(content, { type: 'file', url: chunk.url, mediaType: chunk.mediaType })
    case 'source-url':
      return push(content, {
        type: 'source-url',
        sourceId: chunk.sourceId,
        url: chunk.url,
        ...(chunk.title === undefined ? {} : { title: chunk.title }),
      })
    default:
      return isData(chunk) ? putData(content, chunk) : content
  }
}

/** The error of a call that a Stop cut off. */
export const CALL_STOPPED = 'Stopped before it finished.'

/** A call that a Stop cut off did not fail. */
export const isStoppedCall = ({ state, errorText }: Pick<ToolPart, 'state' | 'errorText'>): boolean =>
  state === 'output-error' && errorText === CALL_STOPPED

/**
 * Ends everything that still runs, for a row that closes: prose is done, tool calls without a result
 * get `reason` as their error, so that no card says "running" for ever.
 */
export function closeParts(content: MessageContent, reason: string): MessageContent {
  const parts = content.parts.map((part): MessagePart => {
    if ((part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming') return { ...part, state: 'done' }
    if (part.type === 'dynamic-tool' && !isTerminal(part)) return { ...part, state: 'output-error', errorText: reason }
    return part
  })
  return { ...content, parts }
}

function isTerminal(part: ToolPart): boolean {
  return part.state === 'output-error' || part.state === 'output-denied' || (part.state === 'output-available' && part.preliminary !== true)
}

type DataChunk = Extract<UIMessageChunk, { type: `data-${string}` }>
const isData = (chunk: UIMessageChunk): chunk is DataChunk => chunk.type.startsWith('data-')
const titled = (title: string | undefined): { title?: string } => (title === undefined ? {} : { title })
const push = (content: MessageContent, part: MessagePart): MessageContent => ({ ...content, parts: [...content.parts, part] })

function replace(content: MessageContent, index: number, part: MessagePart): MessageContent {
  const parts = content.parts.slice()
  parts[index] = part
  return { ...content, parts }
}

/** Deltas carry the id of their part; since parts of one kind never interleave, the last open one is meant. */
function lastOpen(content: MessageContent, type: 'text' | 'reasoning'): number {
  return content.parts.findLastIndex((part) => part.type === type && part.state === 'streaming')
}

function extend(content: MessageContent, type: 'text' | 'reasoning', delta: string): MessageContent {
  const index = lastOpen(content, type)
  const part = content.parts[index]
  if (part === undefined || (part.type !== 'text' && part.type !== 'reasoning'))
    return push(content, { type, text: delta, state: 'streaming' })
  return replace(content, index, { ...part, text: part.text + delta })
}

function endProse(content: MessageContent, type: 'text' | 'reasoning'): MessageContent {
  const index = lastOpen(content, type)
  const part = content.parts[index]
  return part === undefined || part.type !== type ? content : replace(content, index, { ...part, state: 'done' })
}

function findTool(content: MessageContent, toolCallId: string): number {
  return content.parts.findLastIndex((part) => part.type === 'dynamic-tool' && part.toolCallId === toolCallId)
}

function putTool(
  content: MessageContent,
  toolCallId: string,
  toolName: string,
  change: Partial<ToolPart> & { state: ToolPart['state'] },
): MessageContent {
  const index = findTool(content, toolCallId)
  const part = content.parts[index]
  if (part === undefined || part.type !== 'dynamic-tool') return push(content, { type: 'dynamic-tool', toolName, toolCallId, ...change })
  return replace(content, index, { ...part, toolName, ...change })
}

function patchTool(content: MessageContent, toolCallId: string, change: Partial<ToolPart>): MessageContent {
  const index = findTool(content, toolCallId)
  const part = content.parts[index]
  return part === undefined || part.type !== 'dynamic-tool' ? content : replace(content, index, { ...part, ...change })
}

function putData(content: MessageContent, chunk: DataChunk): MessageContent {
  if (chunk.transient === true) return content
  const part: MessagePart = { type: chunk.type, data: chunk.data, ...(chunk.id === undefined ? {} : { id: chunk.id }) }
  const index =
    chunk.id === undefined ? -1 : content.parts.findLastIndex((each) => each.type === chunk.type && 'id' in each && each.id === chunk.id)
  return index < 0 ? push(content, part) : replace(content, index, part)
}

function mergeMetadata(into: JsonObject, from: JsonObject): JsonObject {
  const merged: JsonObject = { ...into }
  for (const [key, value] of Object.entries(from)) {
    const old = merged[key]
    merged[key] = isObject(old) && isObject(value) ? mergeMetadata(old, value) : value
  }
  return merged
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

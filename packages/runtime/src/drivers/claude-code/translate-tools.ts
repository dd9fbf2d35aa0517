/** Tool results as chunks: text within bounds, pictures as files, refusals apart from failures. */
import { CALL_STOPPED, LIMITS, type UIMessageChunk } from '@wheelhouse/client/protocol'
import { cutText } from './clean.ts'

/** Pictures travel inside the row as data URLs up to this size; larger ones are only named. */
const PICTURE_BYTES = 64 * 1024

export type ResultBlock = { tool_use_id: string; content?: unknown; is_error?: boolean }
/** Why a call has no result of its own: the person refused it, or it was stopped. */
export type Refusal = 'denied' | 'stopped' | null

/** `redact` takes the provider's key out of what a tool printed. */
export function resultChunks(block: ResultBlock, refusal: Refusal, redact: (text: string) => string): UIMessageChunk[] {
  const toolCallId = block.tool_use_id
  if (refusal === 'denied') return [{ type: 'tool-output-denied', toolCallId }]
  if (refusal === 'stopped') return [{ type: 'tool-output-error', toolCallId, errorText: CALL_STOPPED, dynamic: true }]
  const { texts, files } = read(block.content)
  const text = cutText(redact(texts.join('\n')), LIMITS.toolOutputInlineBytes)
  if (block.is_error === true) return [{ type: 'tool-output-error', toolCallId, errorText: text, dynamic: true }]
  return [{ type: 'tool-output-available', toolCallId, output: text, dynamic: true }, ...files]
}

function read(content: unknown): { texts: string[]; files: UIMessageChunk[] } {
  if (typeof content === 'string') return { texts: [content], files: [] }
  const texts: string[] = []
  const files: UIMessageChunk[] = []
  for (const item of Array.isArray(content) ? content : []) {
    if (!isRecord(item)) continue
    if (typeof item['text'] === 'string') texts.push(item['text'])
    else if (item['type'] === 'image') readPicture(item['source'], texts, files)
  }
  return { texts, files }
}

function readPicture(source: unknown, texts: string[], files: UIMessageChunk[]): void {
  if (!isRecord(source)) return
  const mediaType = typeof source['media_type'] === 'string' ? source['media_type'] : 'application/octet-stream'
  const data = typeof source['data'] === 'string' ? source['data'] : ''
  if (data.length > 0 && data.length <= PICTURE_BYTES) files.push({ type: 'file', url: `data:${mediaType};base64,${data}`, mediaType })
  else texts.push(`[${mediaType}, ${Math.floor((data.length * 3) / 4)} bytes]`)
}

const isRecord = (value: unknown): value is { [key: string]: unknown } => typeof value === 'object' && value !== null

/** A turn's input as the CLI takes it. */
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { wellFormed, type MessagePart } from '@wheelhouse/client/protocol'
import type { SendInput } from '../../driver/contract.ts'

type Content = Exclude<SDKUserMessage['message']['content'], string>
type Block = Content[number]
type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

const STEER_NOTE =
  '<system-reminder>\nThe user sent the message below while you were working on the last turn. It did not reach you before that turn ended; take it as their next message.\n</system-reminder>'
const SEED_NOTE =
  'The conversation so far, put together by the host from its own record because your copy of it is gone. It is history for context, not a request.'

/**
 * Always `later`: a message of any other priority that meets a turn the agent runs of its own accord
 * would be folded into it and never get a result of its own (decision 14).
 */
export function toUserMessage(input: SendInput, uuid: SDKUserMessage['uuid'] & string): SDKUserMessage {
  return {
    type: 'user',
    message: { role: 'user', content: contentOf(input) },
    parent_tool_use_id: null,
    session_id: '',
    priority: 'later',
    uuid,
    // Text of another session must not be read as a command or make the CLI open the files it mentions.
    ...(input.kind === 'delivery' ? { client_composed: true } : {}),
  }
}

function contentOf(input: SendInput): Content {
  if (input.kind === 'compaction') return [text('/compact')]
  const blocks = input.parts.flatMap(toBlock)
  return [
    ...(input.seed === null ? [] : [text(`<conversation-history>\n${SEED_NOTE}\n\n${input.seed}\n</conversation-history>`)]),
    ...(input.steer ? [text(STEER_NOTE)] : []),
    ...(blocks.length === 0 ? [text('(a message without text)')] : blocks),
  ]
}

const text = (value: string): Block => ({ type: 'text', text: wellFormed(value) })

function toBlock(part: MessagePart): Block[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [text(part.text)]
  if (part.type !== 'file') return []
  const picture = readPicture(part.url)
  return [picture ?? text(fileLine(part))]
}

/** What a file part becomes where only words can go. Data stays out: only its kind and name are told. */
function fileLine(part: Extract<MessagePart, { type: 'file' }>): string {
  const place = part.url.startsWith('data:') ? '' : ` at ${part.url}`
  return `[attached file: ${part.filename ?? 'without a name'}, ${part.mediaType}${place}]`
}

function readPicture(url: string): Block | null {
  const match = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=]+)$/.exec(url)
  const mediaType = PICTURES.find((type) => type === match?.[1])
  if (mediaType === undefined || match?.[2] === undefined) return null
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: match[2] } }
}

const PICTURES: readonly PictureType[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** A steer as it stands in a hook's answer: plain words, since the CLI wraps them and defangs tags of ours. */
export function steerText(parts: readonly MessagePart[]): string {
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'file' ? [fileLine(part)] : []))
  return `The user sent this message while you were working. Take it into account now:\n\n${wellFormed(words.join('\n\n'))}`
}

/** A small Messages client for the tests: posts, and reads the stream event by event. */
import type { Json, JsonObject } from '@wheelhouse/client/protocol'

export type Block = {
  type: string
  text?: string
  thinking?: string
  signature?: string
  id?: string
  name?: string
  input?: Json
  tool_use_id?: string
  content?: string
  is_error?: boolean
}
export type Message = { role: 'user' | 'assistant' | 'system'; content: string | Block[] }
export type Usage = { input_tokens: number; output_tokens: number; cache_read_input_tokens: number; cache_creation_input_tokens: number }
export type Event = {
  type: string
  index?: number
  content_block?: Block
  delta?: { text?: string; thinking?: string; signature?: string; partial_json?: string; stop_reason?: string }
  message?: { id: string; model: string; usage: Usage }
  usage?: Usage
  error?: { type: string; message: string }
}
export type Body = {
  type?: string
  error?: { type: string; message: string }
  content?: Block[]
  stop_reason?: string
  usage?: Usage
  input_tokens?: number
}
export type Answer = { status: number; headers: Headers; events: Event[]; body: Body; content: Block[]; broken: boolean }

const TOOLS = ['Bash', 'Read', 'Write'].map((name) => ({ name, description: name, input_schema: { type: 'object' } }))
export const KEY = 'sk-practice-canary'

export const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
export const assistant = (answer: Answer): Message => ({ role: 'assistant', content: answer.content })
/** Results for the calls of an answer, in their order. */
export const results = (answer: Answer, ...texts: string[]): Message => ({
  role: 'user',
  content: callsOf(answer).map((block, index) => ({ type: 'tool_result', tool_use_id: block.id ?? '', content: texts[index] ?? '' })),
})
export const callsOf = (answer: Answer): Block[] => answer.content.filter((block) => block.type === 'tool_use')
export const textOf = (answer: Answer): string => answer.content.map((block) => block.text ?? '').join('')

export type PostOptions = {
  body?: JsonObject
  headers?: { [name: string]: string }
  signal?: AbortSignal
  onEvent?: (event: Event) => void
}

export async function post(url: string, messages: Message[], options: PostOptions = {}): Promise<Answer> {
  const body = { model: 'practice', max_tokens: 100, stream: true, thinking: { type: 'adaptive' }, tools: TOOLS, messages, ...options.body }
  return await postRaw(url, JSON.stringify(body), options)
}

export async function postRaw(url: string, body: string, options: PostOptions = {}): Promise<Answer> {
  const response = await fetch(`${url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...options.headers },
    body,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const answer: Answer = { status: response.status, headers: response.headers, events: [], body: {}, content: [], broken: false }
  if (response.headers.get('content-type')?.includes('event-stream') !== true) {
    answer.body = JSON.parse(await response.text())
    answer.content = answer.body.content ?? []
    return answer
  }
  await readEvents(response, answer, options.onEvent)
  answer.content = fold(answer.events)
  return answer
}

async function readEvents(response: Response, answer: Answer, onEvent: ((event: Event) => void) | undefined): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  try {
    for await (const piece of response.body ?? []) {
      rest += decoder.decode(piece, { stream: true })
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(rest.slice(0, end))?.[1]
        rest = rest.slice(end + 2)
        if (data === undefined) continue
        const event: Event = JSON.parse(data)
        answer.events.push(event)
        onEvent?.(event)
      }
    }
  } catch {
    // A cut stream is what some tests want to see.
    answer.broken = true
  }
}

function fold(events: Event[]): Block[] {
  const blocks: Block[] = []
  const inputs: string[] = []
  for (const event of events) {
    const index = event.index ?? 0
    if (event.type === 'content_block_start' && event.content_block !== undefined) blocks[index] = { ...event.content_block }
    const block = blocks[index]
    if (block === undefined) continue
    if (event.type === 'content_block_stop' && block.type === 'tool_use') block.input = JSON.parse(inputs[index] ?? '{}')
    if (event.type !== 'content_block_delta' || event.delta === undefined) continue
    const { text, thinking, signature, partial_json: input } = event.delta
    if (text !== undefined) block.text = (block.text ?? '') + text
    if (thinking !== undefined) block.thinking = (block.thinking ?? '') + thinking
    if (signature !== undefined) block.signature = (block.signature ?? '') + signature
    if (input !== undefined) inputs[index] = (inputs[index] ?? '') + input
  }
  return blocks
}

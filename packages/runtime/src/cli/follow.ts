/** Shows a session's stream in a terminal: text as it comes, one line a tool call, one line an end. */
import type { EventStream } from '@wheelhouse/client'
import type { Approval, Message, StreamEvent, UIMessageChunk } from '@wheelhouse/client/protocol'
import { adviceOf } from './output.ts'

/** Of a tool call's input. */
const INPUT_LENGTH = 100

/** Control characters of the world do not reach the terminal; line breaks and tabs do. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const safe = (text: string): string => text.replaceAll(CONTROL, '')

export class Follower {
  readonly #json: boolean
  readonly #shown = new Map<string, number>()
  #answers = new Set<string>()
  #line = ''

  constructor(json: boolean) {
    this.#json = json
  }

  /** Shows events until the row that answers `untilAnswered` is final; gives its status. Null follows for ever. */
  async follow(stream: EventStream, { untilAnswered }: { untilAnswered: string | null }): Promise<Message['status']> {
    for await (const event of stream) {
      const ended = this.#take(event, untilAnswered)
      if (ended !== null) {
        stream.close()
        return ended
      }
    }
    return null
  }

  #take(event: StreamEvent, untilAnswered: string | null): Message['status'] {
    if (this.#json && event.type !== 'ping') process.stdout.write(`${JSON.stringify(event)}\n`)
    if (event.type === 'chunk') this.#chunks(event.messageId, event.n, event.chunks)
    else if (event.type === 'approval') this.#approval(event.approval)
    else if (event.type === 'row') {
      if (this.#answersIt(event.row, untilAnswered) && event.row.status !== 'pending' && event.row.boundary !== 'row-roll') {
        this.#end(event.row)
        return event.row.status
      }
      if (event.row.role === 'assistant' && event.row.status !== 'pending') this.#end(event.row)
    }
    return null
  }

  /** A row answers a message when it replies to it or continues a row that does. */
  #answersIt(row: Message, messageId: string | null): boolean {
    if (messageId === null || row.role !== 'assistant') return false
    if (row.replyTo === messageId || (row.rollOf !== null && this.#answers.has(row.rollOf))) this.#answers.add(row.id)
    return this.#answers.has(row.id)
  }

  /** A row of the transcript as it stands. */
  row(row: Message): void {
    if (this.#json) {
      process.stdout.write(`${JSON.stringify({ type: 'row', row })}\n`)
      return
    }
    if (row.role === 'user') this.#say(`> ${textOf(row)}\n`)
    else if (row.status !== 'pending') {
      this.#say(`${textOf(row)}\n`)
      this.#end(row)
    }
  }

  #chunks(messageId: string, n: number, chunks: readonly UIMessageChunk[]): void {
    for (const [index, chunk] of chunks.entries()) {
      if (n + index <= (this.#shown.get(messageId) ?? 0)) continue
      this.#shown.set(messageId, n + index)
      if (chunk.type === 'text-delta') this.#say(chunk.delta)
      else if (chunk.type === 'text-end') this.#break()
      else if (chunk.type === 'tool-input-available')
        this.#note(`[${chunk.toolName}] ${JSON.stringify(chunk.input).slice(0, INPUT_LENGTH)}`)
      else if (chunk.type === 'tool-output-error') this.#note(`[failed] ${chunk.errorText.slice(0, INPUT_LENGTH)}`)
    }
  }

  #approval(approval: Approval): void {
    if (approval.status === 'pending')
      this.#note(
        `[waits for a yes] ${approval.toolName} ${JSON.stringify(approval.input).slice(0, INPUT_LENGTH)} (answer it in the web app)`,
      )
  }

  #end(row: Message): void {
    this.#break()
    if (row.status === 'success' || row.boundary === 'row-roll') return
    const why = row.errorText ?? adviceOf(row.errorCode)
    this.#note(`[${row.status === 'paused' ? 'stopped' : row.status}${row.errorCode === null ? '' : ` ${row.errorCode}`}] ${why}`)
  }

  #note(text: string): void {
    this.#break()
    this.#say(`${text}\n`)
  }

  /** Ends a line that is not ended. */
  #break(): void {
    if (this.#line !== '') this.#say('\n')
  }

  #say(text: string): void {
    if (this.#json) return
    const clean = safe(text)
    process.stdout.write(clean)
    this.#line = (this.#line + clean).slice((this.#line + clean).lastIndexOf('\n') + 1)
  }
}

const textOf = (row: Message): string =>
  row.parts.map((part) => (part.type === 'text' ? part.text : part.type === 'dynamic-tool' ? `[${part.toolName}] ` : '')).join('')

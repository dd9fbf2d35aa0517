/** Shows a session's stream in a terminal: text as it comes, one line a tool call, one line an end. */
import type { EventStream } from '@wheelhouse/client'
import type { Approval, Json, Message, MessagePart, StreamEvent, UIMessageChunk } from '@wheelhouse/client/protocol'
import { adviceOf, cut, safe } from './output.ts'

/** Of a tool call's input. */
const INPUT_LENGTH = 100

export class Follower {
  readonly #json: boolean
  readonly #shown = new Map<string, number>()
  #answers = new Set<string>()
  /** Inputs and approvals that are on the screen: a reconnect tells them again. */
  readonly #told = new Set<string>()
  #line = ''

  constructor(json: boolean) {
    this.#json = json
  }

  /** Shows events until the row that answers `untilAnswered` is final; gives its status. Null follows for ever. */
  async follow(stream: EventStream, { untilAnswered }: { untilAnswered: string | null }): Promise<Message['status']> {
    // Whoever sent it has it on the screen.
    if (untilAnswered !== null) this.#told.add(untilAnswered)
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
    else if (event.type === 'snapshot' || event.type === 'resync') for (const each of event.snapshot.approvals) this.#approval(each)
    else if (event.type === 'row') {
      if (this.#answersIt(event.row, untilAnswered) && event.row.status !== 'pending' && event.row.boundary !== 'row-roll') {
        this.#end(event.row)
        return event.row.status
      }
      if (event.row.role === 'user') this.#input(event.row)
      else if (event.row.status !== 'pending') this.#end(event.row)
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
    if (row.role === 'user') this.#input(row)
    else if (row.status !== 'pending') {
      for (const part of row.parts) this.#part(part)
      this.#end(row)
    }
  }

  /** What a person said, once the agent has it: from here or from another window. */
  #input(row: Message): void {
    if (row.seq === null || this.#told.has(row.id)) return
    this.#told.add(row.id)
    this.#note(`> ${row.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`)
  }

  #part(part: MessagePart): void {
    if (part.type === 'text') {
      this.#say(part.text)
      this.#break()
    } else if (part.type === 'dynamic-tool') {
      this.#call(part.toolName, part.input)
      if (part.state === 'output-error') this.#failed(part.errorText ?? '')
    }
  }

  #call(toolName: string, input: Json | undefined): void {
    this.#note(`[${toolName}] ${input === undefined ? '' : cut(JSON.stringify(input), INPUT_LENGTH)}`)
  }

  #failed(text: string): void {
    this.#note(`[failed] ${cut(text, INPUT_LENGTH)}`)
  }

  #chunks(messageId: string, n: number, chunks: readonly UIMessageChunk[]): void {
    for (const [index, chunk] of chunks.entries()) {
      if (n + index <= (this.#shown.get(messageId) ?? 0)) continue
      this.#shown.set(messageId, n + index)
      if (chunk.type === 'text-delta') this.#say(chunk.delta)
      else if (chunk.type === 'text-end') this.#break()
      else if (chunk.type === 'tool-input-available') this.#call(chunk.toolName, chunk.input)
      else if (chunk.type === 'tool-output-error') this.#failed(chunk.errorText)
    }
  }

  #approval(approval: Approval): void {
    if (approval.status !== 'pending' || this.#told.has(approval.id)) return
    this.#told.add(approval.id)
    const input = cut(JSON.stringify(approval.input), INPUT_LENGTH)
    this.#note(`[waits for a yes] ${approval.toolName} ${input} (answer it in the web app: \`wheelhouse open\`)`)
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

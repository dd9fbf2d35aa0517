/** What the SDK reads the person's messages from: an endless iterable that can be fed and ended. */
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'

export class InputQueue implements AsyncIterable<SDKUserMessage> {
  readonly #waiting: SDKUserMessage[] = []
  #wake: (() => void) | null = null
  #ended = false

  push(message: SDKUserMessage): void {
    this.#waiting.push(message)
    this.#wake?.()
  }

  /** The agent finishes what it has and closes. */
  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage, void> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#ended) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

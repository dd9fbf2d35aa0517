/** What a turn has shown, so that nothing new is shown after a Stop while what is open still ends. */
import type { UIMessageChunk } from '@wheelhouse/client/protocol'

export class Shown {
  readonly #parts = new Set<string>()
  readonly #calls = new Set<string>()
  #any = false

  /** Something of the answer was shown; metadata does not count (decision 10). */
  get any(): boolean {
    return this.#any
  }

  /** Chunks of a turn that runs. */
  pass(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
    for (const chunk of chunks) this.#note(chunk)
    return [...chunks]
  }

  /** Chunks of a turn that is stopped: only ends of what was shown. */
  passEnds(chunks: readonly UIMessageChunk[]): UIMessageChunk[] {
    return this.pass(chunks.filter((chunk) => this.#ends(chunk)))
  }

  /** A sub-agent's output, or a notice, closes the gate as well. */
  note(): void {
    this.#any = true
  }

  #ends(chunk: UIMessageChunk): boolean {
    switch (chunk.type) {
      case 'text-end':
      case 'reasoning-end':
        return this.#parts.has(chunk.id)
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
      case 'tool-input-error':
        return this.#calls.has(chunk.toolCallId)
      case 'message-metadata':
        return true
      default:
        return false
    }
  }

  #note(chunk: UIMessageChunk): void {
    if (chunk.type !== 'message-metadata') this.#any = true
    if (chunk.type === 'text-start' || chunk.type === 'reasoning-start') this.#parts.add(chunk.id)
    else if (chunk.type === 'text-end' || chunk.type === 'reasoning-end') this.#parts.delete(chunk.id)
    else if (chunk.type === 'tool-input-start') this.#calls.add(chunk.toolCallId)
  }
}

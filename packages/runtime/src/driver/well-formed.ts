/** The door for an agent's output (decision 26): a driver lets everything through it before it emits. */
import { wellFormed, wellFormedJson, type Json, type UIMessageChunk } from '@wheelhouse/client/protocol'

const ENDS_IN_HALF = /[\ud800-\udbff]$/

/**
 * Chunks of one connection, in order. A character that an agent cut between two deltas is put
 * together again: its first half waits for the next delta of the same part.
 */
export class ChunkDoor {
  readonly #halves = new Map<string, string>()

  /** The chunks to emit for `chunk`: itself made well-formed, before it a half that found no partner, or none yet. */
  pass(chunk: UIMessageChunk): UIMessageChunk[] {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(`${chunk.type} ${chunk.id}`, chunk.delta, (delta) => ({ ...chunk, delta }))
      case 'tool-input-delta':
        return this.#delta(`${chunk.type} ${chunk.toolCallId}`, chunk.inputTextDelta, (inputTextDelta) => ({ ...chunk, inputTextDelta }))
      case 'text-end':
        return [...this.#rest(`text-delta ${chunk.id}`, (delta) => ({ type: 'text-delta', id: chunk.id, delta })), chunk]
      case 'reasoning-end':
        return [...this.#rest(`reasoning-delta ${chunk.id}`, (delta) => ({ type: 'reasoning-delta', id: chunk.id, delta })), chunk]
      case 'tool-input-available':
      case 'tool-input-error':
        this.#halves.delete(`tool-input-delta ${chunk.toolCallId}`)
        return [clean(chunk)]
      default:
        return [clean(chunk)]
    }
  }

  #delta(key: string, text: string, make: (text: string) => UIMessageChunk): UIMessageChunk[] {
    const whole = (this.#halves.get(key) ?? '') + text
    const half = ENDS_IN_HALF.exec(whole)?.[0] ?? ''
    if (half === '') this.#halves.delete(key)
    else this.#halves.set(key, half)
    const ready = whole.slice(0, whole.length - half.length)
    return ready === '' && whole !== '' ? [] : [make(wellFormed(ready))]
  }

  #rest(key: string, make: (text: string) => UIMessageChunk): UIMessageChunk[] {
    const half = this.#halves.get(key)
    this.#halves.delete(key)
    return half === undefined ? [] : [make(wellFormed(half))]
  }
}

/** A chunk is JSON, so its repair is the same chunk. */
function clean(chunk: UIMessageChunk): UIMessageChunk {
  const json: unknown = chunk
  return wellFormedJson(json as Json) as UIMessageChunk
}

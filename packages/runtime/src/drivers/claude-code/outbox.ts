/**
 * The one way out of a connection. Deltas of one part that come close together are merged, since
 * each event is one step of the session; everything keeps its order.
 */
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import type { DriverEvent, DriverPorts } from '../../driver/contract.ts'
import { ChunkDoor } from '../../driver/well-formed.ts'

/** Longest merged delta (spec README, constants). */
const MERGED_BYTES = 16_384

type Delta = Extract<UIMessageChunk, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>

export class Outbox {
  readonly #emit: (event: DriverEvent) => void
  readonly #after: DriverPorts['after']
  readonly #door = new ChunkDoor()
  #turnId: string | null = null
  #chunks: UIMessageChunk[] = []
  #cancel: (() => void) | null = null
  #closed = false

  constructor(emit: (event: DriverEvent) => void, after: DriverPorts['after']) {
    this.#emit = emit
    this.#after = after
  }

  /** Chunks of a turn; they leave within the same tick. */
  chunks(turnId: string, chunks: readonly UIMessageChunk[]): void {
    if (chunks.length === 0 || this.#closed) return
    if (this.#turnId !== turnId) this.flush()
    this.#turnId = turnId
    for (const chunk of chunks) for (const ready of this.#door.pass(chunk)) this.#add(ready)
    this.#cancel ??= this.#after(0, () => this.flush())
  }

  /** Any other event: behind the chunks that came before it. */
  event(event: DriverEvent): void {
    if (this.#closed) return
    this.flush()
    this.#emit(event)
  }

  /** The last event. Nothing leaves after it. */
  last(event: DriverEvent): void {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    this.#emit(event)
  }

  flush(): void {
    this.#cancel?.()
    this.#cancel = null
    const chunks = this.#chunks
    if (this.#turnId === null || chunks.length === 0) return
    this.#chunks = []
    this.#emit({ type: 'chunk', turnId: this.#turnId, chunks })
  }

  #add(chunk: UIMessageChunk): void {
    const last = this.#chunks.at(-1)
    const merged = last === undefined ? null : merge(last, chunk)
    if (merged === null) this.#chunks.push(chunk)
    else this.#chunks[this.#chunks.length - 1] = merged
  }
}

/** Two deltas of one part as one, or null. */
function merge(first: UIMessageChunk, second: UIMessageChunk): Delta | null {
  if (first.type === 'tool-input-delta' && second.type === 'tool-input-delta') {
    const text = first.inputTextDelta + second.inputTextDelta
    return first.toolCallId === second.toolCallId && fits(text) ? { ...first, inputTextDelta: text } : null
  }
  const areProse =
    (first.type === 'text-delta' && second.type === 'text-delta') || (first.type === 'reasoning-delta' && second.type === 'reasoning-delta')
  if (!areProse || first.id !== second.id || !fits(first.delta + second.delta)) return null
  return { ...first, delta: first.delta + second.delta }
}

const fits = (text: string): boolean => text.length * 3 <= MERGED_BYTES || Buffer.byteLength(text) <= MERGED_BYTES

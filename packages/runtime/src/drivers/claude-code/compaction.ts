/**
 * What the CLI tells of a compaction. Success comes before its boundary, so "success without a
 * boundary" is known only at the turn's result (decision 14).
 */
import type { DriverEvent, SendInput } from '../../driver/contract.ts'

type CompactionEvent = Extract<DriverEvent, { type: `compaction-${string}` }>

export class CompactionWatch {
  readonly #emit: (event: CompactionEvent) => void
  #state: 'none' | 'running' | 'succeeded' = 'none'

  constructor(emit: (event: CompactionEvent) => void) {
    this.#emit = emit
  }

  get running(): boolean {
    return this.#state !== 'none'
  }

  /** Asked for by a person in words or by the turn's kind; otherwise the agent's own doing. */
  begin(input: SendInput | null): void {
    if (this.#state === 'running') return
    this.#state = 'running'
    const [part] = input?.parts ?? []
    const asked = input?.kind === 'compaction' || (part?.type === 'text' && /^\s*\/compact\b/.test(part.text))
    this.#emit({ type: 'compaction-start', trigger: asked ? 'manual' : 'auto' })
  }

  succeeded(): void {
    this.#state = 'succeeded'
  }

  complete(anchor: string | null): void {
    this.#state = 'none'
    this.#emit({ type: 'compaction-complete', anchor })
  }

  fail(message: string): void {
    this.#state = 'none'
    this.#emit({ type: 'compaction-error', message })
  }

  /** The turn is over: what has not been said yet is not coming. */
  settle(): void {
    if (this.#state === 'succeeded') this.complete(null)
    else if (this.#state === 'running') this.fail('The compaction did not finish.')
  }
}

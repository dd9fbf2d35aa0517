/**
 * Answers of commands that make no row, so that a repeated Idempotency-Key is the same command
 * (decision 4): while it runs the repeat waits for it, and for 24 h afterwards it is answered alike.
 */
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import { HostError } from './host-api.ts'
import type { Logger } from './log.ts'

export type KeptAnswer = { bodyHash: string; status: number; body: string }

export type AnswerPorts = { store: Pick<Store, 'recallAnswer' | 'rememberAnswer'>; clock: Clock; log: Logger }

type Running = { bodyHash: string; answer: Promise<KeptAnswer> }

export class Answers {
  readonly #ports: AnswerPorts
  /** Commands that run, or whose answer could not be saved. */
  readonly #running = new Map<string, Running>()

  constructor(ports: AnswerPorts) {
    this.#ports = ports
  }

  /**
   * Runs the command of that name (route and key), or gives the answer it was given. Rejects as `run`
   * does, and then the key is free; IDEMPOTENCY_KEY_REUSED for another body.
   */
  async once(name: string, { bodyHash, status }: { bodyHash: string; status: number }, run: () => unknown): Promise<KeptAnswer> {
    const known = this.#running.get(name) ?? this.#ports.store.recallAnswer(name)
    if (known !== null && known.bodyHash !== bodyHash) throw new HostError('IDEMPOTENCY_KEY_REUSED', name.slice(name.indexOf(' ') + 1))
    if (known !== null && 'body' in known) return known
    const running = known ?? this.#start(name, { bodyHash, status }, run)
    const answer = await running.answer
    // What was done is not refused because its answer cannot be kept: the next repeat tries that again.
    if (this.#running.get(name) === running && this.#keep(name, answer)) this.#running.delete(name)
    return answer
  }

  #start(name: string, { bodyHash, status }: { bodyHash: string; status: number }, run: () => unknown): Running {
    const answer = (async () => ({ bodyHash, status, body: JSON.stringify(await run()) }))()
    const running = { bodyHash, answer }
    this.#running.set(name, running)
    answer.catch(() => this.#running.delete(name))
    return running
  }

  #keep(name: string, answer: KeptAnswer): boolean {
    const { store, clock, log } = this.#ports
    try {
      store.rememberAnswer(name, answer, clock.iso())
      return true
    } catch (error) {
      log.warn({ error: String(error) }, 'the answer of a command could not be kept')
      return false
    }
  }
}

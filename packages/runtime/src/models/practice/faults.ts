/** Counts how often a scripted disturbance has happened, by its content and place, never by the order of calls. */
import type { Step } from './script.ts'

/** Disturbances remembered; the oldest are forgotten and would happen again. */
const REMEMBERED = 5_000

export class DisturbanceCounter {
  readonly #seen = new Map<string, number>()

  /** Whether the step disturbs this time. `name`: script, round and step; `place`: the conversation and the prompt in it. */
  happens(step: Step | undefined, name: string, place: { conversation: string; promptTurn: number }): boolean {
    if (step === undefined || !('times' in step)) return false
    if (step.onlyWithHistory && place.promptTurn === 0) return false
    if (step.times === Infinity) return true
    const key = step.scope === 'all' ? name : `${place.conversation}:${place.promptTurn}:${name}`
    const count = this.#seen.get(key) ?? 0
    if (count >= step.times) return false
    this.#seen.delete(key)
    this.#seen.set(key, count + 1)
    if (this.#seen.size > REMEMBERED)
      for (const oldest of this.#seen.keys()) {
        this.#seen.delete(oldest)
        break
      }
    return true
  }
}

/**
 * The steers of one turn, from the stash to the agent's history (decision 2).
 *
 *   stashed -> offered -> injected -> consumed -> bounded
 *      |          |          |
 *      +----------+----------+--> undelivered, when the turn ends before
 *
 * Consumed is proved differently by the two hooks: a batch hook's answer is in the history at once;
 * a single tool's is there when that tool has a result that no Stop replaced.
 */
import type { DriverEvent, DriverPorts } from '../../driver/contract.ts'

type SteerEvent = Extract<DriverEvent, { type: `steer-${string}` }>
type Steer = { inputId: string; text: string; state: 'stashed' | 'offered' | 'injected' | 'consumed'; toolUseId: string | null }

export type SteerPorts = Pick<DriverPorts, 'after' | 'newId'> & { emit(event: SteerEvent): void }

/** How long a hook waits for the host's commit; the agent stands still meanwhile. */
const ANSWER_WAIT_MS = 3_000

export class SteerBoard {
  readonly #turnId: string
  readonly #ports: SteerPorts
  /** In the order they were given; what is bounded has left. */
  #steers: Steer[] = []
  readonly #offerings = new Map<string, (inputIds: readonly string[] | null) => void>()
  #closed = false

  constructor(turnId: string, ports: SteerPorts) {
    this.#turnId = turnId
    this.#ports = ports
  }

  /** False: the turn takes no more. The same input twice is one, with its newest text. */
  stash(inputId: string, text: string): boolean {
    if (this.#closed) return false
    const known = this.#steers.find((steer) => steer.inputId === inputId)
    if (known === undefined) this.#steers.push({ inputId, text, state: 'stashed', toolUseId: null })
    // An offer waits for its commit, and what was edited before that commit is what goes in.
    else if (known.state === 'stashed' || known.state === 'offered') known.text = text
    return true
  }

  /** Only what has not been offered can be taken back. */
  withdraw(inputIds: readonly string[]): void {
    this.#steers = this.#steers.filter((steer) => steer.state !== 'stashed' || !inputIds.includes(steer.inputId))
  }

  /** A hook of the CLI asks whether there is something to put in. `toolUseId` null: the hook behind all tools of a round. */
  async offer(toolUseId: string | null): Promise<string | null> {
    const offered = this.#closed ? [] : this.#steers.filter((steer) => steer.state === 'stashed')
    if (offered.length === 0) return null
    for (const steer of offered) steer.state = 'offered'
    const granted = await this.#ask(offered.map((steer) => steer.inputId))
    // No answer in time: the host may still have committed the offer, so they stay offered and come back at the turn's end.
    if (granted === null || this.#closed) return null
    this.#steers = this.#steers.filter((steer) => !offered.includes(steer) || granted.includes(steer.inputId))
    const injected = offered.filter((steer) => granted.includes(steer.inputId))
    return injected.length === 0 ? null : this.#inject(injected, toolUseId)
  }

  answer(offeringId: string, inputIds: readonly string[]): void {
    this.#offerings.get(offeringId)?.(inputIds)
  }

  /** The tool that carried a steer has its own result. */
  toolAnswered(toolUseId: string): void {
    this.#consume(this.#steers.filter((steer) => steer.state === 'injected' && steer.toolUseId === toolUseId))
  }

  /** The model has begun to answer a request that held everything injected so far: the boundary is here. */
  modelMessage(): void {
    const bounded = this.#steers.filter((steer) => steer.state === 'injected' || steer.state === 'consumed')
    if (bounded.length === 0) return
    this.#consume(bounded.filter((steer) => steer.state === 'injected'))
    this.#steers = this.#steers.filter((steer) => !bounded.includes(steer))
    this.#ports.emit({ type: 'steer-boundary', turnId: this.#turnId, inputIds: idsOf(bounded) })
  }

  /** The turn is being stopped: nothing more goes in. */
  close(): void {
    this.#closed = true
    for (const answer of this.#offerings.values()) answer(null)
  }

  /** The turn is over: what the agent's history does not hold goes back. */
  end(): void {
    this.close()
    const back = this.#steers.filter((steer) => steer.state !== 'consumed')
    this.#steers = []
    if (back.length > 0) this.#ports.emit({ type: 'steer-undelivered', turnId: this.#turnId, inputIds: idsOf(back) })
  }

  #ask(inputIds: string[]): Promise<readonly string[] | null> {
    const { after, newId, emit } = this.#ports
    const offeringId = newId()
    return new Promise((resolve) => {
      const cancel = after(ANSWER_WAIT_MS, () => settle(null))
      const settle = (granted: readonly string[] | null): void => {
        cancel()
        this.#offerings.delete(offeringId)
        resolve(granted)
      }
      this.#offerings.set(offeringId, settle)
      // The answer may come from inside this call.
      emit({ type: 'steer-offering', turnId: this.#turnId, offeringId, inputIds })
    })
  }

  #inject(steers: Steer[], toolUseId: string | null): string {
    for (const steer of steers) {
      steer.state = 'injected'
      steer.toolUseId = toolUseId
    }
    if (toolUseId === null) this.#consume(steers)
    return steers.map((steer) => steer.text).join('\n\n')
  }

  #consume(steers: Steer[]): void {
    if (steers.length === 0) return
    for (const steer of steers) steer.state = 'consumed'
    this.#ports.emit({ type: 'steer-consumed', turnId: this.#turnId, inputIds: idsOf(steers) })
  }
}

const idsOf = (steers: readonly Steer[]): string[] => steers.map((steer) => steer.inputId)

/** One connection under test: what was done to it and what it told, in one order. */
import assert from 'node:assert/strict'
import { foldChunks, emptyContent, type MessagePart } from '@wheelhouse/client/protocol'
import type { AgentRuntimeConnection, ApprovalDecision, ConnectInput, DriverEvent, SendInput } from '../../contract.ts'
import { judge } from './judge.ts'
import type { DriverTarget, OpenedTarget } from './target.ts'

const DEADLINE_MS = 20_000
/** How many of the last entries a failure shows. */
const SHOWN = 60

/** An entry of the trace: an event of the driver, or what the suite did as its host. */
export type Entry =
  | { event: DriverEvent }
  | { did: 'send'; turnId: string }
  | { did: 'redirect'; turnId: string; inputId: string; taken: boolean }
  | { did: 'withdraw'; inputIds: readonly string[] }
  | { did: 'answer-offering'; offeringId: string; inputIds: readonly string[] }
  | { did: 'answer-approval'; approvalId: string; allow: boolean }
  | { did: 'interrupt'; turnId: string }
  | { did: 'close' }
  | { did: 'closed' }

export type EventOf<Type extends DriverEvent['type']> = Extract<DriverEvent, { type: Type }>

export const YES: ApprovalDecision = { allow: true, reason: null, updatedInput: null, answers: null }
export const NO: ApprovalDecision = { allow: false, reason: 'Not this one, please.', updatedInput: null, answers: null }

export type RigOptions = {
  resumeToken?: string | null
  /** Changes of the input. */
  over?: Partial<OpenedTarget['input']>
  /** Which of the offered steers may go in; default: all, at once. null = no answer. */
  grant?: (inputIds: readonly string[]) => readonly string[] | null
}

export class Rig {
  readonly trace: Entry[] = []
  readonly connection: AgentRuntimeConnection
  readonly logged: string[] = []
  /** What the connection was made from. */
  readonly input: ConnectInput
  readonly #target: DriverTarget
  readonly #opened: OpenedTarget
  readonly #grant: NonNullable<RigOptions['grant']>
  readonly #waiting = new Set<() => void>()
  #serial = 0
  #closed = false

  constructor(target: DriverTarget, opened: OpenedTarget, options: RigOptions = {}) {
    this.#target = target
    this.#opened = opened
    this.#grant = options.grant ?? ((ids) => ids)
    const { ports, ...input } = { ...opened.input, ...options.over }
    this.input = {
      ...input,
      sessionId: 'conformance',
      generation: 1,
      resumeToken: options.resumeToken ?? null,
      ports: {
        ...ports,
        log: (level, message, fields) => {
          this.logged.push(`${message} ${JSON.stringify(fields ?? {})}`)
          ports.log(level, message, fields)
        },
      },
      emit: (event) => this.#hear(event),
    }
    this.connection = target.driver.connect(this.input)
  }

  get events(): DriverEvent[] {
    return this.trace.flatMap((entry) => ('event' in entry ? [entry.event] : []))
  }

  all<Type extends DriverEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type)
  }

  /** Sends a turn, as a host does once the connection is live, and gives its id. */
  async send(text: string, over: Partial<SendInput> = {}): Promise<string> {
    await this.until('connected', () => true)
    return this.sendNow(text, over)
  }

  sendNow(text: string, over: Partial<SendInput> = {}): string {
    this.#serial += 1
    const turnId = over.turnId ?? `turn-${this.#serial}`
    this.trace.push({ did: 'send', turnId })
    this.connection.send({
      inputId: `input-${this.#serial}`,
      kind: 'user',
      parts: [{ type: 'text', text }],
      steer: false,
      headless: false,
      seed: null,
      ...over,
      turnId,
    })
    return turnId
  }

  redirect(turnId: string, inputId: string, text: string): boolean {
    const at = this.trace.length
    const taken = this.connection.redirect?.({ turnId, inputId, parts: [{ type: 'text', text }] }) ?? false
    // Before what it caused: the driver may tell something from inside the call.
    this.trace.splice(at, 0, { did: 'redirect', turnId, inputId, taken })
    return taken
  }

  withdraw(inputIds: readonly string[]): void {
    this.trace.push({ did: 'withdraw', inputIds })
    this.connection.withdrawRedirect?.(inputIds)
  }

  answerOffering(offeringId: string, inputIds: readonly string[]): void {
    this.trace.push({ did: 'answer-offering', offeringId, inputIds })
    this.connection.answerOffering?.(offeringId, inputIds)
  }

  answer(approvalId: string, decision: ApprovalDecision): void {
    this.trace.push({ did: 'answer-approval', approvalId, allow: decision.allow })
    this.connection.answerApproval(approvalId, decision)
  }

  interrupt(turnId: string): void {
    this.trace.push({ did: 'interrupt', turnId })
    this.connection.interrupt(turnId)
  }

  /** The first event of `type` that fits, waited for when it has not come yet. */
  async until<Type extends DriverEvent['type']>(type: Type, fits: (event: EventOf<Type>) => boolean): Promise<EventOf<Type>> {
    const find = (): EventOf<Type> | undefined => this.all(type).find(fits)
    await this.untilTrue(() => find() !== undefined, type)
    return find() ?? assert.fail(`${type} was there and is gone`)
  }

  /** Waits for a condition that an event can make true. */
  untilTrue(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        reject(new Error(`${what} did not come in time; so far:\n${this.show()}`))
      }, this.#deadlineMs())
      const look = (): void => {
        if (!condition()) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
    })
  }

  /** `work`, unless it takes too long. */
  async inTime<T>(work: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} took too long; so far:\n${this.show()}`)), this.#deadlineMs())
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }

  #deadlineMs(): number {
    return this.#target.deadlineMs ?? DEADLINE_MS
  }

  /** How the turn ended, waited for. */
  async end(turnId: string): Promise<EventOf<'turn-complete' | 'error'>> {
    const find = (): EventOf<'turn-complete' | 'error'> | undefined =>
      this.events.find(
        (event): event is EventOf<'turn-complete' | 'error'> =>
          (event.type === 'turn-complete' || event.type === 'error') && event.turnId === turnId,
      )
    await this.untilTrue(() => find() !== undefined, `the end of ${turnId}`)
    return find() ?? assert.fail('the end was there and is gone')
  }

  async succeeds(turnId: string): Promise<void> {
    const end = await this.end(turnId)
    assert.ok(end.type === 'turn-complete' && end.outcome === 'success', `${turnId} should succeed\n${this.show()}`)
  }

  async stops(turnId: string): Promise<void> {
    const end = await this.end(turnId)
    assert.ok(end.type === 'turn-complete' && end.outcome === 'stopped', `${turnId} should be stopped\n${this.show()}`)
  }

  /** The tool call of a turn that has begun to run. */
  async toolRuns(turnId: string): Promise<void> {
    await this.until('chunk', (event) => event.turnId === turnId && event.chunks.some((chunk) => chunk.type === 'tool-input-available'))
  }

  /** What the turn's chunks have become. */
  parts(turnId: string): MessagePart[] {
    const chunks = this.all('chunk').flatMap((event) => (event.turnId === turnId ? event.chunks : []))
    return foldChunks(emptyContent(), chunks).parts
  }

  text(turnId: string): string {
    return this.parts(turnId)
      .flatMap((part) => (part.type === 'text' ? [part.text] : []))
      .join('')
  }

  /** Closes, twice at once and once more, and judges all that was told. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.trace.push({ did: 'close' })
    await this.inTime(Promise.all([this.connection.close('the test is over'), this.connection.close('the test is over')]), 'closing')
    await this.inTime(this.connection.close('once more'), 'closing again')
    this.trace.push({ did: 'closed' })
    await judge(this.trace, this.#secrets(), this.logged).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${this.show()}`, { cause: error })
    })
  }

  /** The trace as text, one entry a line. */
  show(): string {
    const lines = this.trace.slice(-SHOWN).map((entry) => `  ${JSON.stringify('event' in entry ? entry.event : entry).slice(0, 300)}`)
    return lines.join('\n')
  }

  #secrets(): string[] {
    const { apiKey } = this.#opened.input.provider
    return apiKey === null ? [] : [apiKey]
  }

  #hear(event: DriverEvent): void {
    this.trace.push({ event })
    if (event.type === 'steer-offering') {
      const granted = this.#grant(event.inputIds)
      if (granted !== null) this.answerOffering(event.offeringId, granted)
    }
    for (const look of this.#waiting) look()
  }
}

/**
 * One turn of a scripted agent: its steps as a generator that rests where it must wait. An interrupt
 * is thrown in at a rest; whatever is open is closed on the way out, so no card is left running.
 */
import type { Json, UIMessageChunk } from '@wheelhouse/client/protocol'
import { Died, Interrupted, type Pause, type Resume, type ScriptedAgent } from './agent.ts'
import type { FromAgent, ToAgent } from './native.ts'
import { parseScript, type Step } from './script.ts'

type Steps = Generator<Pause, void, Resume>
type Decision = Extract<ToAgent, { type: 'decision' }>
type Verb<V extends Step['verb']> = Extract<Step, { verb: V }>

/** Steps in which a turn may rest. */
type Pausing = 'tool' | 'ask' | 'question' | 'plan' | 'wait' | 'sleep' | 'meanwhile'

/** A character cut in half between two deltas, and every kind of ill-formed text. */
const GARBLE = ['left \ud83d', '\ude00 right ', 'alone \ud83d', ' nul \0', ' low \ude00 ', 'end \ud83d']

class Failed extends Error {
  readonly step: Verb<'fail'>
  constructor(step: Verb<'fail'>) {
    super(step.text)
    this.step = step
  }
}

/** How many tokens a text is, roughly; only has to grow with it. */
const tokensOf = (characters: number): number => Math.ceil(characters / 4)
const RETRIES = 10
/** How the agent notes an input that was meant for an earlier turn. */
const STEER_MARK = 'meanwhile the person said: '

/** What a turn is made of. */
export type TurnPlan = { name: string; own: boolean; steps: Step[]; input: Extract<ToAgent, { type: 'input' }> | null }

export class Turn {
  readonly agent: ScriptedAgent
  readonly plan: TurnPlan
  /** Steps not done yet; a steer puts its own first. */
  readonly left: Step[]
  /** The turn an interrupt named: this one, or the one inside it. */
  stopAt: string | null = null
  /** The turn of its own accord that runs inside this one. */
  inner: Turn | null = null
  #stepOpen = false
  #spoken = 0
  /** Steers that were injected before a tool and are in the history once its result is. */
  #carried: { id: string; text: string }[] = []

  constructor(agent: ScriptedAgent, plan: TurnPlan) {
    this.agent = agent
    this.plan = plan
    this.left = plan.steps.slice()
  }

  isNamed(name: string): boolean {
    return this.plan.name === name || this.inner?.isNamed(name) === true
  }

  *run(): Steps {
    const { agent, plan } = this
    agent.say({ type: 'turn-began', turn: plan.name })
    if (plan.input?.seed != null) agent.remember(plan.input.seed)
    if (plan.input?.kind === 'message') agent.remember(plan.input.steer ? `${STEER_MARK}${plan.input.text}` : plan.input.text)
    try {
      if (plan.input?.kind === 'compaction') this.#compact('manual', null)
      for (let step = this.left.shift(); step !== undefined; step = this.left.shift()) {
        yield* this.#do(step)
        if (agent.steer === 'any-time') yield* this.#takeSteersNow()
      }
      this.#finish()
      agent.say({ type: 'turn-ended', turn: plan.name, outcome: 'success' })
    } catch (error) {
      this.#failedBy(error)
    }
  }

  #finish(): void {
    this.#closeStep()
    this.agent.say({ type: 'context', usedTokens: tokensOf(this.agent.characters + this.#spoken) })
  }

  #failedBy(error: unknown): void {
    const { agent, plan } = this
    if (error instanceof Interrupted) {
      this.#finish()
      agent.say({ type: 'turn-ended', turn: plan.name, outcome: 'stopped' })
    } else if (error instanceof Failed) {
      this.#finish()
      const { code, status, text } = error.step
      agent.say({ type: 'turn-failed', turn: plan.name, code, status, message: text })
    } else throw error
  }

  *#do(step: Step): Steps {
    switch (step.verb) {
      case 'tool':
        yield* this.#tool(step)
        break
      case 'ask':
        yield* this.#ask('tool', step.name, step.input, () => step.output)
        break
      case 'question':
        yield* this.#question(step)
        break
      case 'plan':
        yield* this.#ask('plan', 'ExitPlanMode', { plan: step.text }, () => 'approved')
        break
      case 'wait':
        yield* this.#until(step.key)
        break
      case 'sleep':
        yield { for: 'timer', id: this.agent.world.newId(), ms: step.ms }
        break
      case 'meanwhile':
        yield* this.#meanwhile(step.step)
        break
      default:
        this.#doAtOnce(step)
    }
  }

  #doAtOnce(step: Exclude<Step, { verb: Pausing }>): void {
    switch (step.verb) {
      case 'say':
        return this.#prose('text', words(step.text))
      case 'think':
        return this.#prose('reasoning', words(step.text))
      case 'repeat':
        return this.#prose(
          'text',
          Array.from({ length: step.times }, (_, at) => (step.text === '' ? `${at + 1} ` : `${step.text} `)),
        )
      case 'garble':
        return this.#prose('text', GARBLE)
      case 'recall':
        return this.#prose('text', [this.#memory()])
      case 'file':
        return this.#out({ type: 'file', url: step.url, mediaType: step.mediaType })
      case 'retry':
        return this.#retry(step.times)
      case 'compact':
        return this.#compact('auto', step.error)
      case 'autonomous':
        this.agent.ownSteps.push(step.step)
        return
      case 'background':
        return this.agent.startTask(step.key, step.title)
      case 'fail':
        throw new Failed(step)
      case 'die':
        throw new Died()
      case 'stubborn':
        this.agent.stubborn = true
        return
      case 'cling':
        return this.agent.world.cling()
      default:
        step satisfies never
    }
  }

  #say(message: FromAgent): void {
    this.agent.say(message)
  }

  /** Output belongs to an answer of the model, which begins with its first chunk. */
  #out(chunk: UIMessageChunk): void {
    const turn = this.plan.name
    if (!this.#stepOpen) {
      this.#stepOpen = true
      this.#say({ type: 'out', turn, chunk: { type: 'start-step' } })
    }
    this.#say({ type: 'out', turn, chunk })
  }

  /** An answer of the model ends: what it cost is known. */
  #closeStep(): void {
    if (!this.#stepOpen) return
    this.#stepOpen = false
    const turn = this.plan.name
    this.#say({ type: 'out', turn, chunk: { type: 'finish-step' } })
    const inputTokens = tokensOf(this.agent.characters)
    this.#say({ type: 'usage', turn, request: this.agent.world.newId(), inputTokens, outputTokens: tokensOf(this.#spoken) })
  }

  #prose(kind: 'text' | 'reasoning', deltas: readonly string[]): void {
    const id = this.agent.world.newId()
    this.#out({ type: `${kind}-start`, id })
    for (const delta of deltas) {
      this.#spoken += delta.length
      this.#out({ type: `${kind}-delta`, id, delta })
    }
    this.#out({ type: `${kind}-end`, id })
  }

  #memory(): string {
    const { history } = this.agent
    const [first = ''] = history
    return `I remember ${history.length} inputs, first: ${first.split('\n')[0] ?? ''}`
  }

  *#until(key: string): Steps {
    if (!this.agent.isReleased(key)) yield { for: 'key', key }
  }

  #retry(times: number): void {
    for (let attempt = 1; attempt <= times; attempt += 1)
      this.#say({ type: 'retry', turn: this.plan.name, attempt, maxAttempts: RETRIES, reason: 'overloaded' })
  }

  #compact(trigger: 'manual' | 'auto', error: string | null): void {
    this.#say({ type: 'compaction', phase: 'start', trigger })
    if (error !== null) {
      this.#say({ type: 'compaction', phase: 'error', message: error })
      return
    }
    this.agent.summarize('a summary of what was before')
    this.#say({ type: 'compaction', phase: 'complete' })
  }

  *#tool(step: Verb<'tool'>): Steps {
    const toolCallId = this.#startTool(step.name, step.input)
    yield* this.#hookBeforeTool(toolCallId)
    yield* this.#runTool(toolCallId, step.name, step.until, step.output)
    yield* this.#afterTools()
  }

  #startTool(toolName: string, input: Json): string {
    const toolCallId = this.agent.world.newId()
    this.#out({ type: 'tool-input-start', toolCallId, toolName, dynamic: true })
    this.#out({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true })
    return toolCallId
  }

  *#runTool(toolCallId: string, name: string, until: string | null, output: string): Steps {
    if (this.agent.policy.disabledTools.includes(name)) {
      this.#out({ type: 'tool-output-error', toolCallId, errorText: `${name} is disabled`, dynamic: true })
      return
    }
    try {
      if (until !== null) yield* this.#until(until)
    } catch (error) {
      this.#out({ type: 'tool-output-error', toolCallId, errorText: 'interrupted', dynamic: true })
      throw error
    }
    this.#out({ type: 'tool-output-available', toolCallId, output, dynamic: true })
  }

  /** The results are in the history: so is what was injected with them, and what came since may be. */
  *#afterTools(): Steps {
    this.#closeStep()
    this.#keepCarried()
    yield* this.#takeSteersNow()
  }

  *#hookBeforeTool(toolCallId: string): Steps {
    if (this.agent.steer === 'none' || this.plan.own) return
    try {
      this.#carried.push(...(yield* this.#hook()))
    } catch (error) {
      this.#out({ type: 'tool-output-error', toolCallId, errorText: 'interrupted', dynamic: true })
      throw error
    }
  }

  *#takeSteersNow(): Steps {
    if (this.agent.steer === 'none' || this.plan.own) return
    this.#carried.push(...(yield* this.#hook()))
    this.#keepCarried()
  }

  *#hook(): Generator<Pause, { id: string; text: string }[], Resume> {
    const hook = this.agent.world.newId()
    this.#say({ type: 'hook', turn: this.plan.name, hook })
    const answer = yield { for: 'hook', id: hook }
    return answer?.type === 'hook-answer' ? answer.steers : []
  }

  #keepCarried(): void {
    const steers = this.#carried.splice(0)
    if (steers.length === 0) return
    this.#closeStep()
    for (const steer of steers) this.agent.remember(steer.text)
    this.#say({ type: 'remembered', turn: this.plan.name, steers: steers.map((steer) => steer.id) })
    this.left.unshift(...steers.flatMap((steer) => parseScript(steer.text)))
  }

  *#question(step: Verb<'question'>): Steps {
    const input = { questions: [{ question: step.text, options: step.options.map((label) => ({ label })) }] }
    yield* this.#ask('question', 'AskUserQuestion', input, (decision) => Object.values(decision.answers ?? {}).join(', '))
  }

  *#ask(kind: 'tool' | 'question' | 'plan', toolName: string, input: Json, output: (decision: Decision) => string): Steps {
    const toolCallId = this.#startTool(toolName, input)
    yield* this.#hookBeforeTool(toolCallId)
    // Full access lifts approvals of tools; a question to a person is no approval.
    const decision = kind === 'tool' && !this.agent.policy.asks ? YES : yield* this.#permission(kind, toolCallId, toolName, input)
    if (decision.allow) {
      if (kind === 'tool' && decision.input !== null)
        this.#out({ type: 'tool-input-available', toolCallId, toolName, input: decision.input, dynamic: true })
      yield* this.#runTool(toolCallId, toolName, null, output(decision))
    } else this.#out({ type: 'tool-output-denied', toolCallId })
    yield* this.#afterTools()
  }

  *#permission(kind: 'tool' | 'question' | 'plan', toolCallId: string, toolName: string, input: Json): Generator<Pause, Decision, Resume> {
    const permission = this.agent.world.newId()
    this.#say({ type: 'permission', turn: this.plan.name, permission, kind, toolCallId, toolName, input })
    try {
      const answer = yield { for: 'permission', id: permission }
      this.#say({ type: 'permission-used', permission })
      return answer?.type === 'decision' ? answer : NO
    } catch (error) {
      this.#say({ type: 'permission-gone', permission, reason: 'the turn was interrupted' })
      this.#out({ type: 'tool-output-error', toolCallId, errorText: 'interrupted', dynamic: true })
      throw error
    }
  }

  /** A turn of its own accord inside this one. An interrupt that names it ends it alone. */
  *#meanwhile(step: Step): Steps {
    this.#closeStep()
    const inner = new Turn(this.agent, { name: this.agent.ownTurnName(), own: true, steps: [step], input: null })
    this.inner = inner
    const steps = inner.run()
    let next = steps.next(null)
    while (next.done !== true) next = yield* restInside(steps, next.value)
    this.inner = null
    if (this.stopAt === this.plan.name) throw new Interrupted()
  }
}

/** Passes a rest of the inner turn outwards, and what ends it inwards. */
function* restInside(steps: Steps, pause: Pause): Generator<Pause, IteratorResult<Pause, void>, Resume> {
  try {
    return steps.next(yield pause)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    return steps.throw(error)
  }
}

const YES: Decision = { type: 'decision', permission: '', allow: true, reason: null, input: null, answers: null }
const NO: Decision = { ...YES, allow: false }

/** Words with the space after them: joined again they are the text. */
const words = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? []

/** A turn ready to run. */
export function runTurn(agent: ScriptedAgent, plan: TurnPlan): { turn: Turn; steps: Steps } {
  const turn = new Turn(agent, plan)
  return { turn, steps: turn.run() }
}

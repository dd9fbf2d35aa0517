/**
 * The scripted agent: a small agent runtime of its own, with a conversation, tools, permissions,
 * hooks for steers, tasks and turns of its own accord. It knows nothing of the host or the driver.
 *
 *   idle --input--> turn --(pause: hook, permission, key, timer)--> turn --> idle
 *
 * Everything that reaches it is a command and is done one after the other; what a command causes is
 * said before the next one is looked at. So it behaves the same in every run.
 */
import type { BackgroundTask } from '@wheelhouse/client/protocol'
import type { Histories } from './history.ts'
import type { AgentPolicy, FromAgent, SteerPoints, ToAgent } from './native.ts'
import { parseScript, type Step } from './script.ts'
import { runTurn, type Turn } from './turn.ts'

/** What the agent stands in; a process of its own or the host's. */
export type AgentWorld = {
  say(message: FromAgent): void
  after(ms: number, fire: () => void): () => void
  newId(): string
  histories: Histories
  /** Calls back once when `key` is released from outside; returns the cancel. Absent: only by command. */
  watch?(key: string, fire: () => void): () => void
  /** The agent is gone; nothing is said after it. */
  exit(): void
  /** From now on it is not to end when asked politely. */
  cling(): void
}

/** Why a turn rests. What ends the rest comes back as the value of the pause. */
export type Pause =
  | { for: 'hook'; id: string }
  | { for: 'permission'; id: string }
  | { for: 'key'; key: string }
  | { for: 'timer'; id: string; ms: number }
export type Resume = Extract<ToAgent, { type: 'hook-answer' | 'decision' }> | null

export class Interrupted extends Error {}
export class Died extends Error {}

type Input = Extract<ToAgent, { type: 'input' }>
type Command = ToAgent | { type: 'fired'; id: string }
type Running = { turn: Turn; steps: Generator<Pause, void, Resume>; pause: Pause | null; cancel: () => void }

const nothing = (): void => undefined

export class ScriptedAgent {
  readonly world: AgentWorld
  policy: AgentPolicy = { asks: true, disabledTools: [] }
  steer: SteerPoints = 'none'
  stubborn = false
  conversation = ''
  history: string[] = []
  /** Length of all that is remembered; its price in tokens is made of it. */
  characters = 0
  /** Steps for a turn of its own after this one. */
  ownSteps: Step[] = []
  readonly tasks = new Map<string, BackgroundTask>()
  readonly #inputs: Input[] = []
  readonly #released = new Set<string>()
  readonly #commands: Command[] = []
  #running: Running | null = null
  #busy = false
  #gone = false
  #turns = 0

  constructor(world: AgentWorld) {
    this.world = world
  }

  /** Takes a command; from inside of another one it waits for its turn. */
  receive(command: Command): void {
    this.#commands.push(command)
    if (this.#busy) return
    this.#busy = true
    try {
      let next = this.#commands.shift()
      while (next !== undefined && !this.#gone) {
        this.#handle(next)
        this.#pump()
        next = this.#commands.shift()
      }
    } finally {
      this.#busy = false
    }
  }

  /** The agent ends, without a word. */
  end(): void {
    if (this.#gone) return
    this.#gone = true
    this.#running?.cancel()
    this.world.exit()
  }

  say(message: FromAgent): void {
    if (!this.#gone) this.world.say(message)
  }

  remember(text: string): void {
    this.history.push(text)
    this.characters += text.length
    this.world.histories.append(this.conversation, text)
  }

  /** All that was is forgotten but for a summary. */
  summarize(summary: string): void {
    this.#takeOver([summary])
    this.world.histories.replace(this.conversation, this.history)
  }

  #takeOver(history: string[]): void {
    this.history = history
    this.characters = history.reduce((sum, text) => sum + text.length, 0)
  }

  isReleased(key: string): boolean {
    return this.#released.has(key)
  }

  ownTurnName(): string {
    this.#turns += 1
    return `own-${this.#turns}`
  }

  /** Starts a task; its key's release ends it, whatever the agent does by then. */
  startTask(key: string, title: string): void {
    this.tasks.set(key, { id: key, kind: 'scripted', title, status: 'running' })
    this.sayTasks()
    this.world.watch?.(key, () => this.receive({ type: 'release', key }))
  }

  sayTasks(): void {
    this.say({ type: 'tasks', tasks: [...this.tasks.values()] })
  }

  #handle(command: Command): void {
    switch (command.type) {
      case 'init':
        return this.#init(command)
      case 'policy':
        this.policy = command.policy
        return
      case 'input':
        this.#inputs.push(command)
        return
      case 'hook-answer':
        return this.#resume('hook', command.hook, command)
      case 'decision':
        return this.#resume('permission', command.permission, command)
      case 'fired':
        return this.#resume('timer', command.id, null)
      case 'interrupt':
        return this.#interrupt(command.turn)
      case 'release':
        return this.#release(command.key)
      default:
        command satisfies never
    }
  }

  #init({ resume, steer, policy }: Extract<ToAgent, { type: 'init' }>): void {
    this.steer = steer
    this.policy = policy
    const known = resume === null ? null : this.world.histories.load(resume)
    this.conversation = known === null || resume === null ? this.world.newId() : resume
    this.#takeOver(known ?? [])
    if (known === null) this.world.histories.replace(this.conversation, [])
    this.say({ type: 'ready', conversation: this.conversation, resumed: known !== null })
  }

  #release(key: string): void {
    this.#released.add(key)
    const task = this.tasks.get(key)
    if (task?.status === 'running') {
      const done: BackgroundTask = { ...task, status: 'completed' }
      this.tasks.delete(key)
      this.say({ type: 'task', task: done })
      this.sayTasks()
      this.ownSteps.push({ verb: 'say', text: `${task.title} is done` })
    }
    this.#resume('key', key, null)
  }

  /** Ends the pause it is meant for; an answer that comes too late finds none and changes nothing. */
  #resume(kind: Pause['for'], id: string, value: Resume): void {
    const { pause } = this.#running ?? { pause: null }
    if (pause === null || pause.for !== kind || idOf(pause) !== id) return
    this.#step((steps) => steps.next(value))
  }

  #interrupt(turn: string): void {
    if (this.stubborn) return
    const waiting = this.#inputs.findIndex((input) => input.turn === turn)
    if (waiting >= 0) {
      this.#inputs.splice(waiting, 1)
      this.say({ type: 'turn-ended', turn, outcome: 'stopped' })
    } else if (this.#running?.turn.isNamed(turn) === true) {
      this.#running.turn.stopAt = turn
      this.#step((steps) => steps.throw(new Interrupted()))
    }
  }

  /** Starts what waits: what it has to say of its own accord comes before an input. */
  #pump(): void {
    while (this.#running === null && !this.#gone) {
      const own = this.ownSteps.splice(0)
      const input = own.length > 0 ? undefined : this.#inputs.shift()
      if (own.length > 0) this.#start(runTurn(this, { name: this.ownTurnName(), own: true, steps: own, input: null }))
      else if (input !== undefined) this.#start(runTurn(this, { name: input.turn, own: false, steps: stepsOf(input), input }))
      else return
    }
  }

  #start({ turn, steps }: { turn: Turn; steps: Generator<Pause, void, Resume> }): void {
    this.#running = { turn, steps, pause: null, cancel: nothing }
    this.#step((each) => each.next(null))
  }

  #step(move: (steps: Running['steps']) => IteratorResult<Pause, void>): void {
    const running = this.#running
    if (running === null) return
    running.cancel()
    running.cancel = nothing
    running.pause = null
    try {
      const result = move(running.steps)
      if (result.done === true) this.#running = null
      else this.#rest(running, result.value)
    } catch (error) {
      if (!(error instanceof Died)) throw error
      this.end()
    }
  }

  #rest(running: Running, pause: Pause): void {
    running.pause = pause
    if (pause.for === 'timer') running.cancel = this.world.after(pause.ms, () => this.receive({ type: 'fired', id: pause.id }))
    else if (pause.for === 'key')
      running.cancel = this.world.watch?.(pause.key, () => this.receive({ type: 'release', key: pause.key })) ?? nothing
  }
}

const stepsOf = (input: Input): Step[] => (input.kind === 'compaction' ? [] : parseScript(input.text))

function idOf(pause: Pause): string {
  return pause.for === 'key' ? pause.key : pause.id
}

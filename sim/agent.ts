/**
 * The simulated agent behind a real driver contract. It is moved by the simulator one action at a
 * time, may fail, hang or die at any of them, and remembers what it saw: that memory no crash of
 * the host can undo.
 */
import type { MessagePart } from '@wheelhouse/client/protocol'
import type {
  AgentRuntimeConnection,
  ApprovalDecision,
  ConnectInput,
  DriverEvent,
  SendInput,
} from '../packages/runtime/src/driver/contract.ts'
import type { Prng } from './prng.ts'
import { compactionOf, isMoment, momentOf, MOMENTS, retryOf, usageOf, type CompactionEvent, type Moment } from './sayings.ts'
import type { Temper } from './temper.ts'

/** What the world outside the host saw; see `Ledger` in ledger.ts. */
export type AgentWitness = {
  connecting(sessionId: string, resumeToken: string | null): void
  tokenGiven(sessionId: string, token: string): void
  sent(sessionId: string, input: SendInput): void
  redirected(sessionId: string, turnId: string, inputId: string): void
  offeringAnswered(sessionId: string, inputIds: readonly string[]): void
  consumed(sessionId: string, inputId: string): void
  approvalAnswered(sessionId: string, approvalId: string, decision: ApprovalDecision, headless: boolean): void
  toolRan(sessionId: string, approvalId: string): void
  rolled(): void
  emitted(sessionId: string, generation: number, event: DriverEvent): void
}

type SimTurn = {
  turnId: string
  inputId: string | null
  kind: 'user' | 'delivery' | 'compaction' | 'autonomous'
  headless: boolean
  left: number
  words: number
  stash: string[]
  offering: string | null
  granted: string[]
  consumed: string[]
  interrupted: boolean
  deaf: boolean
  asking: { id: string; decision: ApprovalDecision | null } | null
}

/** Thrown where the contract says that a driver must not throw. */
export const PLANNED_THROW = 'planned: the driver throws'

/** An id that names nothing. */
const UNKNOWN = 'gone'

export class SimConnection implements AgentRuntimeConnection {
  readonly input: ConnectInput
  readonly #random: Prng
  readonly #temper: Temper
  readonly #witness: AgentWitness
  phase: 'coming' | 'up' | 'down' = 'coming'
  closing = false
  turn: SimTurn | null = null
  waiting: SimTurn | null = null
  compacting = false
  tasks = 0

  constructor(input: ConnectInput, random: Prng, temper: Temper, witness: AgentWitness) {
    this.input = input
    this.#random = random
    this.#temper = temper
    this.#witness = witness
    witness.connecting(input.sessionId, input.resumeToken)
  }

  // ---- the contract

  send(input: SendInput): void {
    this.#mayThrow()
    this.#witness.sent(this.input.sessionId, input)
    const turn = this.#newTurn(input.turnId, input.inputId, input.kind, input.headless)
    if (this.turn === null) this.turn = turn
    else this.waiting = turn
  }

  redirect(input: { turnId: string; inputId: string; parts: readonly MessagePart[] }): boolean {
    if (this.turn?.turnId !== input.turnId || this.turn.interrupted || this.#random.chance(this.#temper.refuse)) return false
    this.#witness.redirected(this.input.sessionId, input.turnId, input.inputId)
    if (!this.turn.stash.includes(input.inputId)) this.turn.stash.push(input.inputId)
    return true
  }

  withdrawRedirect(inputIds: readonly string[]): void {
    for (const turn of [this.turn, this.waiting]) if (turn !== null) turn.stash = turn.stash.filter((id) => !inputIds.includes(id))
  }

  answerOffering(offeringId: string, inputIds: readonly string[]): void {
    this.#witness.offeringAnswered(this.input.sessionId, inputIds)
    for (const turn of [this.turn, this.waiting]) {
      if (turn?.offering !== offeringId) continue
      turn.offering = null
      turn.granted.push(...inputIds)
      turn.stash = turn.stash.filter((id) => !inputIds.includes(id))
    }
  }

  async reconcile(): Promise<'current'> {
    return 'current'
  }

  interrupt(turnId: string): void {
    this.#mayThrow()
    if (this.turn?.turnId === turnId && !this.turn.deaf) this.turn.interrupted = true
  }

  answerApproval(approvalId: string, decision: ApprovalDecision): void {
    for (const turn of [this.turn, this.waiting]) {
      if (turn?.asking?.id !== approvalId) continue
      this.#witness.approvalAnswered(this.input.sessionId, approvalId, decision, turn.headless)
      turn.asking.decision = decision
    }
  }

  close(): Promise<void> {
    if (this.#random.chance(this.#temper.throws)) {
      // What cannot even be closed is taken for gone.
      this.kill()
      throw new Error(PLANNED_THROW)
    }
    this.closing = true
    return new Promise(() => {})
  }

  #mayThrow(): void {
    if (this.#random.chance(this.#temper.throws)) throw new Error(PLANNED_THROW)
  }

  // ---- moved by the simulator

  /** The process of the host is gone: nothing more is heard of it. */
  kill(): void {
    this.phase = 'down'
  }

  /** Something it could do next; false when it waits for others. */
  get canMove(): boolean {
    if (this.phase === 'down') return false
    if (this.phase === 'coming' || this.closing) return true
    const { turn } = this
    if (turn === null) return this.#temper.autonomous > 0 || this.tasks > 0
    if (turn.interrupted) return true
    return turn.asking === null || turn.asking.decision !== null
  }

  /** True while it does something by itself that must come to an end. */
  get busy(): boolean {
    return this.phase !== 'down' && (this.phase === 'coming' || this.closing || this.turn !== null || this.tasks > 0)
  }

  move(calm: boolean): void {
    const { fail, die, hang } = this.#temper
    const random = this.#random
    if (this.closing) {
      if (!calm && this.phase === 'up' && this.turn !== null && random.chance(this.#temper.lingers)) this.#moveTurn(this.turn, calm)
      else if (calm || !random.chance(hang)) this.#down(null, '')
    } else if (this.phase === 'coming') this.#comeUp(!calm && random.chance(fail))
    else if (this.turn !== null) {
      if (!calm && random.chance(die)) this.#down('AGENT_PROCESS_LOST', 'killed')
      else this.#moveTurn(this.turn, calm)
    } else this.#moveIdle(calm)
  }

  #comeUp(failed: boolean): void {
    if (failed) return this.#down('CONNECT_FAILED', 'no such model')
    this.phase = 'up'
    this.#emit({ type: 'connected', resumed: this.input.resumeToken !== null })
  }

  #moveIdle(calm: boolean): void {
    const random = this.#random
    if (this.tasks > 0 && random.chance(0.5)) this.#moment('background-tasks')
    else if (!calm && random.chance(this.#temper.autonomous)) this.#startAutonomous()
  }

  #startAutonomous(): void {
    const turn = this.#newTurn(this.input.ports.newId(), null, 'autonomous', false)
    // One turn too many is announced all the same; the host will have none of it, nor of this agent.
    if (this.waiting === null && this.turn?.kind !== 'autonomous') {
      this.waiting = this.turn
      this.turn = turn
    }
    this.#emit({ type: 'autonomous-turn-state', state: 'started', turnId: turn.turnId })
  }

  #moveTurn(turn: SimTurn, calm: boolean): void {
    const random = this.#random
    if (turn.interrupted) return this.#endInterrupted(turn)
    if (turn.asking !== null) {
      if (turn.asking.decision !== null) this.#useDecision(turn, turn.asking.id, turn.asking.decision)
      return
    }
    if (turn.left <= 0) return this.#endTurn(turn, calm)
    turn.left -= 1
    if (turn.granted.length > 0 && random.chance(0.8)) return this.#consume(turn)
    if (turn.consumed.length > 0 && random.chance(0.8)) return this.#boundary(turn)
    if (turn.stash.length > 0 && turn.offering === null && random.chance(0.9)) return this.#offer(turn)
    if (!calm && random.chance(this.waiting === null ? this.#temper.autonomous : this.#temper.autonomous / 10))
      return this.#startAutonomous()
    if (turn.kind !== 'compaction' && random.chance(this.#temper.ask)) return this.#ask(turn)
    this.#other(turn)
  }

  /** The ordinary life of a turn: mostly text. */
  #other(turn: SimTurn): void {
    const roll = this.#random.next()
    if (roll < 0.06) this.#usage(turn)
    else if (roll < 0.12) this.#token()
    else if (roll < 0.18) this.#compaction(this.compacting ? 'compaction-complete' : 'compaction-start')
    else if (roll < 0.21) this.#compaction('compaction-error')
    else if (roll < 0.24) this.#retry(turn)
    else if (roll < 0.3) this.#moment(this.#random.pick(MOMENTS))
    else this.#say(turn)
  }

  #usage({ turnId }: SimTurn): void {
    this.#emit(usageOf(turnId, this.input.ports.newId()))
  }

  #retry({ turnId }: SimTurn): void {
    this.#emit(retryOf(turnId))
  }

  #compaction(type: CompactionEvent): void {
    this.compacting = type === 'compaction-start'
    this.#emit(compactionOf(type))
  }

  /** What changes no turn: it may come at any time while it is up. */
  #moment(type: Moment): void {
    if (type === 'background-tasks') this.tasks = 1 - this.tasks
    this.#emit(momentOf(type, this.tasks > 0))
  }

  #say(turn: SimTurn): void {
    turn.words += 1
    const text = `${turn.turnId.slice(-6)}.${turn.words} `
    this.#emit({ type: 'chunk', turnId: turn.turnId, chunks: [{ type: 'text-delta', id: 't', delta: text }] })
  }

  #token(): void {
    const token = `token-${this.input.ports.newId()}`
    this.#witness.tokenGiven(this.input.sessionId, token)
    this.#emit({ type: 'resume-token', token })
  }

  #ask(turn: SimTurn): void {
    const approvalId = this.input.ports.newId()
    turn.asking = { id: approvalId, decision: null }
    this.#emit({
      type: 'tool-approval-request',
      turnId: turn.turnId,
      request: { approvalId, kind: 'tool', toolCallId: approvalId, toolName: 'Bash', input: {} },
    })
  }

  #useDecision(turn: SimTurn, approvalId: string, decision: ApprovalDecision): void {
    turn.asking = null
    if (decision.allow) this.#witness.toolRan(this.input.sessionId, approvalId)
    this.#emit({ type: 'tool-approval-applied', approvalId })
  }

  #offer(turn: SimTurn): void {
    turn.offering = this.input.ports.newId()
    this.#emit({ type: 'steer-offering', turnId: turn.turnId, offeringId: turn.offering, inputIds: turn.stash.slice() })
  }

  #consume(turn: SimTurn): void {
    const inputIds = turn.granted
    turn.granted = []
    turn.consumed.push(...inputIds)
    for (const id of inputIds) this.#witness.consumed(this.input.sessionId, id)
    this.#emit({ type: 'steer-consumed', turnId: turn.turnId, inputIds })
  }

  #boundary(turn: SimTurn): void {
    const inputIds = turn.consumed
    turn.consumed = []
    this.#witness.rolled()
    this.#emit({ type: 'steer-boundary', turnId: turn.turnId, inputIds })
  }

  #handBack(turn: SimTurn): void {
    // Now and then it forgets to say what became of an offered steer: then nobody can know.
    const inputIds = this.#random.chance(0.2) ? turn.stash : [...turn.granted, ...turn.stash]
    turn.stash = []
    turn.granted = []
    turn.offering = null
    if (inputIds.length > 0) this.#emit({ type: 'steer-undelivered', turnId: turn.turnId, inputIds })
  }

  #endInterrupted(turn: SimTurn): void {
    this.#handBack(turn)
    this.#withdraw(turn)
    this.#next(turn)
    this.#emit({ type: 'turn-complete', turnId: turn.turnId, outcome: 'stopped' })
  }

  #withdraw(turn: SimTurn): void {
    if (turn.asking === null) return
    const approvalId = turn.asking.id
    turn.asking = null
    this.#emit({ type: 'tool-approval-withdrawn', approvalId, reason: 'interrupted' })
  }

  /**
   * Does at once what is wished, if an agent as it is now could; for histories that look for one event.
   * What it has nothing real to say of it says of something that nobody knows.
   */
  wish(type: DriverEvent['type']): boolean {
    if (this.phase === 'down') return false
    if (type === 'connection-closed') this.#down(this.closing ? null : 'AGENT_PROCESS_LOST', '')
    else if (this.phase === 'coming') {
      if (type !== 'connected') return false
      this.#comeUp(false)
    } else if (isMoment(type)) this.#moment(type)
    else if (type === 'resume-token') this.#token()
    else if (type === 'compaction-start' || type === 'compaction-complete' || type === 'compaction-error') this.#compaction(type)
    else if (type === 'autonomous-turn-state') this.#startAutonomous()
    else return this.#wishOfTurn(type)
    return true
  }

  #wishOfTurn(type: DriverEvent['type']): boolean {
    const turns = [this.turn, this.waiting].filter((each) => each !== null)
    const asking = turns.find((turn) => turn.asking !== null && (type === 'tool-approval-withdrawn' || turn.asking.decision !== null))
    if (type === 'tool-approval-withdrawn') {
      if (asking === undefined) this.#emit({ type, approvalId: UNKNOWN, reason: 'interrupted' })
      else this.#withdraw(asking)
    } else if (type === 'tool-approval-applied') {
      if (asking?.asking == null || asking.asking.decision === null) this.#emit({ type, approvalId: UNKNOWN })
      else this.#useDecision(asking, asking.asking.id, asking.asking.decision)
    } else {
      if (turns.length === 0) return false
      return this.#wishOf(this.#random.pick(turns), type)
    }
    return true
  }

  #wishOf(turn: SimTurn, type: DriverEvent['type']): boolean {
    const { turnId } = turn
    const none = { turnId, inputIds: [UNKNOWN] }
    switch (type) {
      case 'chunk':
        this.#say(turn)
        return true
      case 'usage':
        this.#usage(turn)
        return true
      case 'api-retry':
        this.#retry(turn)
        return true
      case 'turn-complete':
        this.#complete(turn, turn.interrupted ? 'stopped' : 'success')
        return true
      case 'error':
        this.#fail(turn)
        return true
      case 'tool-approval-request':
        if (turn.asking !== null || turn.kind === 'compaction') return false
        this.#ask(turn)
        return true
      case 'steer-offering':
        if (turn.stash.length > 0 && turn.offering === null) this.#offer(turn)
        else this.#emit({ type, offeringId: UNKNOWN, ...none })
        return true
      case 'steer-consumed':
        if (turn.granted.length > 0) this.#consume(turn)
        else this.#emit({ type, ...none })
        return true
      case 'steer-boundary':
        if (turn.consumed.length > 0) this.#boundary(turn)
        else this.#emit({ type, ...none })
        return true
      case 'steer-undelivered':
        if (turn.stash.length + turn.granted.length > 0) this.#handBack(turn)
        else this.#emit({ type, ...none })
        return true
      default:
        return false
    }
  }

  #endTurn(turn: SimTurn, calm: boolean): void {
    if (!calm && this.#random.chance(this.#temper.fail)) this.#fail(turn)
    else this.#complete(turn, this.#random.chance(0.9) ? 'success' : 'stopped')
  }

  #complete(turn: SimTurn, outcome: 'success' | 'stopped'): void {
    this.#handBack(turn)
    this.#next(turn)
    this.#emit({ type: 'turn-complete', turnId: turn.turnId, outcome })
  }

  #fail(turn: SimTurn): void {
    this.#handBack(turn)
    this.#next(turn)
    const code = this.#random.pick(['PROVIDER_ERROR', 'PROVIDER_AUTH_FAILED', 'AGENT_ERROR'] as const)
    this.#emit({ type: 'error', turnId: turn.turnId, code, message: 'no', status: 500 })
  }

  #next(turn: SimTurn): void {
    if (this.waiting === turn) this.waiting = null
    else if (this.turn === turn) {
      this.turn = this.waiting
      this.waiting = null
    }
  }

  #down(code: 'CONNECT_FAILED' | 'AGENT_PROCESS_LOST' | null, message: string): void {
    this.phase = 'down'
    this.turn = null
    this.#emit({ type: 'connection-closed', code, message })
  }

  #emit(event: DriverEvent): void {
    this.#witness.emitted(this.input.sessionId, this.input.generation, event)
    this.input.emit(event)
  }

  #newTurn(turnId: string, inputId: string | null, kind: SimTurn['kind'], headless: boolean): SimTurn {
    const { steps, deaf } = this.#temper
    return {
      turnId,
      inputId,
      kind,
      headless,
      left: this.#random.below(steps),
      words: 0,
      stash: [],
      offering: null,
      granted: [],
      consumed: [],
      interrupted: false,
      deaf: this.#random.chance(deaf),
      asking: null,
    }
  }
}

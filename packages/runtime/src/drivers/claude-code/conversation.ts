/**
 * What the CLI says, bound to turns. It holds the turns that were given or begun and not ended, and
 * everything that lives with them: what was shown, steers, questions, compaction. It knows no
 * process; connection.ts does.
 */
import { randomUUID } from 'node:crypto'
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk'
import { wellFormed, type UIMessageChunk } from '@wheelhouse/client/protocol'
import { assertNever } from '../../core/assert.ts'
import type { ApprovalDecision, DriverEvent, DriverPorts, SendInput, UsageRecord } from '../../driver/contract.ts'
import { Approvals, kindOf } from './approvals.ts'
import { CompactionWatch } from './compaction.ts'
import type { Ending } from './errors.ts'
import type { Outbox } from './outbox.ts'
import type { ResultFrame, Frame, Signal } from './signals.ts'
import { knowsCall, newTranslation, openCalls, planOf, showHeld, translate, type Surroundings, type Translation } from './translate.ts'
import { newTurn, turnOfResult, type LiveTurn } from './turns.ts'

/** A card must not stand before the call it is about; the call's own frame is at most this far behind. */
const CALL_WAIT_MS = 1_000
/** Usage of sub-agents between turns, kept for the turn that reports them. */
const HELD_USAGE = 1_000

/** Signals that are about the process and not about a turn. */
export type ProcessSignal = Extract<Signal, { type: 'session' | 'permission-mode' | 'result' }>

export type ConversationPorts = Pick<DriverPorts, 'after' | 'newId' | 'now'> & {
  /** Takes the provider's key out of a text. */
  redact(text: string): string
  /** The CLI has begun a turn that is to be stopped: it takes the interrupt only now. */
  interrupt(): void
}

export class Conversation {
  readonly #out: Outbox
  readonly #ports: ConversationPorts
  readonly #around: Surroundings
  readonly approvals: Approvals
  readonly compaction: CompactionWatch
  #translation: Translation = newTranslation()
  /** Turns given or begun and not ended, oldest first. */
  #turns: LiveTurn[] = []
  /** The one the CLI works on. */
  #active: LiveTurn | null = null
  #heldUsage: UsageRecord[] = []
  #working = false
  readonly #callWatchers = new Set<() => void>()

  constructor(out: Outbox, ports: ConversationPorts) {
    this.#out = out
    this.#ports = ports
    this.approvals = new Approvals((event) => out.event(event))
    this.compaction = new CompactionWatch((event) => out.event(event))
    this.#around = {
      now: () => ports.now(),
      refusal: (toolUseId, isError) => this.#refusal(toolUseId, isError),
      redact: (text) => ports.redact(text),
    }
  }

  get turns(): readonly LiveTurn[] {
    return this.#turns
  }

  get active(): LiveTurn | null {
    return this.#active
  }

  find(turnId: string): LiveTurn | undefined {
    return this.#turns.find((turn) => turn.turnId === turnId)
  }

  /** A turn the host gives. */
  open(input: SendInput): LiveTurn {
    const turn = newTurn(input.turnId, randomUUID(), input, this.#steerPorts())
    this.#turns.push(turn)
    return turn
  }

  /** When the oldest call without a result was made, or null when none is. */
  oldestCallMs(): number | null {
    const calls = openCalls(this.#translation)
    return calls.length === 0 ? null : Math.min(...calls.map((call) => call.startedAt))
  }

  /** Another process goes on with the same turns; what the last one said is history. */
  restart(): void {
    this.#translation = newTranslation()
    this.#active = null
    for (const turn of this.#turns) turn.taken = false
  }

  // ---- frames

  /** Acts on a frame; what is about the process comes back, in order. */
  onFrame(frame: Frame): ProcessSignal[] {
    const rest: ProcessSignal[] = []
    for (const signal of translate(this.#translation, frame, this.#around)) {
      if (signal.type === 'session' || signal.type === 'permission-mode' || signal.type === 'result') rest.push(signal)
      else this.#onSignal(signal)
    }
    return rest
  }

  #onSignal(signal: Exclude<Signal, ProcessSignal>): void {
    switch (signal.type) {
      case 'taken':
        return this.#onTaken([signal.uuid])
      case 'answers':
        return this.#onTaken(signal.uuids)
      case 'dropped':
        return this.#onDropped(signal.uuid)
      case 'model-message':
        return this.#onModelMessage()
      case 'model-stopped':
        if (this.#active !== null) this.#active.answered = signal.reason === 'end_turn' || signal.reason === 'stop_sequence'
        return
      case 'chunks':
        return this.show(signal.chunks)
      case 'sub-chunks':
        return this.#showSub(signal.parentId, signal.chunks)
      case 'usage':
        return this.#onUsage(signal.usage)
      case 'tool-answered':
        return this.#active?.steers.toolAnswered(signal.toolUseId)
      case 'retry':
        return this.#onRetry(signal)
      case 'compacting':
        return this.compaction.begin(this.#active?.input ?? null)
      case 'compaction-succeeded':
        return this.compaction.succeeded()
      case 'compacted':
        return this.compaction.complete(signal.anchor)
      case 'compaction-failed':
        return this.compaction.fail(signal.message)
      case 'tasks':
        return this.#onTasks(signal.tasks)
      case 'task':
        return this.#out.event({ type: 'background-task-event', task: signal.task })
      case 'commands':
        return this.#out.event({ type: 'supported-commands', commands: signal.commands })
      default:
        return assertNever(signal)
    }
  }

  /** The CLI works on one of ours. A turn of the agent's own that never got its result ends with that. */
  #onTaken(uuids: readonly string[]): void {
    const turn = this.#turns.find((open) => open.uuid !== null && uuids.includes(open.uuid))
    if (turn === undefined || turn === this.#active) return
    if (this.#active !== null) this.endTurn(this.#active, { kind: 'success' })
    turn.taken = true
    this.#activate(turn)
    if (turn.interrupted) this.#ports.interrupt()
  }

  #activate(turn: LiveTurn): void {
    this.#active = turn
    for (const usage of this.#heldUsage) this.#out.event({ type: 'usage', turnId: turn.turnId, usage })
    this.#heldUsage = []
  }

  /** Taken out of the CLI's queue unread, which only an interrupt does. */
  #onDropped(uuid: string): void {
    const turn = this.#turns.find((open) => open.uuid === uuid)
    if (turn !== undefined && turn.interrupted) this.endTurn(turn, { kind: 'stopped' })
  }

  #onModelMessage(): void {
    if (this.#active === null) this.#beginAutonomous()
    else this.#active.steers.modelMessage()
    if (this.#active !== null) this.#active.answered = false
  }

  /** The agent works without being asked: news of a background task, mostly. */
  #beginAutonomous(): void {
    const turn = newTurn(this.#ports.newId(), null, null, this.#steerPorts())
    turn.taken = true
    this.#turns.push(turn)
    this.#out.event({ type: 'autonomous-turn-state', state: 'started', turnId: turn.turnId })
    this.#activate(turn)
  }

  #steerPorts(): Parameters<typeof newTurn>[3] {
    const { after, newId } = this.#ports
    return { after, newId, emit: (event) => this.#out.event(event) }
  }

  /** Shows something in the turn at work. */
  show(chunks: readonly UIMessageChunk[]): void {
    const turn = this.#active
    if (turn === null) return
    this.#out.chunks(turn.turnId, turn.interrupted ? turn.shown.passEnds(chunks) : turn.shown.pass(chunks))
    for (const look of this.#callWatchers) look()
  }

  /** Tells the people of the turn that waits; it counts as output. */
  notice(code: string, text: string): void {
    const [turn] = this.#turns
    if (turn === undefined) return
    this.#out.chunks(turn.turnId, turn.shown.pass([{ type: 'data-notice', id: code.toLowerCase(), data: { code, text } }]))
  }

  #showSub(parentId: string, chunks: readonly UIMessageChunk[]): void {
    this.#active?.shown.note()
    // The row is the host's to find by the call: rows roll, and a sub-agent may outlive its turn.
    for (const chunk of chunks) this.#out.event({ type: 'background-flow-chunk', messageId: '', toolCallId: parentId, chunk })
  }

  #onUsage(usage: UsageRecord): void {
    if (this.#active !== null) this.#out.event({ type: 'usage', turnId: this.#active.turnId, usage })
    else if (this.#heldUsage.length < HELD_USAGE) this.#heldUsage.push(usage)
  }

  #onRetry({ attempt, maxAttempts, delayMs, reason }: Extract<Signal, { type: 'retry' }>): void {
    const { turnId } = this.#active ?? { turnId: null }
    if (turnId !== null) this.#out.event({ type: 'api-retry', turnId, attempt, maxAttempts, delayMs, reason })
  }

  #onTasks(tasks: Extract<DriverEvent, { type: 'background-tasks' }>['tasks']): void {
    this.#out.event({ type: 'background-tasks', tasks })
    if (this.#working === tasks.length > 0) return
    this.#working = tasks.length > 0
    this.#out.event({ type: 'background-work-state', active: this.#working })
  }

  // ---- how turns end

  turnOf(result: ResultFrame): LiveTurn | null {
    return turnOfResult(result, this.#turns, this.#active)
  }

  /** What a good result shows that was not streamed: a text held back, or the answer of a command of the CLI. */
  lastWords(turn: LiveTurn, result: ResultFrame): UIMessageChunk[] {
    const held = showHeld(this.#translation)
    if (turn.shown.any || held.length > 0 || result.subtype !== 'success' || result.result.trim() === '') return held
    const id = 'answer'
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: result.result },
      { type: 'text-end', id },
    ]
  }

  endTurn(turn: LiveTurn, ending: Ending): void {
    const { turnId } = turn
    turn.steers.end()
    this.approvals.withdrawOf(turnId, 'The turn that asked is over.')
    this.#turns = this.#turns.filter((open) => open !== turn)
    if (this.#active === turn) this.#active = null
    if (ending.kind !== 'error') {
      this.#out.event({ type: 'turn-complete', turnId, outcome: ending.kind })
      return
    }
    const message = wellFormed(this.#ports.redact(ending.message))
    this.#out.event({ type: 'error', turnId, code: ending.code, message, status: ending.status })
  }

  /** The process is gone without a result: an answer that was complete is still an answer (requirement 142). */
  salvage(): void {
    const turn = this.#active
    if (turn === null || !turn.answered || openCalls(this.#translation).length > 0) return
    this.show([{ type: 'message-metadata', messageMetadata: { truncated: true } }])
    this.endTurn(turn, turn.interrupted ? { kind: 'stopped' } : { kind: 'success' })
  }

  /** Nothing more goes into any turn, and nobody is asked any more. */
  closeTurns(reason: string): void {
    for (const turn of this.#turns) turn.steers.close()
    this.approvals.withdrawOf(null, reason)
  }

  // ---- asking a person

  answerApproval(approvalId: string, decision: ApprovalDecision): void {
    this.approvals.answer(approvalId, decision)
  }

  async ask(...[toolName, toolInput, ask]: Parameters<CanUseTool>): ReturnType<CanUseTool> {
    const turn = this.#active
    if (turn === null) return { behavior: 'deny', message: 'Nobody can be asked now: no turn is open.' }
    const isMain = ask.agentID === undefined
    if (isMain) await this.#callShown(ask.toolUseID)
    const approvalId = this.#ports.newId()
    const plan = kindOf(toolName) === 'plan' ? planOf(this.#translation, ask.toolUseID) : null
    const { turnId } = turn
    const answer = this.approvals.ask(approvalId, {
      turnId,
      toolName,
      toolCallId: ask.toolUseID,
      input: toolInput,
      plan,
      signal: ask.signal,
    })
    if (isMain && this.approvals.isOpen(approvalId) && knowsCall(this.#translation, ask.toolUseID))
      this.show([{ type: 'tool-approval-request', approvalId, toolCallId: ask.toolUseID }])
    return await answer
  }

  /** Resolves when the transcript holds the call, or soon. */
  #callShown(toolUseId: string): Promise<void> {
    if (knowsCall(this.#translation, toolUseId)) return Promise.resolve()
    return new Promise((resolve) => {
      const settle = (): void => {
        cancel()
        this.#callWatchers.delete(look)
        resolve()
      }
      const look = (): void => (knowsCall(this.#translation, toolUseId) ? settle() : undefined)
      const cancel = this.#ports.after(CALL_WAIT_MS, settle)
      this.#callWatchers.add(look)
    })
  }

  #refusal(toolUseId: string, isError: boolean): ReturnType<Surroundings['refusal']> {
    if (!isError) return null
    if (this.#active?.interrupted === true) return 'stopped'
    return this.approvals.wasDenied(toolUseId) ? 'denied' : null
  }
}

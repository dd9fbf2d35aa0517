/**
 * One connection of the scripted driver: the agent's messages become the host's events.
 *
 *   connecting -> open -> closing -> closed
 *
 * A steer that was redirected stays in the stash until the agent remembers it (consumed), the host
 * takes it back, or the turn ends (undelivered).
 */
import type {
  AgentRuntimeConnection,
  ApprovalDecision,
  ConnectInput,
  DesiredPolicy,
  DriverEvent,
  ReconcileAnswer,
  SendInput,
} from '../contract.ts'
import { wellFormed, wellFormedJson, type DriverCapabilities, type MessagePart, type UIMessageChunk } from '@wheelhouse/client/protocol'
import { ChunkDoor } from '../well-formed.ts'
import type { AgentPolicy, FromAgent } from './native.ts'
import type { Link, Transport } from './transport.ts'

/** Size of the agent's imagined context, in tokens. */
const CONTEXT_TOKENS = 200_000

type Stashed = { turnId: string; text: string; offering: string | null }
type Offering = { hook: string; turnId: string }

export class ScriptedConnection implements AgentRuntimeConnection {
  readonly #input: ConnectInput
  readonly #capabilities: DriverCapabilities
  readonly #link: Link
  readonly #door = new ChunkDoor()
  readonly #onClosed: () => void
  #phase: 'connecting' | 'open' | 'closing' | 'closed' = 'connecting'
  #policy: DesiredPolicy
  #token: string | null = null
  /** Turns the agent has and has not ended, by its name for them. */
  readonly #turns = new Map<string, { turnId: string; running: boolean; receiveOnly: boolean }>()
  readonly #stash = new Map<string, Stashed>()
  readonly #offerings = new Map<string, Offering>()
  /** Consumed steers of a turn that nothing was said after yet. */
  readonly #unanswered = new Map<string, string[]>()
  /** The host's ids of permissions, by the agent's, and back. */
  readonly #approvals = new Map<string, string>()
  #compacting = false
  #whenClosed: (() => void)[] = []

  constructor(input: ConnectInput, capabilities: DriverCapabilities, transport: Transport, onClosed: () => void) {
    this.#input = input
    this.#capabilities = capabilities
    this.#onClosed = onClosed
    this.#policy = { modelId: input.modelId, permissionMode: input.permissionMode, disabledTools: input.disabledTools }
    this.#link = transport(input, { message: (message) => this.#hear(message), gone: (detail) => this.#gone(detail) })
    this.#link.send({
      type: 'init',
      resume: capabilities.resume ? input.resumeToken : null,
      steer: capabilities.steer,
      policy: toAgent(this.#policy),
    })
  }

  send(input: SendInput): void {
    if (this.#isOver()) return
    this.#turns.set(input.turnId, { turnId: input.turnId, running: false, receiveOnly: input.kind === 'compaction' })
    this.#link.send({
      type: 'input',
      turn: input.turnId,
      kind: input.kind === 'compaction' ? 'compaction' : 'message',
      text: textOf(input.parts),
      steer: input.steer,
      seed: input.seed,
    })
  }

  redirect({ turnId, inputId, parts }: Parameters<NonNullable<AgentRuntimeConnection['redirect']>>[0]): boolean {
    const turn = this.#turns.get(turnId)
    if (this.#capabilities.steer === 'none' || this.#phase !== 'open' || this.#compacting) return false
    if (turn === undefined || turn.receiveOnly || this.#receiveOnlyRuns()) return false
    this.#stash.set(inputId, { turnId, text: textOf(parts), offering: null })
    return true
  }

  withdrawRedirect(inputIds: readonly string[]): void {
    for (const id of inputIds) this.#stash.delete(id)
  }

  /** What was offered and is not allowed now was taken back meanwhile. */
  answerOffering(offeringId: string, inputIds: readonly string[]): void {
    const offering = this.#offerings.get(offeringId)
    if (offering === undefined || this.#isOver()) return
    this.#offerings.delete(offeringId)
    const steers = []
    for (const [id, steer] of this.#stash) {
      if (steer.offering !== offeringId) continue
      if (inputIds.includes(id)) steers.push({ id, text: steer.text })
      else this.#stash.delete(id)
    }
    this.#link.send({ type: 'hook-answer', hook: offering.hook, steers })
  }

  async reconcile(want: DesiredPolicy): Promise<ReconcileAnswer> {
    if (this.#isOver()) return 'failed'
    if (!this.#capabilities.permissionModes.includes(want.permissionMode)) return 'invalid'
    const have = this.#policy
    const added = want.disabledTools.filter((tool) => !have.disabledTools.includes(tool))
    const widened = have.disabledTools.some((tool) => !want.disabledTools.includes(tool))
    const frozen = want.permissionMode !== have.permissionMode && this.#turns.size > 0
    const permissionMode = frozen ? have.permissionMode : want.permissionMode
    const changed = added.length > 0 || permissionMode !== have.permissionMode
    this.#policy = { ...have, permissionMode, disabledTools: [...have.disabledTools, ...added] }
    // What gets stricter holds from now on, also when the rest needs a new connection.
    if (changed) this.#link.send({ type: 'policy', policy: toAgent(this.#policy) })
    if (want.modelId !== have.modelId || widened || frozen) return 'rebuild'
    return changed ? 'patched' : 'current'
  }

  interrupt(turnId: string): void {
    for (const [name, turn] of this.#turns)
      if (turn.turnId === turnId && !this.#isOver()) this.#link.send({ type: 'interrupt', turn: name })
  }

  answerApproval(approvalId: string, decision: ApprovalDecision): void {
    if (this.#isOver()) return
    for (const [permission, id] of this.#approvals) {
      if (id !== approvalId) continue
      const { allow, reason, updatedInput: input, answers } = decision
      this.#link.send({ type: 'decision', permission, allow, reason, input, answers })
    }
  }

  close(_reason: string): Promise<void> {
    if (this.#phase === 'closed') return Promise.resolve()
    const closed = new Promise<void>((resolve) => void this.#whenClosed.push(resolve))
    this.#phase = 'closing'
    this.#link.close()
    return closed
  }

  /** Lets go what waits for `key`. */
  release(key: string): void {
    if (!this.#isOver()) this.#link.send({ type: 'release', key })
  }

  #isOver(): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  #receiveOnlyRuns(): boolean {
    return [...this.#turns.values()].some((turn) => turn.receiveOnly && turn.running)
  }

  #gone(detail: string): void {
    const asked = this.#phase === 'closing'
    const code = asked ? null : this.#phase === 'connecting' ? 'CONNECT_FAILED' : 'AGENT_PROCESS_LOST'
    this.#phase = 'closed'
    this.#onClosed()
    this.#input.emit({ type: 'connection-closed', code, message: asked ? '' : wellFormed(detail) })
    for (const resolve of this.#whenClosed.splice(0)) resolve()
  }

  #emit(event: DriverEvent): void {
    if (!this.#isOver()) this.#input.emit(event)
  }

  #hear(message: FromAgent): void {
    if (this.#isOver()) return
    switch (message.type) {
      case 'ready':
        this.#phase = 'open'
        this.#token = this.#capabilities.resume ? message.conversation : null
        this.#emit({ type: 'connected', resumed: message.resumed })
        return this.#emitToken()
      case 'turn-began':
        return this.#began(message.turn)
      case 'compaction':
        return this.#compaction(message)
      case 'context':
        if (!this.#capabilities.contextUsage) return
        return this.#emit({ type: 'context-usage', usage: { usedTokens: message.usedTokens, maxTokens: CONTEXT_TOKENS } })
      case 'tasks':
        this.#emit({ type: 'background-tasks', tasks: message.tasks })
        return this.#emit({ type: 'background-work-state', active: message.tasks.length > 0 })
      case 'task':
        return this.#emit({ type: 'background-task-event', task: message.task })
      case 'permission-used':
        return this.#settleApproval(message.permission, (approvalId) => ({ type: 'tool-approval-applied', approvalId }))
      case 'permission-gone':
        return this.#settleApproval(message.permission, (approvalId) => ({
          type: 'tool-approval-withdrawn',
          approvalId,
          reason: message.reason,
        }))
      case 'out':
      case 'hook':
      case 'remembered':
      case 'permission':
      case 'usage':
      case 'retry':
      case 'turn-ended':
      case 'turn-failed':
        return this.#hearOfTurn(message, this.#turns.get(message.turn)?.turnId)
      default:
        message satisfies never
    }
  }

  #emitToken(): void {
    if (this.#token !== null) this.#emit({ type: 'resume-token', token: this.#token })
  }

  /** A name the host did not give is a turn of the agent's own accord. */
  #began(name: string): void {
    const known = this.#turns.get(name)
    if (known !== undefined) {
      known.running = true
      return
    }
    const turnId = this.#input.ports.newId()
    this.#turns.set(name, { turnId, running: true, receiveOnly: true })
    this.#emit({ type: 'autonomous-turn-state', state: 'started', turnId })
  }

  #compaction(message: Extract<FromAgent, { type: 'compaction' }>): void {
    this.#compacting = message.phase === 'start'
    if (message.phase === 'start') this.#emit({ type: 'compaction-start', trigger: message.trigger })
    else if (message.phase === 'complete') this.#emit({ type: 'compaction-complete', anchor: this.#token })
    else this.#emit({ type: 'compaction-error', message: wellFormed(message.message) })
  }

  #settleApproval(permission: string, event: (approvalId: string) => DriverEvent): void {
    const approvalId = this.#approvals.get(permission)
    this.#approvals.delete(permission)
    if (approvalId !== undefined) this.#emit(event(approvalId))
  }

  #hearOfTurn(message: Extract<FromAgent, { turn: string }>, turnId: string | undefined): void {
    if (turnId === undefined) return
    switch (message.type) {
      case 'out':
        if (message.chunk.type.startsWith('reasoning-') && !this.#capabilities.reasoning) return
        return this.#out(turnId, this.#door.pass(message.chunk))
      case 'hook':
        return this.#offer(turnId, message.hook)
      case 'remembered':
        return this.#consumed(turnId, message.steers)
      case 'permission':
        return this.#ask(turnId, message)
      case 'usage': {
        const { request: requestId, inputTokens, outputTokens } = message
        const unknown = { cacheReadTokens: null, cacheWriteTokens: null, ttftMs: null, durationMs: null }
        return this.#emit({
          type: 'usage',
          turnId,
          usage: { requestId, modelId: this.#policy.modelId, inputTokens, outputTokens, ...unknown },
        })
      }
      case 'retry': {
        const { attempt, maxAttempts, reason } = message
        return this.#emit({ type: 'api-retry', turnId, attempt, maxAttempts, delayMs: 0, reason: wellFormed(reason) })
      }
      case 'turn-ended':
        this.#over(message.turn, turnId)
        return this.#emit({ type: 'turn-complete', turnId, outcome: message.outcome })
      case 'turn-failed':
        this.#over(message.turn, turnId)
        return this.#emit({ type: 'error', turnId, code: message.code, message: wellFormed(message.message), status: message.status })
      case 'turn-began':
        return
      default:
        message satisfies never
    }
  }

  #out(turnId: string, chunks: UIMessageChunk[]): void {
    if (chunks.length === 0) return
    const steers = this.#unanswered.get(turnId)
    if (steers !== undefined) {
      this.#unanswered.delete(turnId)
      this.#emit({ type: 'steer-boundary', turnId, inputIds: steers })
    }
    this.#emit({ type: 'chunk', turnId, chunks })
  }

  #offer(turnId: string, hook: string): void {
    const offeringId = this.#input.ports.newId()
    const inputIds = []
    for (const [id, steer] of this.#stash) {
      if (steer.turnId !== turnId || steer.offering !== null) continue
      steer.offering = offeringId
      inputIds.push(id)
    }
    if (inputIds.length === 0) {
      this.#link.send({ type: 'hook-answer', hook, steers: [] })
      return
    }
    this.#offerings.set(offeringId, { hook, turnId })
    this.#emit({ type: 'steer-offering', turnId, offeringId, inputIds })
  }

  #consumed(turnId: string, ids: string[]): void {
    for (const id of ids) this.#stash.delete(id)
    this.#unanswered.set(turnId, [...(this.#unanswered.get(turnId) ?? []), ...ids])
    this.#emit({ type: 'steer-consumed', turnId, inputIds: ids })
  }

  #ask(turnId: string, message: Extract<FromAgent, { type: 'permission' }>): void {
    const approvalId = this.#input.ports.newId()
    this.#approvals.set(message.permission, approvalId)
    const { kind, toolCallId } = message
    const request = { approvalId, kind, toolCallId, toolName: wellFormed(message.toolName), input: wellFormedJson(message.input) }
    // The question is the chunk's: a card must not be shown before its row is.
    this.#emit({ type: 'tool-approval-request', turnId, request })
    if (this.#approvals.has(message.permission)) this.#out(turnId, [{ type: 'tool-approval-request', approvalId, toolCallId }])
  }

  /** What the agent did not take is told before the turn's end; nothing of the turn comes after it. */
  #over(name: string, turnId: string): void {
    this.#turns.delete(name)
    this.#unanswered.delete(turnId)
    for (const [id, offering] of this.#offerings) if (offering.turnId === turnId) this.#offerings.delete(id)
    const left = [...this.#stash].filter(([, steer]) => steer.turnId === turnId).map(([id]) => id)
    for (const id of left) this.#stash.delete(id)
    if (left.length > 0) this.#emit({ type: 'steer-undelivered', turnId, inputIds: left })
    this.#emitToken()
  }
}

const toAgent = (policy: DesiredPolicy): AgentPolicy => ({
  asks: policy.permissionMode !== 'bypassPermissions',
  disabledTools: policy.disabledTools,
})

const textOf = (parts: readonly MessagePart[]): string =>
  parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n')

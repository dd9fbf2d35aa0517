/**
 * What was seen outside the host, and what was truly saved: a memory that a crash of the host cannot
 * roll back. It judges each new fact against the invariants of ARCHITECTURE.md as it arrives.
 */
import type { Message } from '@wheelhouse/client/protocol'
import type { Commit, Write } from '../packages/runtime/src/core/write.ts'
import type { Changes, Store } from '../packages/runtime/src/store/store.ts'
import type { AgentWitness } from './agent.ts'

export type Fail = (invariant: number, message: string) => void

type Delivery = { id: string; from: string | null; to: string; completion: boolean; claimedBy: string | null; results: number }

export class Ledger implements AgentWitness {
  readonly rows = new Map<string, Message>()
  readonly deliveries = new Map<string, Delivery>()
  /** Inputs accepted with their session, in order of acceptance. */
  readonly inputs = new Map<string, string>()
  readonly emissions: { sessionId: string; generation: number; event: Parameters<AgentWitness['emitted']>[2] }[] = []
  /** Inputs that a Stop keeps from running until a person runs them (invariant 17). */
  readonly barred = new Set<string>()
  /** The host goes down in order. */
  goingDown = false
  readonly deletedSessions = new Set<string>()
  readonly decided = new Map<string, boolean>()
  readonly stats = { commits: 0, sends: 0, consumed: 0, rolls: 0, results: 0, tools: 0 }
  #sentTurns = new Set<string>()
  #reached = new Map<string, number>()
  #allowance = new Map<string, number>()
  #tokens = new Map<string, { sessionId: string; epoch: number }>()
  #epoch = new Map<string, number>()
  /** Of each turn, everything its agent said. */
  #said = new Map<string, string>()
  readonly #fail: Fail
  readonly #held: (sessionId: string) => boolean
  readonly #store: () => Store

  /** `held`: the hold has reached that session; what was admitted before it is still to be saved. */
  constructor(fail: Fail, store: () => Store, held: (sessionId: string) => boolean) {
    this.#held = held
    this.#fail = fail
    this.#store = store
  }

  // ---- saved

  /** A commit that is truly in the database, whatever the host was told. */
  committed(commit: Commit, changes: Changes): void {
    this.stats.commits += 1
    for (const id of changes.removed) this.rows.delete(id)
    for (const message of changes.messages) this.rows.set(message.id, message)
    for (const write of commit.writes) this.#saved(commit.sessionId, write)
    this.#judgeSession(commit)
  }

  #saved(sessionId: string, write: Write): void {
    switch (write.type) {
      case 'insert-input':
        this.inputs.set(write.row.id, sessionId)
        if (this.#held(sessionId)) this.#fail(11, `input ${write.row.id} was admitted under a hold`)
        break
      case 'take-input':
        this.#judgeTaken(sessionId, write)
        break
      case 'close-turn':
        this.#judgeClosed(write)
        break
      case 'set-resume':
        this.#epoch.set(sessionId, write.epoch)
        break
      case 'claim-delivery': {
        const delivery = this.deliveries.get(write.id)
        if (delivery === undefined) this.#fail(8, `unknown delivery ${write.id} claimed`)
        else if (delivery.claimedBy !== null) this.#fail(8, `delivery ${write.id} claimed twice`)
        else delivery.claimedBy = write.turnRef
        if (delivery !== undefined && delivery.to !== sessionId) this.#fail(9, `delivery ${write.id} claimed by ${sessionId}`)
        break
      }
      case 'insert-result': {
        const request = this.deliveries.get(write.row.requestId)
        if (request === undefined || request.from !== write.row.sessionId)
          this.#fail(9, `result of ${write.row.requestId} goes to ${write.row.sessionId}`)
        else if (this.#store().readMessage(write.row.id) !== null) {
          request.results += 1
          this.stats.results += 1
          if (request.results > 1) this.#fail(3, `request ${request.id} has ${request.results} results`)
          this.deliveries.set(write.row.id, {
            id: write.row.id,
            from: sessionId,
            to: write.row.sessionId,
            completion: false,
            claimedBy: null,
            results: 0,
          })
        }
        break
      }
      case 'decide-approval':
        this.decided.set(write.id, write.status === 'allowed')
        break
      case 'insert-approval':
        if (write.row.status === 'denied') this.decided.set(write.row.id, false)
        break
      case 'delete-session':
        this.deletedSessions.add(sessionId)
        for (const [id, row] of this.rows) if (row.sessionId === sessionId) this.rows.delete(id)
        break
      default:
    }
  }

  /** Invariants 13 and 18's order: the head goes first; a steer nobody answered stands directly after its row. */
  #judgeTaken(sessionId: string, write: Extract<Write, { type: 'take-input' }>): void {
    const before = [...this.rows.values()].filter((row) => row.sessionId === sessionId && row.seq !== null && row.seq < write.seq)
    if (!write.unanswered) return
    const own = before.filter((row) => row.turnId === write.turnId)
    const last = own.reduce((most, row) => Math.max(most, row.seq ?? 0), 0)
    const between = before.filter((row) => (row.seq ?? 0) > last && row.origin !== 'autonomous')
    if (own.length === 0 || between.length > 0) this.#fail(13, `unanswered steer ${write.id} does not stand after its row`)
  }

  /** The rows of a turn hold what its agent said: all of it when it ended well, else what the host had heard. */
  #judgeClosed({ messageId, status, errorCode, boundary }: Extract<Write, { type: 'close-turn' }>): void {
    const row = this.rows.get(messageId)
    if (row === undefined || boundary !== 'turn') return
    const own = [...this.rows.values()].filter((each) => each.role === 'assistant' && each.turnId === row.turnId)
    const text = own
      .toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
      .flatMap((each) => each.parts.map((part) => (part.type === 'text' ? part.text : '')))
      .join('')
    const said = this.#said.get(row.turnId ?? '') ?? ''
    if (status === 'success' ? text !== said : !said.startsWith(text))
      this.#fail(12, `row ${messageId} holds "${text}", its agent said "${said}"`)
    const last = this.emissions.findLast((each) => each.sessionId === row.sessionId)?.event
    if (this.goingDown && errorCode === 'CONNECT_FAILED' && last?.type === 'connection-closed' && last.code === null)
      this.#fail(17, `turn ${row.turnId} is given up although its agent was only asked to go`)
  }

  #judgeSession(commit: Commit): void {
    const { sessionId } = commit
    const rows = [...this.rows.values()].filter((row) => row.sessionId === sessionId)
    const pending = rows.filter((row) => row.status === 'pending')
    if (pending.length > 2) this.#fail(1, `${pending.length} pending rows`)
    const seqs = rows.flatMap((row) => (row.seq === null ? [] : [row.seq]))
    if (new Set(seqs).size !== seqs.length) this.#fail(13, 'two rows share a seq')
    for (const roll of rows.filter((row) => row.rollOf !== null)) this.#judgeRoll(roll, rows)
    // A turn that did not end well holds what waits behind it.
    const bad = commit.writes.some(
      (write) =>
        write.type === 'close-turn' &&
        write.boundary === 'turn' &&
        write.status !== 'success' &&
        this.rows.get(write.messageId)?.stopRequestedAt === null,
    )
    if (bad && rows.some((row) => row.inputState === 'queued')) this.#fail(18, 'the queue stays ready after a turn that failed')
  }

  #judgeRoll(roll: Message, rows: readonly Message[]): void {
    const source = this.rows.get(roll.rollOf ?? '')
    if (source === undefined) return
    const between = rows.filter((row) => (row.seq ?? -1) > (source.seq ?? 0) && (row.seq ?? -1) < (roll.seq ?? 0))
    const last = between.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)).at(-1)
    // A turn of the agent's own may lie between, never after the steers.
    if (last?.role !== 'user' || last.turnId !== roll.turnId) this.#fail(13, `row ${roll.id} does not follow its steers`)
    if (between.some((row) => row.turnId !== roll.turnId && row.origin !== 'autonomous'))
      this.#fail(13, `another turn lies within the roll to ${roll.id}`)
    if (source.boundary !== 'row-roll') this.#fail(13, `row ${source.id} rolled without saying so`)
  }

  // ---- given by clients

  accepted(delivery: Omit<Delivery, 'claimedBy' | 'results'>): void {
    this.deliveries.set(delivery.id, { ...delivery, claimedBy: null, results: 0 })
  }

  /** A person decided to give it to the agent again: it may reach it once more. */
  resent(inputId: string): void {
    this.#allowance.set(inputId, (this.#allowance.get(inputId) ?? 1) + 1)
    this.barred.delete(inputId)
  }

  // ---- seen by agents

  connecting(sessionId: string, resumeToken: string | null): void {
    if (resumeToken === null) return
    const known = this.#tokens.get(resumeToken)
    if (known?.sessionId !== sessionId) this.#fail(15, `token of ${known?.sessionId ?? 'nobody'} used for ${sessionId}`)
    else if (known.epoch !== (this.#epoch.get(sessionId) ?? 0)) this.#fail(15, `token of a discarded epoch used for ${sessionId}`)
  }

  tokenGiven(sessionId: string, token: string): void {
    this.#tokens.set(token, { sessionId, epoch: this.#epoch.get(sessionId) ?? 0 })
  }

  sent(sessionId: string, input: { turnId: string; inputId: string | null; kind: string }): void {
    this.stats.sends += 1
    if (this.#sentTurns.has(input.turnId)) this.#fail(4, `turn ${input.turnId} sent twice`)
    this.#sentTurns.add(input.turnId)
    const row = [...this.rows.values()].find((each) => each.turnId === input.turnId && each.role === 'assistant')
    if (row?.status !== 'pending') this.#fail(6, `turn ${input.turnId} sent before its row was saved`)
    if (input.inputId === null) return
    this.#reach(input.inputId)
    if (this.barred.has(input.inputId)) this.#fail(17, `input ${input.inputId} ran although a Stop held it`)
    if (this.inputs.get(input.inputId) !== sessionId && this.deliveries.get(input.inputId)?.to !== sessionId)
      this.#fail(9, `input ${input.inputId} reached ${sessionId}`)
  }

  redirected(_sessionId: string, turnId: string, inputId: string): void {
    const row = [...this.rows.values()].find((each) => each.turnId === turnId && each.role === 'assistant' && each.status === 'pending')
    if (row === undefined || row.origin !== 'interactive' || row.headless) this.#fail(8, `steer ${inputId} went to a turn that takes none`)
  }

  offeringAnswered(_sessionId: string, inputIds: readonly string[]): void {
    for (const id of inputIds) {
      if (this.#store().readMessage(id)?.inputState !== 'offered') this.#fail(6, `steer ${id} left before it was saved as offered`)
      if (this.barred.has(id)) this.#fail(17, `steer ${id} was offered after a Stop`)
    }
  }

  consumed(_sessionId: string, inputId: string): void {
    this.stats.consumed += 1
    this.#reach(inputId)
  }

  #reach(inputId: string): void {
    const times = (this.#reached.get(inputId) ?? 0) + 1
    this.#reached.set(inputId, times)
    if (times > (this.#allowance.get(inputId) ?? 1)) this.#fail(5, `input ${inputId} reached the agent ${times} times`)
  }

  approvalAnswered(_sessionId: string, approvalId: string, decision: { allow: boolean }, _headless: boolean): void {
    if (decision.allow && this.decided.get(approvalId) !== true) this.#fail(6, `approval ${approvalId} answered before it was saved`)
  }

  toolRan(sessionId: string, approvalId: string): void {
    this.stats.tools += 1
    if (this.deletedSessions.has(sessionId)) {
      // Its approvals went with it; what was decided before still counts.
      if (this.decided.get(approvalId) !== true) this.#fail(10, `tool of approval ${approvalId} ran without a yes`)
      return
    }
    const approval = this.#store().readApproval(approvalId)
    if (approval?.status !== 'allowed') this.#fail(10, `tool of approval ${approvalId} ran without a yes`)
    const row = this.rows.get(approval?.messageId ?? '')
    if (row?.headless === true) this.#fail(10, `tool of approval ${approvalId} ran in a headless turn`)
  }

  rolled(): void {
    this.stats.rolls += 1
  }

  emitted(sessionId: string, generation: number, event: Parameters<AgentWitness['emitted']>[2]): void {
    this.emissions.push({ sessionId, generation, event })
    if (event.type === 'chunk') this.#said.set(event.turnId, (this.#said.get(event.turnId) ?? '') + textOf(event.chunks))
  }

  /** How often an input reached an agent. */
  reached(inputId: string): number {
    return this.#reached.get(inputId) ?? 0
  }
}

const textOf = (chunks: readonly { type: string; delta?: unknown }[]): string =>
  chunks.map((chunk) => (chunk.type === 'text-delta' && typeof chunk.delta === 'string' ? chunk.delta : '')).join('')

/**
 * `AgentSessionRuntimeService`: the mailboxes and the loop that decides, saves and acts. For each
 * event it calls `step`, commits the writes in one transaction, swaps the state, publishes what
 * changed and runs the effects, in this order (architecture, the law). It holds no session state of
 * its own: the state is core's, the boxes are handles.
 */
import type { Answer, Effect } from '../core/effect.ts'
import type { CommandEvent, DriverEvent, HostEvent } from '../core/event.ts'
import { load } from '../core/recovery.ts'
import { step } from '../core/step.ts'
import type { Generation, Session, SessionId } from '../core/types.ts'
import { isIdle, willContinueTopic } from '../core/view.ts'
import type { Commit, Write } from '../core/write.ts'
import { StoreError } from '../store/errors.ts'
import type { Changes, CommitResult, ResolvedContent, Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import { isCommand, stamped, type Mailbox, type Posted } from './mailbox.ts'

/** Waits between the tries of a commit that failed: 8.5 s in all, longer than a backup holds the lock. */
export const RETRY_DELAYS_MS = [100, 400, 1600, 6400] as const
/** How often the minimal commit of a turn that could not be saved is repeated. */
export const SWEEP_MS = 1000

export type RuntimePorts = {
  store: Store
  clock: Clock
  newId(): string
  /** Generations of this start of the host are above it: an event of an earlier start is stale by its number alone. */
  generationFloor: Generation
  /** Content of the rows a commit closes, from the accumulators. */
  resolve(writes: readonly Write[]): ResolvedContent
  /** Called after each commit and before its effects: what changed, in its latest form; null: it is saved and could not be read. */
  publish(session: Session, changes: Changes | null): void
  /** Runs one effect; it must not throw, and what it brings back comes by `post`. */
  interpret(session: Session, effect: Effect): void
  /** The session was given up and has left memory; its agent is told to close by itself. */
  abandoned(sessionId: SessionId): void
  /** Sees every event with the state it meets: tracing, and the simulator's cell counts. */
  trace?(before: Session, event: Posted): void
  /** Counts and logs what a person running the host should see. */
  report(what: 'stale-event' | 'commit-failed' | 'quarantined' | 'effect-failed', sessionId: SessionId, detail: string): void
}

export class AgentSessionRuntimeService {
  readonly #ports: RuntimePorts
  readonly #boxes = new Map<SessionId, Mailbox>()
  readonly #replies = new Map<string, (answer: Answer) => void>()
  /** Holds in force; a session loaded meanwhile starts under them. */
  #held = false
  #draining = false
  #stopped = false
  /** Sessions with something in their mailbox that came while another one was drained. */
  readonly #waiting = new Set<SessionId>()
  /** Generations below it were given to sessions that left memory; a session loaded anew must not give them again. */
  #generationFloor: Generation

  constructor(ports: RuntimePorts) {
    this.#ports = ports
    this.#generationFloor = ports.generationFloor
  }

  /** The state of a session, loaded on first use; null when there is none. */
  session(id: SessionId): Session | null {
    return this.#box(id)?.state ?? null
  }

  /** Sessions in memory. */
  loaded(): Session[] {
    return [...this.#boxes.values()].map((box) => box.state)
  }

  /** A commit of the session is tried again, and what comes waits behind it. */
  isRetrying(id: SessionId): boolean {
    return this.#boxes.get(id)?.retry != null
  }

  /** The topic of a session keeps its stream (spec, Live follow-up). */
  willContinueTopic(id: SessionId): boolean {
    const state = this.#boxes.get(id)?.state
    return state !== undefined && willContinueTopic(state)
  }

  /**
   * A session that owes something, as its rows say: recovered if it is not in memory (decision 8),
   * else told to look. One that something else has loaded meanwhile has recovered then.
   */
  wake(id: SessionId): void {
    this.post(id, { type: this.#boxes.has(id) ? 'delivery-kicked' : 'recovered' })
  }

  /** Puts an event into a session's mailbox; an unknown session drops it. */
  post(id: SessionId, event: Posted): void {
    if (this.#stopped) {
      if (isCommand(event)) this.reply(event.commandId, SHUTTING_DOWN)
      return
    }
    const box = this.#boxFor(id, event)
    if (box === undefined) return
    if (box === null) {
      if (isCommand(event)) this.reply(event.commandId, notFound(id))
      return
    }
    if (isCommand(event) && isBlocked(box)) {
      this.reply(event.commandId, STORE_FAILED)
      return
    }
    if (event.type !== 'recovered' || box.queue[0]?.type !== 'recovered') box.queue.push(event)
    this.#drain(id, box)
  }

  /**
   * What an effect has to say about itself (it was refused, it failed, it is done): the next event of its
   * session, before whatever waits there, so that it meets the state that its effect came from.
   */
  follow(id: SessionId, event: HostEvent): void {
    const box = this.#boxes.get(id)
    if (box === undefined || box.following === null) return this.post(id, event)
    box.queue.splice(box.following, 0, event)
    box.following += 1
  }

  driverEvent(id: SessionId, generation: Generation, event: DriverEvent): void {
    this.post(id, { type: 'driver', generation, event })
  }

  /** Posts a command and waits for its answer, which comes after its commit. */
  command(id: SessionId, build: (commandId: string) => CommandEvent): Promise<Answer> {
    const commandId = this.#ports.newId()
    return new Promise((resolve) => {
      this.#replies.set(commandId, resolve)
      this.post(id, build(commandId))
    })
  }

  /** The `reply` effect: a command nobody waits for any more is forgotten. */
  reply(commandId: string, answer: Answer): void {
    const resolve = this.#replies.get(commandId)
    this.#replies.delete(commandId)
    resolve?.(answer)
  }

  /** Places or releases the host's holds on every session in memory (write quiesce). */
  setHeld(held: boolean): void {
    if (this.#held === held) return
    this.#held = held
    for (const id of this.#boxes.keys()) this.post(id, { type: held ? 'hold-placed' : 'hold-released' })
  }

  /** The session is gone from the store: forget it. */
  drop(id: SessionId): void {
    const box = this.#boxes.get(id)
    if (box === undefined) return
    this.#boxes.delete(id)
    box.retry?.cancel()
    box.stopped = true
    for (const event of box.queue.filter(isCommand)) this.reply(event.commandId, notFound(id))
  }

  /** Stops all retries; nothing is processed afterwards, and nobody waits for an answer. */
  stop(): void {
    this.#stopped = true
    for (const box of this.#boxes.values()) {
      box.retry?.cancel()
      box.stopped = true
    }
    for (const commandId of this.#replies.keys()) this.reply(commandId, SHUTTING_DOWN)
  }

  /** Undefined: it cannot be read now. Its command is refused; what else comes is found in its rows later. */
  #boxFor(id: SessionId, event: Posted): Mailbox | null | undefined {
    try {
      return this.#box(id)
    } catch (error) {
      // At boot there is no later: a host must not start without what it owes.
      if (event.type === 'recovered') throw error
      this.#ports.report('commit-failed', id, `${event.type}: ${stackOf(error)}`)
      if (isCommand(event)) this.reply(event.commandId, STORE_FAILED)
      return undefined
    }
  }

  #box(id: SessionId): Mailbox | null {
    const known = this.#boxes.get(id)
    if (known !== undefined) return known
    const rows = this.#ports.store.loadSession(id)
    if (rows === null) return null
    const state = load(rows, this.#held, this.#generationFloor)
    // What was under way when it left memory is settled before anything else meets it.
    const queue: Posted[] = isIdle(state) && state.approvals.length === 0 ? [] : [{ type: 'recovered' }]
    const box: Mailbox = { state, queue, following: null, stopped: false, retry: null }
    this.#boxes.set(id, box)
    return box
  }

  /**
   * One mailbox at a time: what an effect posts to another session waits until this session's effects
   * are done, and never runs in the middle of them.
   */
  #drain(id: SessionId, box: Mailbox): void {
    if (this.#draining) {
      this.#waiting.add(id)
      return
    }
    this.#draining = true
    try {
      this.#drainOne(id, box)
      for (const next of this.#waiting) {
        this.#waiting.delete(next)
        const other = this.#boxes.get(next)
        if (other !== undefined) this.#drainOne(next, other)
      }
    } finally {
      this.#draining = false
    }
  }

  #drainOne(id: SessionId, box: Mailbox): void {
    while (!box.stopped && box.retry === null) {
      const event = box.queue.shift()
      if (event === undefined) return
      if (!this.#process(id, box, event)) box.queue.unshift(event)
    }
  }

  /** Handles one event; false: it could not be saved and stays at the head. */
  #process(id: SessionId, box: Mailbox, event: Posted, tries = 0): boolean {
    const { clock, newId } = this.#ports
    this.#ports.trace?.(box.state, event)
    const at = clock.iso()
    let result
    try {
      result = step(box.state, stamped(event, at, newId))
    } catch (error) {
      return this.#quarantine(id, box, event, error)
    }
    if (result.dropped) this.#ports.report('stale-event', id, event.type === 'driver' ? event.event.type : event.type)
    if (result.writes.length === 0) {
      box.state = result.session
      this.#act(id, box, result.effects)
      return true
    }
    const { session, writes } = result
    const commit: Commit = {
      sessionId: id,
      expectedRev: session.rev - 1,
      at,
      lastSeq: session.lastSeq,
      lastQueuePos: session.lastQueuePos,
      writes,
    }
    let outcome
    try {
      outcome = this.#commit(commit)
    } catch (error) {
      return this.#threw(id, box, event, error)
    }
    if (outcome.outcome === 'done') {
      box.state = session
      this.#publish(id, session, outcome.changes)
      this.#act(id, box, result.effects)
      return true
    }
    return this.#notSaved(id, box, event, outcome, tries)
  }

  /**
   * Settles an unknown outcome by reading the rev: it is saved, or it is as if it had failed. What
   * the world does to the reads around a commit is a failure too; only a bug of ours throws.
   */
  #commit(commit: Commit): Settled {
    const { store, resolve } = this.#ports
    try {
      const outcome = store.commit(commit, resolve(commit.writes))
      if (outcome.outcome !== 'unknown') return outcome
      const rev = store.revOf(commit.sessionId)
      // Only its own deletion makes a session vanish from under its mailbox.
      if (rev === null) return { outcome: 'done', changes: { rev: commit.expectedRev + 1, messages: [], approvals: [], removed: [] } }
      if (rev !== commit.expectedRev + 1) return { outcome: 'failed', message: outcome.message }
      return { outcome: 'done', changes: this.#changesOf(commit) }
    } catch (error) {
      if (error instanceof StoreError) return { outcome: 'failed', message: error.message }
      throw error
    }
  }

  /** What a commit changed that is known to be saved; null when it cannot be read now. */
  #changesOf(commit: Commit): Changes | null {
    try {
      return this.#ports.store.changesSince(commit.sessionId, commit.expectedRev)
    } catch (error) {
      if (error instanceof StoreError) return null
      throw error
    }
  }

  /** What windows are told must not cost the session its effects. */
  #publish(id: SessionId, session: Session, changes: Changes | null): void {
    try {
      this.#ports.publish(session, changes)
    } catch (error) {
      this.#ports.report('effect-failed', id, `publish: ${stackOf(error)}`)
    }
  }

  /** The store met a bug of ours and saved nothing: a command is refused by itself, anything else would be lost. */
  #threw(id: SessionId, box: Mailbox, event: Posted, error: unknown): boolean {
    if (!isCommand(event)) return this.#quarantine(id, box, event, error)
    this.#ports.report('commit-failed', id, `${event.type}: ${stackOf(error)}`)
    this.reply(event.commandId, { ok: false, code: 'INTERNAL_ERROR', detail: '' })
    return true
  }

  #notSaved(id: SessionId, box: Mailbox, event: Posted, outcome: Exclude<Settled, { outcome: 'done' }>, tries: number): boolean {
    const { report } = this.#ports
    if (outcome.outcome === 'refused') {
      if (outcome.reason === 'guard' && (event.type === 'delivery-found' || event.type === 'delivery-finalizing')) {
        box.queue.unshift({ type: 'commit-refused', of: event.type === 'delivery-found' ? 'claim' : 'finish' })
        return true
      }
      // What waits here and is owed elsewhere keeps its session (requirement 112).
      if (outcome.reason === 'guard' && event.type === 'session-deleted') {
        this.reply(event.commandId, { ok: false, code: 'RESOURCE_LOCKED', detail: outcome.detail })
        return true
      }
      if (outcome.reason === 'duplicate-key' && isCommand(event)) {
        this.reply(event.commandId, { ok: false, code: 'IDEMPOTENCY_KEY_REUSED', detail: outcome.detail })
        return true
      }
      return this.#quarantine(id, box, event, new Error(`commit refused (${outcome.reason}): ${outcome.detail}`))
    }
    report('commit-failed', id, `${event.type}: ${outcome.message}`)
    if (isCommand(event)) {
      this.reply(event.commandId, STORE_FAILED)
      return true
    }
    this.#retryLater(id, box, event, tries)
    return false
  }

  /** A driver or host event is never lost: it stays at the head and is tried again, and again. */
  #retryLater(id: SessionId, box: Mailbox, event: Posted, tries: number): void {
    const delay = RETRY_DELAYS_MS[tries] ?? SWEEP_MS
    const cancel = this.#ports.clock.after(delay, () => this.#retry(id, box, event, tries + 1))
    box.retry = { tries: tries + 1, cancel }
    if (isBlocked(box)) this.#refuseWaiting(box)
  }

  #retry(id: SessionId, box: Mailbox, event: Posted, tries: number): void {
    box.retry = null
    const exhausted = tries > RETRY_DELAYS_MS.length
    // What an agent says while it is closed must not be handled before this event is.
    this.#draining = true
    try {
      // Nothing of what it does can be saved: the agent is ended now, not when the store takes writes again.
      if (exhausted && tries === RETRY_DELAYS_MS.length + 1) this.#closeAgent(id, box, 'persistence')
      if (exhausted && !isLastResort(event)) {
        if (isOfTurn(event)) box.queue.shift()
        box.queue.unshift({ type: 'terminal-persistence-failed' })
      } else if (box.queue[0] === event && this.#process(id, box, event, tries)) box.queue.splice(box.queue.indexOf(event), 1)
    } finally {
      this.#draining = false
    }
    this.#drain(id, box)
  }

  #refuseWaiting(box: Mailbox): void {
    for (const event of box.queue.filter(isCommand)) this.reply(event.commandId, STORE_FAILED)
    box.queue = box.queue.filter((event) => !isCommand(event))
  }

  /** A bug of ours costs one session, never the host. A second bug while closing it drops it from memory. */
  #quarantine(id: SessionId, box: Mailbox, event: Posted, error: unknown): boolean {
    this.#ports.report('quarantined', id, `${event.type}: ${stackOf(error)}`)
    if (isCommand(event)) this.reply(event.commandId, { ok: false, code: 'SESSION_QUARANTINED', detail: 'internal error' })
    if (event.type === 'session-quarantined') {
      this.#abandon(id, box)
      return true
    }
    // A bug met while quarantined costs that event; there is nothing left to close.
    if (box.state.phase === 'quarantined') return true
    // An event of the driver or the host is never lost: the quarantined session meets it again, and learns
    // from it what only memory knows (a connection that closed, a hold that was released).
    if (!isCommand(event) && !isOfTurn(event)) box.queue.unshift(event)
    box.queue.unshift({ type: 'session-quarantined', reason: error instanceof Error ? error.message : String(error) })
    return true
  }

  /** Even closing it failed: its agent goes, and its rows are loaded anew when it is asked for. */
  #abandon(id: SessionId, box: Mailbox): void {
    this.#generationFloor = Math.max(this.#generationFloor, box.state.lastGeneration)
    this.#boxes.delete(id)
    // What waits here was meant for a state that is gone.
    this.#refuseWaiting(box)
    box.queue = []
    this.#closeAgent(id, box, 'quarantined')
    this.#ports.abandoned(id)
  }

  #closeAgent(id: SessionId, box: Mailbox, reason: 'persistence' | 'quarantined'): void {
    const { connection } = box.state
    if (connection.phase !== 'none') this.#act(id, box, [{ type: 'close-connection', generation: connection.generation, reason }])
  }

  #act(id: SessionId, box: Mailbox, effects: readonly Effect[]): void {
    box.following = 0
    for (const effect of effects) {
      try {
        this.#ports.interpret(box.state, effect)
      } catch (error) {
        this.#ports.report('effect-failed', id, `${effect.type}: ${stackOf(error)}`)
      }
    }
    box.following = null
  }
}

/** An outcome that is known. */
type Settled = Exclude<CommitResult, { outcome: 'done' | 'unknown' }> | { outcome: 'done'; changes: Changes | null }

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

const notFound = (id: SessionId): Answer => ({ ok: false, code: 'SESSION_NOT_FOUND', detail: id })

const SHUTTING_DOWN: Answer = { ok: false, code: 'SHUTTING_DOWN', detail: '' }
const STORE_FAILED: Answer = { ok: false, code: 'STORE_FAILED', detail: '' }

/** All tries are used up: commands are refused until the store takes writes again. */
const isBlocked = (box: Mailbox): boolean => box.retry !== null && box.retry.tries > RETRY_DELAYS_MS.length

/** Repeated until it is saved: each is the least that can be said of a session in that case, and nothing may come before it. */
const isLastResort = (event: Posted): boolean =>
  event.type === 'recovered' || event.type === 'session-quarantined' || event.type === 'terminal-persistence-failed'

/** What it says goes with the turn it speaks of: nothing is left to do when that has been closed in another way. */
const isOfTurn = (event: Posted): boolean =>
  event.type === 'send-failed' || event.type === 'redirect-refused' || (event.type === 'timer-fired' && event.timer !== 'idle')

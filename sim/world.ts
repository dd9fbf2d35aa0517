/**
 * One simulated life: the production engine over the real store in memory, agents and time moved by
 * a seed, and the host killed or its commits spoiled at a chosen point.
 */
import { applyEvent, applyPage, emptyView, type SessionView } from '@wheelhouse/client'
import type { StreamEvent } from '@wheelhouse/client/protocol'
import type { Event } from '../packages/runtime/src/core/event.ts'
import type { Answer } from '../packages/runtime/src/core/effect.ts'
import { load } from '../packages/runtime/src/core/recovery.ts'
import type { Session } from '../packages/runtime/src/core/types.ts'
import { isIdle } from '../packages/runtime/src/core/view.ts'
import { parseCursor } from '../packages/runtime/src/host/cursor.ts'
import { createEngine, type Engine } from '../packages/runtime/src/host/engine.ts'
import type { StreamSink } from '../packages/runtime/src/host/host-api.ts'
import type { DeliveryCheck } from '../packages/runtime/src/host/delivery-service.ts'
import { stamped, type Posted } from '../packages/runtime/src/host/mailbox.ts'
import { sweep } from '../packages/runtime/src/host/sweep.ts'
import { openSqliteStore } from '../packages/runtime/src/store/sqlite/open.ts'
import type { CommitResult, Store } from '../packages/runtime/src/store/store.ts'
import { PLANNED_THROW, type SimConnection } from './agent.ts'
import { cellEvent, cellState, type Cells } from './cells.ts'
import { SimClock } from './clock.ts'
import { simDriver } from './driver.ts'
import { faultyStore, type CommitFault, type FaultyStore } from './faulty-store.ts'
import { AGENT_ID, furnishSession, furnishStore } from './furnish.ts'
import type { Hunt, Lead, Want } from './hunt.ts'
import { Ledger } from './ledger.ts'
import { impossible } from './possible.ts'
import { prng, type Prng } from './prng.ts'
import { normal, sameState } from './same.ts'
import type { Temper } from './temper.ts'
import type { Mix } from './workload.ts'

export class Crash extends Error {}

/** Where to break: the nth crash point, or the nth commit. */
export type Fault = { kind: 'crash' | CommitFault; at: number }

const FIRST_SESSIONS = ['A', 'B']

export type WorldOptions = {
  seed: number
  temper: Temper
  mix: Mix
  fault: Fault | null
  hunt: Hunt | null
  /** Chance of a crash at each point, and of a spoiled commit. */ rate: number
  cells: Cells | null
  steps: ((session: Session, event: Event) => void) | null
}

export class SimSink implements StreamSink {
  lagging = false
  cut(): void {
    throw new Error('nothing a simulated reader is told can fail')
  }
  view: SessionView
  readonly #world: World
  constructor(world: World, sessionId: string) {
    this.#world = world
    this.view = emptyView(sessionId)
  }
  backlog(): number {
    return 0
  }
  event(_sessionId: string | null, _cursor: string | null, _type: string, data: string): void {
    const event = JSON.parse(data) as StreamEvent
    if (event.type === 'turn' && event.phase === 'ended') {
      const row = this.#world.store.readMessage(event.messageId)
      this.#world.check(7, row?.status !== 'pending', `the end of ${event.messageId} was published before it was saved`)
    }
    this.view = applyEvent(this.view, event)
    if (event.type === 'snapshot' || event.type === 'resync') this.#readPage()
    this.#world.check(12, !this.view.gap, `${this.view.sessionId} has a gap in its chunks`)
  }
  #readPage(): void {
    const { store, engine } = this.#world
    const session = engine.runtime.session(this.view.sessionId)
    if (session === null) return
    const items = store.listMessages(this.view.sessionId, { limit: 1000, before: null })
    this.view = applyPage(this.view, { items, before: null, cursor: engine.streams.openingCursor(session) }, false)
  }
}

export class World {
  readonly random: Prng
  readonly clock = new SimClock()
  readonly connections: SimConnection[] = []
  readonly ledger: Ledger
  readonly store: Store
  readonly answers = new Map<string, Answer>()
  readonly faults: FaultyStore
  engine: Engine
  sinks: SimSink[] = []
  failure: string | null = null
  crashes = 0
  points = 0
  epoch = 0
  held = false
  /** What a history that hunts still wants to meet, and what has to be met before anything of it. */
  wants: Want[]
  leads: Lead[] = []
  /** Operations since something that is wanted was met. */
  fruitless = 0
  /** Sessions that exist; one that was deleted is replaced by a new one. */
  sessions: readonly string[] = FIRST_SESSIONS
  /** Looks into inboxes that have not come back. */
  readonly probes: { sessionId: string; done(): void }[] = []
  /** How the next look ends, when a history wants it to. */
  verdict: 'start' | 'wait' | 'never' | 'changed' | null = null
  readonly temper: Temper
  readonly mix: Mix
  /** Faults happen; off while the world comes to rest. */
  armed = true
  #dead = false
  /** The last commit is in the database, whatever the host was told. */
  #saved = false
  #serial = 0
  /** What may break the event that is being handled; the first one that can be has its turn. */
  #spoils: readonly Want[] = []
  /** What was wanted and came last. */
  #spent: Want | null = null
  readonly #options: WorldOptions
  readonly log: string[] = []

  constructor(options: WorldOptions) {
    this.#options = options
    this.random = prng(options.seed)
    this.temper = bent(options.temper, this.random)
    this.mix = bent(options.mix, this.random)
    this.wants = options.hunt?.wants.map((want) => ({ ...want })) ?? []
    this.follow(options.hunt?.leads ?? [])
    this.ledger = new Ledger(
      (invariant, message) => this.check(invariant, false, message),
      () => this.store,
      (id) => this.engine.runtime.session(id)?.held === true,
    )
    const raw = openSqliteStore({ path: ':memory:' })
    this.faults = faultyStore(this.#recorded(raw))
    if (options.fault !== null && options.fault.kind !== 'crash') this.faults.failAt(options.fault.at, options.fault.kind)
    this.store = this.#mortal(this.faults.store)
    furnishStore(raw, 'sim', this.sessions, this.clock.iso())
    this.engine = this.#start()
    this.#attach()
  }

  check(invariant: number, ok: boolean, message: string): void {
    if (ok || this.#dead || this.failure !== null) return
    this.failure = `invariant ${invariant}: ${message}`
    this.log.push(this.failure)
  }

  newId(): string {
    this.#serial += 1
    return `id-${String(this.#serial).padStart(6, '0')}`
  }

  /** Runs `body`; if the host dies in it, a new one starts over the same store. */
  guarded(body: () => void): void {
    let next: (() => void) | null = body
    while (next !== null) {
      const run = next
      next = null
      try {
        run()
      } catch (error) {
        if (!(error instanceof Crash)) throw error
      }
      if (this.#dead) next = () => this.#reboot()
    }
  }

  kill(): void {
    this.guarded(() => this.#die('kill -9'))
  }

  post(sessionId: string, event: Posted): void {
    this.log.push(`${sessionId} ${JSON.stringify(event)}`)
    this.guarded(() => this.engine.runtime.post(sessionId, event))
  }

  /** Posts a command and gives its answer, if it got one. */
  command(sessionId: string, build: (commandId: string) => Posted): Answer | null {
    const commandId = this.newId()
    this.post(sessionId, build(commandId))
    return this.answers.get(commandId) ?? null
  }

  state(sessionId: string): Session | null {
    return this.engine.runtime.session(sessionId)
  }

  sweep(): void {
    this.guarded(() => sweep({ store: this.store, clock: this.clock, runtime: this.engine.runtime }))
  }

  /** A new session takes the place of one that was deleted. */
  renew(): void {
    for (const id of this.sessions) {
      if (this.state(id) !== null) continue
      const fresh = this.newId()
      furnishSession(this.store, fresh, this.clock.iso())
      this.sessions = this.sessions.map((each) => (each === id ? fresh : each))
      for (const sink of this.sinks.filter((each) => each.view.sessionId === id)) this.engine.streams.unsubscribe(sink)
      this.sinks = this.sinks.filter((each) => each.view.sessionId !== id)
      for (let each = 0; each < 2; each += 1) {
        const sink = new SimSink(this, fresh)
        this.sinks.push(sink)
        this.guarded(() => this.#subscribe(sink))
      }
    }
  }

  /** Connections that are over are not moved any more. */
  forgetDown(): void {
    for (let index = this.connections.length - 1; index >= 0; index -= 1)
      if (this.connections[index]?.phase === 'down') this.connections.splice(index, 1)
  }

  reattach(index: number): void {
    const sink = this.sinks[index]
    if (sink === undefined) return
    this.engine.streams.unsubscribe(sink)
    this.guarded(() => this.#subscribe(sink))
  }

  dispose(): void {
    this.store.close()
  }

  /** Memory equals the rows when nothing happens (invariant 16); views equal a fresh read (12). */
  judgeRest(): void {
    this.guarded(() => this.engine.streams.flush())
    for (const id of this.sessions) {
      const state = this.state(id)
      if (state === null) continue
      const rows = isIdle(state) ? this.store.loadSession(id) : null
      const loaded = rows === null ? null : load(rows, state.held)
      if (loaded !== null && !sameState(state, loaded))
        this.check(16, false, `${id}: memory differs from its rows\n${JSON.stringify(normal(state))}\n${JSON.stringify(normal(loaded))}`)
      this.#judgeViews(state)
    }
  }

  #judgeViews({ id, turn }: Session): void {
    const stored = {
      rows: JSON.stringify(this.store.listMessages(id, { limit: 1000, before: null })),
      queue: JSON.stringify(this.store.listQueue(id)),
      approvals: JSON.stringify(this.store.listApprovals({ sessionId: id, status: 'pending' })),
    }
    for (const { view } of this.sinks.filter((sink) => sink.view.sessionId === id)) {
      const shown = view.turn?.turnId ?? null
      this.check(12, shown === (turn?.id ?? null), `${id}: the turn shown is ${shown}, the one that runs ${turn?.id}`)
      const approvals = view.approvals.filter((approval) => approval.status === 'pending')
      for (const [part, seen] of Object.entries({ rows: view.rows, queue: view.queue, approvals } as const)) {
        const [one, other] = [JSON.stringify(seen), stored[part as keyof typeof stored]]
        if (one !== other) this.check(12, false, `${id}: ${part} seen differ from the stored ones\n${one}\n${other}`)
      }
    }
  }

  // ---- the parts around the engine

  #start(): Engine {
    this.epoch = this.store.nextStreamEpoch()
    const { cells, steps } = this.#options
    return createEngine({
      store: this.store,
      clock: this.clock,
      newId: () => this.newId(),
      epoch: this.epoch,
      firstEpoch: 1,
      facts: (sessionId) => ({
        ok: true,
        driver: simDriver(this.connections, this.random, this.temper, this.ledger),
        input: {
          cwd: '/',
          provider: { protocol: 'anthropic', baseUrl: '', apiKey: null },
          modelId: `model of ${sessionId}`,
          prompt: { base: null, append: '' },
          permissionMode: 'default',
          disabledTools: [],
          dirs: { home: '/', tmp: '/' },
          env: {},
          ports: {
            spawn: () => never(),
            after: (ms, fire) => this.clock.after(ms, fire),
            newId: () => this.newId(),
            log: () => undefined,
            now: () => this.clock.now,
          },
        },
      }),
      validateDelivery: (sessionId, done) => {
        const answer = (): void => done(this.#verdict())
        // A look may take its time; the session goes on meanwhile.
        if (this.armed && (this.#options.hunt !== null || this.random.chance(0.5))) this.probes.push({ sessionId, done: answer })
        else answer()
      },
      report: (what, sessionId, detail) => this.#report(what, sessionId, detail),
      aroundEffect: (session, effect, run) => {
        if (this.#dead) return
        cells?.enter(session.id, effect.type)
        this.#point(`before ${effect.type}`)
        if (effect.type === 'reply') this.answers.set(effect.commandId, effect.answer)
        run()
        this.#point(`after ${effect.type}`)
      },
      trace: (before, event) => {
        this.#spoils = []
        // What a host that is dead still goes through changes nothing.
        if (this.#dead) return
        // The rest at the end of a history is not counted: nothing can be broken there.
        if (this.armed) {
          const [state, kind] = [cellState(before), cellEvent(before, event)]
          this.#judgeCell(state, kind)
          cells?.visit(before.id, state, kind)
          this.#meet(state, kind)
        } else cells?.leave()
        steps?.(
          before,
          stamped(event, this.clock.iso(), () => 'id'),
        )
      },
    })
  }

  #verdict(): DeliveryCheck {
    const agentRev = this.store.readAgent(AGENT_ID)?.rev ?? 0
    const wanted = this.verdict ?? this.random.pick(VERDICTS)
    this.verdict = null
    if (!this.armed) return { verdict: 'start', agentRev, modelId: 'm' }
    if (wanted === 'wait') return { verdict: 'wait' }
    if (wanted === 'never') return { verdict: 'never', code: 'TARGET_UNAVAILABLE' }
    // An edit of the agent between validation and claim: the claim must lose.
    return { verdict: 'start', agentRev: wanted === 'changed' ? agentRev + 1 : agentRev, modelId: 'm' }
  }

  /** It is one of those that are wanted: met, and broken where it can be. */
  #meet(state: string, event: string): void {
    const wanted = [...this.leads.slice(0, 1), ...this.wants].filter((want) => want.state === state && want.event === event)
    const plain = wanted.find((want) => want.fault === null)
    if (plain !== undefined) this.#spend(plain)
    this.#spoils = wanted.filter((want) => want.fault !== null)
  }

  #spend(want: Want): void {
    this.fruitless = 0
    want.times -= 1
    if (want.times === 0) {
      this.wants = this.wants.filter((other) => other !== want)
      this.leads = this.leads.filter((other) => other !== want)
    }
    if (want.fault === null) return
    this.#spoils = []
    this.#spent = want
  }

  /** What a history that hunts has to meet first. */
  follow(leads: readonly Lead[]): void {
    this.leads = leads.map((lead) => ({ ...lead }))
    this.fruitless = 0
  }

  #judgeCell(state: string, event: string): void {
    const reason = impossible(state, event)
    if (reason !== null) this.check(0, false, `${state} met ${event}, which is declared impossible: ${reason}`)
  }

  #report(what: string, sessionId: string | null, detail: string): void {
    if (this.#dead) return
    this.log.push(`${sessionId ?? ''} ${what} ${detail}`)
    // A planned refusal is a bug as far as the host can know; any other quarantine is one.
    if (what === 'quarantined' && !detail.includes('planned')) this.check(0, false, `${sessionId} quarantined: ${detail}`)
    if (what === 'effect-failed' || (what === 'driver-threw' && !detail.includes(PLANNED_THROW))) this.check(0, false, `${what}: ${detail}`)
  }

  #die(where: string): never {
    this.#dead = true
    this.crashes += 1
    this.log.push(`crash ${where}`)
    throw new Crash(where)
  }

  #point(name: string): void {
    if (this.#dead) throw new Crash(name)
    this.points += 1
    const { fault, rate, cells } = this.#options
    const spoil = this.#spoils.find((want) => want.fault?.kind === 'crash' && want.fault.point === name)
    if (spoil !== undefined) this.#spend(spoil)
    const planned = spoil !== undefined || (this.armed && fault?.kind === 'crash' && fault.at === this.points)
    if (planned || (this.armed && rate > 0 && this.random.chance(rate))) {
      cells?.crashed(name)
      this.#die(name)
    }
  }

  #reboot(): void {
    this.#dead = false
    this.#spoils = []
    for (const connection of this.connections) connection.kill()
    this.connections.length = 0
    this.probes.length = 0
    this.clock.clear()
    this.held = false
    this.#options.cells?.restart()
    this.engine = this.#start()
    this.engine.boot()
    for (const sink of this.sinks) this.#subscribe(sink)
  }

  #attach(): void {
    for (const id of this.sessions) for (let each = 0; each < 2; each += 1) this.sinks.push(new SimSink(this, id))
    for (const sink of this.sinks) this.#subscribe(sink)
  }

  #subscribe(sink: SimSink): void {
    const { cursor, sessionId } = sink.view
    this.engine.streams.subscribe(sink, sessionId, cursor === null ? null : parseCursor(cursor))
  }

  /** Sees what is truly saved. */
  #recorded(raw: Store): Store {
    return {
      ...raw,
      commit: (commit, content): CommitResult => {
        const result = raw.commit(commit, content)
        if (result.outcome === 'done') {
          this.#saved = true
          this.ledger.committed(commit, result.changes)
          this.log.push(`  saved ${commit.sessionId} ${commit.expectedRev + 1} ${commit.writes.map((write) => write.type).join(' ')}`)
        }
        return result
      },
    }
  }

  #spoilCommit(): void {
    const spoils = this.#spoils.filter(isSpoil)
    if (spoils.length === 0) return
    // A commit that is to fail until it is given up fails in one go.
    const spoil = spoils.find((want) => want.fault.kind === 'failed' && isOneMore(want, this.#spent)) ?? this.random.pick(spoils)
    this.faults.failNext(spoil.fault.kind)
    this.#spend(spoil)
  }

  /** Dies before or after a commit. */
  #mortal(store: Store): Store {
    const { rate, cells } = this.#options
    return {
      ...store,
      commit: (commit, content) => {
        this.#point('before commit')
        if (this.armed && rate > 0 && this.random.chance(rate))
          this.faults.failNext(this.random.pick(['failed', 'unknown-saved', 'unknown-not-saved'] as const), 1 + this.random.below(3))
        this.#spoilCommit()
        this.#saved = false
        const result = store.commit(commit, content)
        cells?.committed(result.outcome, this.#saved)
        this.#point('after commit')
        return result
      },
    }
  }
}

/** Faults of a commit, not of the process. */
type Spoil = Want & { fault: { kind: CommitFault } }
const isSpoil = (want: Want): want is Spoil => want.fault !== null && want.fault.kind !== 'crash'

const isOneMore = (want: Want, last: Want | null): boolean =>
  want.state === last?.state && want.event === last.event && want.fault?.kind === last.fault?.kind

/** Mostly it may start; the rest are the ways in which it may not. */
const VERDICTS = ['wait', 'never', 'changed', ...Array.from({ length: 17 }, () => 'start' as const)] as const

/** Each history has another temper: what is rare in the long run is common in some (swarm testing). */
function bent<T extends { [name: string]: number }>(chances: T, random: Prng): T {
  return Object.fromEntries(Object.entries(chances).map(([name, chance]) => [name, name === 'steps' ? chance : bend(chance, random)])) as T
}

const BENDS = [0, 0.3, 1, 1, 1, 3]
const bend = (chance: number, random: Prng): number => Math.min(0.9, chance * random.pick(BENDS))

const never = (): never => {
  throw new Error('the simulated agent starts no process')
}

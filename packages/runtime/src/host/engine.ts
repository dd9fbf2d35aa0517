/**
 * The engine: everything between a command and an agent, wired. The simulator runs exactly this
 * over a simulated clock and driver; `host.ts` gives it the real ones.
 */
import type { Activity, Effect } from '../core/effect.ts'
import type { MessageId, Session, SessionId } from '../core/types.ts'
import type { Store } from '../store/store.ts'
import { AiService } from './ai-service.ts'
import type { Clock } from './clock.ts'
import { Connections, type ConnectFacts } from './connections.ts'
import { AgentSessionDeliveryService, type DeliveryCheck } from './delivery-service.ts'
import { interpret, type EffectServices } from './effects/interpret.ts'
import { AgentSessionMessageService } from './message-service.ts'
import { AgentSessionRuntimeService, type RuntimePorts } from './runtime-service.ts'
import { AiStreamManager } from './stream-manager.ts'
import { SessionTimers, TIMER_MS, type TimerLimits } from './timers.ts'
import { createViews, type Moments } from './views.ts'

export type EngineReport =
  | 'stale-event'
  | 'commit-failed'
  | 'quarantined'
  | 'effect-failed'
  | 'journal-failed'
  | 'publish-failed'
  | 'driver-threw'

/** Connections one session makes in one start of the host, at the most. */
const GENERATIONS_PER_START = 1_000_000

export type EnginePorts = {
  store: Store
  clock: Clock
  newId(): string
  /** Epoch of this start, and the first one of this data directory (decision 5). */
  epoch: number
  firstEpoch: number
  facts(sessionId: SessionId): ConnectFacts
  validateDelivery(sessionId: SessionId, done: (check: DeliveryCheck) => void): void
  report(what: EngineReport, sessionId: SessionId | null, detail: string): void
  timers?: TimerLimits
  /** A session was deleted and its agent is gone: what drivers keep of it goes, too. */
  forget?(sessionId: SessionId): void
  /** A turn, or the part of it before a roll, has ended, and its row says so. */
  turnEnded?(sessionId: SessionId, messageId: MessageId): void
  trace?: RuntimePorts['trace']
  /** Wraps the interpreter; a composition for tests stops its process here. */
  aroundEffect?(session: Session, effect: Effect, run: () => void): void
}

export type Engine = Omit<EffectServices, 'remember' | 'dropSession' | 'turnEnded'> & {
  views: ReturnType<typeof createViews>
  boot(): void
  stop(): void
}

export function createEngine(ports: EnginePorts): Engine {
  const { store, clock, newId, report } = ports
  const moments: Moments = new Map()
  const messages = new AgentSessionMessageService(store)
  const runtime: AgentSessionRuntimeService = new AgentSessionRuntimeService({
    store,
    clock,
    newId,
    generationFloor: (ports.epoch - ports.firstEpoch) * GENERATIONS_PER_START,
    resolve: (writes) => ({ ...streams.resolve(writes), ...messages.results(writes) }),
    publish: (session, changes) => streams.changed(session, changes),
    interpret(session, effect) {
      const run = (): void => interpret(services, session, effect)
      if (ports.aroundEffect === undefined) run()
      else ports.aroundEffect(session, effect, run)
    },
    abandoned: (id) => timers.forget(id),
    ...(ports.trace === undefined ? {} : { trace: ports.trace }),
    report,
  })
  const views = createViews({ store, firstEpoch: ports.firstEpoch, state: (id) => runtime.session(id), moments })
  const streams = new AiStreamManager({ store, clock, epoch: ports.epoch, views, report: (what, detail) => report(what, null, detail) })
  const connections = new Connections({
    facts: ports.facts,
    emit: (id, generation, event) => runtime.driverEvent(id, generation, event),
    report,
  })
  const deliveries = new AgentSessionDeliveryService({
    store,
    validate: ports.validateDelivery,
    post: (id, event) => runtime.post(id, event),
  })
  const ai = new AiService({ connections, messages, follow: (id, event) => runtime.follow(id, event) })
  const timers = new SessionTimers({
    clock,
    limits: ports.timers ?? TIMER_MS,
    blocked: (id) => runtime.isRetrying(id),
    fire: (id, timer, key) => runtime.post(id, { type: 'timer-fired', timer, key }),
  })
  const services: EffectServices = {
    runtime,
    streams,
    connections,
    deliveries,
    messages,
    ai,
    timers,
    remember(sessionId: SessionId, activity: Activity) {
      const known = moments.get(sessionId) ?? { contextUsage: null, background: [] }
      if (activity.type === 'context-usage') moments.set(sessionId, { ...known, contextUsage: activity.usage })
      else if (activity.type === 'background-tasks') moments.set(sessionId, { ...known, background: activity.tasks })
    },
    turnEnded: (sessionId, messageId) => ports.turnEnded?.(sessionId, messageId),
    dropSession(sessionId) {
      streams.removed(sessionId)
      runtime.drop(sessionId)
      timers.forget(sessionId)
      moments.delete(sessionId)
      void connections.closed(sessionId).then(() => ports.forget?.(sessionId))
    },
  }
  return {
    ...services,
    views,
    /** Lets every session that owes something recover; the others load when they are asked for. */
    boot() {
      for (const id of store.sessionsOwing()) runtime.wake(id)
    },
    stop() {
      runtime.stop()
      timers.stop()
      streams.stop()
    },
  }
}

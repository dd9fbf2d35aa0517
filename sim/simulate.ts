/** One history: operations with faults, then rest; what is owed must be settled by then. */
import type { Event } from '../packages/runtime/src/core/event.ts'
import type { Session } from '../packages/runtime/src/core/types.ts'
import type { Cells } from './cells.ts'
import { pursue, type Hunt } from './hunt.ts'
import type { Temper } from './temper.ts'
import { answerProbe, MIX, moveAgent, operate, runQueue, toggleHold } from './workload.ts'
import { World, type Fault } from './world.ts'

export type Outcome = {
  failure: string | null
  points: number
  commits: number
  crashes: number
  log: string[]
  stats: World['ledger']['stats']
}

const TEMPER: Temper = {
  steps: 14,
  fail: 0.1,
  die: 0.02,
  deaf: 0.2,
  hang: 0.6,
  autonomous: 0.05,
  ask: 0.1,
  refuse: 0.1,
  throws: 0.01,
  lingers: 0.3,
}
/** More than any history needs to come to rest; reaching it means that something goes in circles. */
const REST_STEPS = 5000

export function simulate(options: {
  seed: number
  ops: number
  fault: Fault | null
  rate: number
  cells?: Cells | null
  hunt?: Hunt | null
  /** Sees each event with the session it meets. */ steps?: (session: Session, event: Event) => void
}): Outcome {
  const hunt = options.hunt ?? null
  options.cells?.restart()
  const world = new World({
    seed: options.seed,
    temper: TEMPER,
    mix: MIX,
    hunt,
    fault: options.fault,
    rate: options.rate,
    cells: options.cells ?? null,
    steps: options.steps ?? null,
  })
  try {
    for (let op = 0; op < options.ops && world.failure === null; op += 1) {
      if (hunt !== null && world.wants.length === 0) break
      if (hunt === null || !pursue(world, hunt)) operate(world)
      world.renew()
      if (world.failure === null) world.judgeRest()
    }
    const points = world.points
    const commits = world.faults.commits()
    if (world.failure === null) rest(world)
    if (world.failure !== null) world.log.push(...world.sessions.map((id) => JSON.stringify(world.state(id))))
    return { failure: world.failure, points, commits, crashes: world.crashes, log: world.log, stats: world.ledger.stats }
  } finally {
    world.dispose()
  }
}

/** Faults stop; a person does what only a person can; then nothing may be left that could run. */
function rest(world: World): void {
  world.armed = false
  world.faults.heal()
  for (let step = 0; ; step += 1) {
    if (world.failure !== null) return
    if (step > REST_STEPS) return world.check(0, false, 'it never came to rest')
    if (world.held) toggleHold(world)
    const before = revs(world)
    // What a person does may have to wait behind a commit that is tried again: then time must pass.
    if (decide(world) && revs(world) !== before) continue
    if (moveAgent(world, true)) continue
    if (world.probes.length > 0) {
      answerProbe(world, null)
      continue
    }
    const wait = world.clock.next()
    if (wait === null) {
      // What nothing else reminds the host of is found by its sweep.
      world.sweep()
      if (revs(world) === before) break
      continue
    }
    world.guarded(() => world.clock.advance(wait))
  }
  settled(world)
  world.judgeRest()
}

const revs = (world: World): string => world.sessions.map((id) => world.state(id)?.rev).join()

/** What a person would do about everything that waits for one; true when there was something. */
function decide(world: World): boolean {
  for (const id of world.sessions) {
    const state = world.state(id)
    if (state === null) continue
    if (state.phase === 'quarantined') return world.command(id, (commandId) => ({ type: 'session-released', commandId })) !== null
    const approval = state.approvals.find((open) => !open.decided)
    if (approval !== undefined) {
      const decision = { allow: true, reason: null, updatedInput: {}, answers: null }
      world.command(id, (commandId) => ({ type: 'approval-answered', commandId, approvalId: approval.id, decision, by: 'p' }))
      return true
    }
    const unknown = state.queue.find((input) => input.state === 'unknown')
    if (unknown !== undefined) {
      world.command(id, (commandId) => ({ type: 'message-dismissed', commandId, messageId: unknown.id }))
      return true
    }
    if (state.turn === null && state.deferred === null && state.queue.some((input) => input.state === 'held')) {
      runQueue(world, id)
      return true
    }
    if (
      world.store.nextAccepted(id) !== null &&
      state.turn === null &&
      state.seeking === null &&
      state.finalizing === null &&
      state.deferred === null
    ) {
      world.post(id, { type: 'delivery-kicked' })
      return true
    }
  }
  return false
}

function settled(world: World): void {
  const { ledger, store } = world
  for (const row of ledger.rows.values()) {
    world.check(0, row.status !== 'pending', `row ${row.id} is still pending`)
    if (row.role === 'user')
      world.check(
        0,
        ['taken', 'withdrawn'].includes(row.inputState ?? '') || row.deliveryStatus === 'failed',
        `input ${row.id} is still ${row.inputState}`,
      )
    world.check(0, row.deliveryStatus !== 'delivering', `delivery ${row.id} is still delivering`)
  }
  const gone = (id: string | null): boolean => id !== null && ledger.deletedSessions.has(id)
  for (const delivery of ledger.deliveries.values()) {
    if (gone(delivery.to)) continue
    const status = store.readMessage(delivery.id)?.deliveryStatus
    world.check(0, status === 'consumed' || status === 'failed', `delivery ${delivery.id} is ${status}`)
    if (delivery.completion && !gone(delivery.from))
      world.check(3, delivery.results === 1, `request ${delivery.id} has ${delivery.results} results`)
  }
  for (const [inputId, sessionId] of ledger.inputs)
    world.check(5, gone(sessionId) || store.readMessage(inputId) !== null, `input ${inputId} is gone`)
  for (const id of world.sessions) {
    const state = world.state(id)
    world.check(0, state?.connection.phase === 'none', `${id} still has a connection (${state?.connection.phase})`)
    world.check(0, state?.phase === 'active', `${id} is ${state?.phase}`)
    world.check(0, !world.engine.streams.hasLiveStream(id), `the topic of ${id} is still held`)
  }
}

/**
 * A history that looks for rare cells: it goes the way that is known to lead to a state, and there
 * brings about the events that are wanted, with the faults that are wanted.
 */
import type { DriverEvent } from '../packages/runtime/src/core/event.ts'
import { TIMER_MS } from '../packages/runtime/src/host/timers.ts'
import { cellState, type CellFault } from './cells.ts'
import { answerProbe, COMMANDS, deliver, late, passTime, toggleHold } from './workload.ts'
import type { World } from './world.ts'

/** Visits of a cell; `fault` null: whatever comes of them. */
export type Want = { state: string; event: string; fault: CellFault | null; times: number }

export type Hunt = {
  /** The state that is wanted. What else is wanted leads to it. */
  state: string
  /** What has to be met before anything of the rest counts, in this order; and again when nothing more comes of it. */
  leads: readonly Lead[]
  /** What leads out of the state stands last. */
  wants: readonly Want[]
  route: Route
  /** The way while something is wanted in other states. */
  detour: Route
}

/** `route`: the way to where it can be met. */
export type Lead = Want & { route: Route }

/** From each state, the events that lead nearer. */
export type Route = { [state: string]: readonly string[] }

/** Now and then something else happens, so that the state is met with other things in it. */
const DETOUR = 0.1
/** How much what stands first among the wants is preferred: 1 = not at all. */
const BIAS = 3
/** Operations without anything that was wanted, after which its leads are followed again. */
const PATIENCE = 15
/** More timers than fire until a commit is given up: those that are due wait and look again. */
const UNTIL_GIVEN_UP = 200
/** A deadline is met before its escalation when a commit is tried again from here on, so often. */
const BLOCKED = { afterMs: 250, failures: 3 }

/** One operation towards what is wanted; false when nothing of it can be done now. */
export function pursue(world: World, { state, leads, ...ways }: Hunt): boolean {
  const { random, wants, temper } = world
  if (random.chance(DETOUR)) return false
  if (isRetrying(world)) {
    for (let step = 0; step < UNTIL_GIVEN_UP && isRetrying(world); step += 1) passTime(world, true)
    return true
  }
  const at = world.sessions.map((id) => ({ id, state: stateOf(world, id) })).filter((each) => each.state !== null)
  world.fruitless += 1
  if (world.fruitless > PATIENCE) world.follow(leads)
  const [lead] = world.leads
  if (lead !== undefined) {
    temper.refuse = 0
    return approach(world, at, [lead], lead.route)
  }
  if (isWanted(world, 'timer-fired:approval-expiry') && random.chance(0.3)) age(world)
  const there = wants.filter((want) => want.state === state)
  if (at.some((each) => each.state === state) && there.length > 0) return approach(world, at, there, {})
  if (wants.some((want) => want.state.endsWith('/finalizing')) && feed(world, nearest(world, at, ways.route)?.id ?? null)) return true
  return approach(world, at, wants, wants.length > there.length ? ways.detour : ways.route)
}

type Place = { id: string; state: string | null }

/** Brings about one of those that are wanted where a session is; else the way leads there. */
function approach(world: World, at: readonly Place[], wants: readonly Want[], route: Route): boolean {
  const { random } = world
  for (const each of at) {
    const events = wants.filter((want) => want.state === each.state).map((want) => want.event)
    if (provoke(world, each.id, events[Math.floor(events.length * random.next() ** BIAS)] ?? '')) return true
  }
  const next = nearest(world, at, route)
  if (next === null) return false
  if (wants.some((want) => want.state.endsWith('/seeking')) && random.chance(0.2)) {
    deliver(world, next.id)
    return true
  }
  return provoke(world, next.id, random.pick(route[next.state ?? ''] ?? []))
}

/** One session goes ahead; the other one is there for what needs two. */
function nearest({ random }: World, at: readonly Place[], route: Route): Place | null {
  const near = at.filter((each) => route[each.state ?? ''] !== undefined)
  const [first] = near
  if (first === undefined) return null
  return random.chance(0.8) ? first : random.pick(near)
}

const isRetrying = (world: World): boolean => world.sessions.some((id) => world.engine.runtime.isRetrying(id))

/** The turns that are to end are those of deliveries. */
function feed(world: World, id: string | null): boolean {
  const session = id === null ? null : world.state(id)
  if (id === null || session === null || session.turn !== null || session.phase !== 'active' || session.held) return false
  if (session.seeking !== null) return provoke(world, id, 'delivery-found')
  deliver(world, id)
  return true
}

function stateOf(world: World, id: string): string | null {
  const session = world.state(id)
  return session === null ? null : cellState(session)
}

function provoke(world: World, id: string, event: string): boolean {
  const { random, temper } = world
  const command = COMMANDS[event as keyof typeof COMMANDS]
  if (command !== undefined) {
    prepare(world, id, event)
    command(world, id)
    return true
  }
  if (event.startsWith('timer-fired:')) {
    if (event === 'timer-fired:stop-deadline' && world.state(id)?.connection.phase === 'live') holdUp(world, id)
    passTime(world, true)
    return true
  }
  switch (event) {
    case 'stale-event':
      late(world, id, true)
      return true
    case 'stale-request':
      world.post(id, { type: 'driver', generation: OTHER, event: random.pick(REQUESTS) })
      return true
    case 'recovered':
      owe(world, id)
      if (world.state(id)?.held === true) giveUp(world, id)
      else world.kill()
      world.sweep()
      return true
    case 'hold-placed':
    case 'hold-released':
      toggleHold(world)
      return true
    case 'agent-changed':
      world.post(id, { type: event })
      return true
    case 'delivery-kicked':
      if (!owe(world, id)) world.post(id, { type: event })
      return true
    case 'delivery-found':
    case 'delivery-none':
    case 'delivery-unroutable':
    case 'commit-refused:claim':
      world.verdict = VERDICT_OF[event]
      // The last look is the one that counts; to meet a session that looks no more an older one has to be left.
      if (answerProbe(world, id, world.state(id)?.seeking != null)) return true
      world.verdict = null
      return owe(world, id)
    case 'session-quarantined':
      // Whatever of it is saved next is refused.
      world.faults.failNext('refused')
      COMMANDS[random.pick(['message-submitted', 'stop-requested', 'queue-run', 'session-updated'] as const)](world, id)
      return true
    case 'send-failed':
      temper.throws = 0.5
      return false
    case 'redirect-refused':
      temper.refuse = 0.9
      if (!editSteer(world, id)) COMMANDS['message-submitted'](world, id)
      return true
    default: {
      // What belongs to a row may come when its agent is long gone.
      if (event === 'background-flow-chunk' && random.chance(0.5)) {
        world.post(id, { type: 'driver', generation: OTHER, event: { type: event, messageId: 'gone', toolCallId: 'tool', chunk: {} } })
        return true
      }
      const connection = world.connections.find((each) => each.input.sessionId === id)
      if (connection === undefined) return false
      let done = false
      world.guarded(() => {
        done = connection.wish(event as DriverEvent['type'])
      })
      world.forgetDown()
      return done
    }
  }
}

/** A generation that no session has reached. */
const OTHER = 1_000_000

const REQUESTS: readonly DriverEvent[] = [
  { type: 'steer-offering', turnId: 'gone', offeringId: 'gone', inputIds: ['gone'] },
  {
    type: 'tool-approval-request',
    turnId: 'gone',
    request: { approvalId: 'gone', kind: 'tool', toolCallId: 'gone', toolName: 'Bash', input: {} },
  },
]

const isWanted = (world: World, event: string): boolean => world.wants.some((want) => want.event === event)

/** Time passes until a question that is open is nearly due. */
function age(world: World): void {
  const asked = world.sessions.some((id) => world.state(id)?.approvals.some((approval) => !approval.decided))
  const wait = asked ? world.clock.last() : null
  const rest = 1 + world.random.below(NEARLY_MS)
  if (wait !== null && wait > NEARLY_MS) world.guarded(() => world.clock.advance(wait - rest))
}

/** A Stop that is not heard closes its turn by then. */
const NEARLY_MS = TIMER_MS['stop-deadline']

/** Its commits fail for a while: what is due meanwhile is due together afterwards. */
function holdUp(world: World, id: string): void {
  world.guarded(() => world.clock.advance(BLOCKED.afterMs))
  world.faults.failNext('failed', BLOCKED.failures)
  world.guarded(() => world.connections.find((each) => each.input.sessionId === id)?.wish('resume-token'))
}

/** Under a hold only a session that was given up is loaded anew: a commit of it is refused, and its quarantine too. */
function giveUp(world: World, id: string): void {
  const connection = world.connections.find((each) => each.input.sessionId === id)
  world.faults.failNext('refused', 2)
  if (world.state(id)?.turn === null) world.guarded(() => connection?.wish('resume-token'))
  else COMMANDS['stop-requested'](world, id)
  world.faults.heal()
}

function editSteer(world: World, id: string): boolean {
  const steer = world.state(id)?.queue.find((input) => input.state === 'steering')
  if (steer === undefined) return false
  world.command(id, (commandId) => ({ type: 'message-edited', commandId, messageId: steer.id, parts: [{ type: 'text', text: 'edited' }] }))
  return true
}

/** Puts something into its inbox, now and then. */
function owe(world: World, id: string): boolean {
  if (!world.random.chance(0.5)) return false
  deliver(world, id)
  return true
}

/** A command about a waiting message needs one. */
function prepare(world: World, id: string, event: string): void {
  const empty = world.state(id)?.queue.length === 0
  if (empty && (event.startsWith('message-') || event.startsWith('queue-')) && event !== 'message-submitted' && world.random.chance(0.3))
    COMMANDS['message-submitted'](world, id)
}

const VERDICT_OF = {
  'delivery-found': 'start',
  'delivery-none': 'wait',
  'delivery-unroutable': 'never',
  'commit-refused:claim': 'changed',
} as const

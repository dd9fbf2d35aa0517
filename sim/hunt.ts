/**
 * A history that looks for rare cells: it goes the way that is known to lead to a state, and there
 * brings about the events that are wanted, with the faults that are wanted.
 */
import type { DriverEvent } from '../packages/runtime/src/core/event.ts'
import { cellState, type CellFault } from './cells.ts'
import { answerProbe, COMMANDS, deliver, late, passTime, toggleHold } from './workload.ts'
import type { World } from './world.ts'

/** One visit of a cell; `fault` null: whatever comes of it. */
export type Want = { state: string; event: string; fault: CellFault | null }

export type Hunt = {
  /** The state that is wanted. What else is wanted leads to it. */
  state: string
  wants: readonly Want[]
  /** From each state, the events that lead nearer. */
  route: { [state: string]: readonly string[] }
}

/** Now and then something else happens, so that the state is met with other things in it. */
const DETOUR = 0.15

/** One operation towards what is wanted; false when nothing of it can be done now. */
export function pursue(world: World, { state, route }: Hunt): boolean {
  const { random, wants } = world
  if (random.chance(DETOUR)) return false
  if (world.sessions.some((id) => world.engine.runtime.isRetrying(id))) {
    passTime(world, true)
    return true
  }
  const at = world.sessions.map((id) => ({ id, state: stateOf(world, id) })).filter((each) => each.state !== null)
  const here = at.filter((each) => wants.some((want) => want.state === each.state))
  const there = here.filter((each) => each.state === state)
  for (const each of there.length > 0 ? there : here) {
    const events = wants.filter((want) => want.state === each.state).map((want) => want.event)
    if (provoke(world, each.id, random.pick(events))) return true
  }
  const ways = at.filter((each) => route[each.state ?? ''] !== undefined)
  if (ways.length === 0) return false
  const way = random.pick(ways)
  return provoke(world, way.id, random.pick(route[way.state ?? ''] ?? []))
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
    passTime(world, true)
    return true
  }
  switch (event) {
    case 'stale-event':
    case 'stale-request':
      late(world, id)
      return true
    case 'recovered':
      owe(world, id)
      // Under a hold only a session that was given up is loaded anew.
      if (world.state(id)?.held === true) COMMANDS['stop-requested'](world, id)
      else world.kill()
      world.sweep()
      return true
    case 'hold-placed':
    case 'hold-released':
      toggleHold(world)
      return true
    case 'agent-changed':
    case 'delivery-kicked':
      world.post(id, { type: event })
      return true
    case 'delivery-found':
    case 'delivery-none':
    case 'delivery-unroutable':
    case 'commit-refused:claim':
      world.verdict = VERDICT_OF[event]
      if (answerProbe(world, id)) return true
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
      COMMANDS[random.pick(['message-submitted', 'message-edited'] as const)](world, id)
      return true
    default: {
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

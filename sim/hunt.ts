/**
 * A history that looks for rare cells: it plays a known one up to the operation in which the state
 * was met, goes its own way from there, and whenever a session is in that state brings about one of
 * the events that are wanted, with the fault that is wanted.
 */
import { cellState, type CellFault } from './cells.ts'
import { answerProbe, COMMANDS, deliver, late, moveAgent, passTime, toggleHold } from './workload.ts'
import type { World } from './world.ts'

export type Want = { event: string; fault: CellFault | null }

export type Hunt = {
  state: string
  wants: readonly Want[]
  /** From this operation on the history is that of seed `fork`. */
  forkAt: number
  fork: number
}

/** Now and then it lets the world go on, so that the state is met with other things in it. */
const PATIENCE = 0.3

/** One operation towards what is wanted; false when nothing of it can be done now. */
export function pursue(world: World, hunt: Hunt): boolean {
  const { random, wants } = world
  if (world.op === hunt.forkAt) random.reseed(hunt.fork)
  if (world.op < hunt.forkAt || wants.length === 0) return false
  const id = world.sessions.find((each) => isIn(world, each, hunt.state))
  if (id === undefined || random.chance(PATIENCE)) return false
  return provoke(world, id, random.pick(wants).event)
}

function isIn(world: World, id: string, state: string): boolean {
  const session = world.state(id)
  return session !== null && cellState(session) === state
}

/** Failures enough for a commit that is tried again until it is given up. */
const TRIES = 6

function provoke(world: World, id: string, event: string): boolean {
  const { random, faults, temper } = world
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
      world.kill()
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
      answerProbe(world, id)
      return true
    case 'delivery-finalizing':
    case 'commit-refused:finish':
      deliver(world, id)
      return true
    case 'session-quarantined':
      // Whatever of it is saved next is refused.
      faults.failNext('refused')
      COMMANDS[random.pick(['message-submitted', 'stop-requested', 'queue-run', 'session-updated'] as const)](world, id)
      return true
    case 'terminal-persistence-failed':
      faults.failNext('failed', TRIES)
      if (!moveAgent(world, false, id)) return false
      for (let each = 0; each < TRIES; each += 1) passTime(world, true)
      return true
    case 'send-failed':
      temper.throws = 0.5
      return false
    case 'redirect-refused':
      temper.refuse = 0.9
      COMMANDS['message-submitted'](world, id)
      return true
    default: {
      const connection = world.connections.find((each) => each.input.sessionId === id)
      if (connection === undefined) return false
      let done = false
      world.guarded(() => {
        done = connection.wish(event)
      })
      world.forgetDown()
      return done
    }
  }
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

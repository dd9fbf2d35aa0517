/**
 * The cells that can be: every state and event of the core is either met by the simulation or stands
 * here with the reason why it cannot be. A run that meets one of those fails.
 */
import { assertNever } from '../packages/runtime/src/core/assert.ts'
import type { CommandEvent, DriverEvent, HostEvent, TimerName } from '../packages/runtime/src/core/event.ts'
import { parseState, type CellState } from './cells.ts'

type HostName =
  | Exclude<HostEvent['type'], 'timer-fired' | 'commit-refused'>
  | `timer-fired:${TimerName}`
  | `commit-refused:${Extract<HostEvent, { type: 'commit-refused' }>['of']}`

/** Of each driver event, whether it names the turn it belongs to. */
const DRIVER_EVENTS = {
  connected: 'connection',
  'connection-closed': 'connection',
  chunk: 'turn',
  'tool-approval-request': 'turn',
  'tool-approval-applied': 'connection',
  'tool-approval-withdrawn': 'connection',
  usage: 'turn',
  'resume-token': 'connection',
  'turn-complete': 'turn',
  error: 'turn',
  'steer-offering': 'turn',
  'steer-consumed': 'turn',
  'steer-boundary': 'turn',
  'steer-undelivered': 'turn',
  'compaction-start': 'connection',
  'compaction-complete': 'connection',
  'compaction-error': 'connection',
  'api-retry': 'turn',
  'context-usage': 'connection',
  'supported-commands': 'connection',
  'background-tasks': 'connection',
  'background-work-state': 'connection',
  'background-task-event': 'connection',
  'background-flow-chunk': 'row',
  'autonomous-turn-state': 'connection',
} as const satisfies { [type in DriverEvent['type']]: 'connection' | 'turn' | 'row' }

const COMMAND_EVENTS = {
  'message-submitted': true,
  'message-edited': true,
  'message-withdrawn': true,
  'message-resent': true,
  'message-dismissed': true,
  'queue-run': true,
  'queue-discarded': true,
  'stop-requested': true,
  'approval-answered': true,
  'compact-requested': true,
  'session-updated': true,
  'session-deleted': true,
  'session-released': true,
} as const satisfies { [type in CommandEvent['type']]: true }

const HOST_EVENTS = {
  recovered: true,
  'hold-placed': true,
  'hold-released': true,
  'agent-changed': true,
  'redirect-refused': true,
  'send-failed': true,
  'delivery-kicked': true,
  'delivery-found': true,
  'delivery-none': true,
  'delivery-unroutable': true,
  'delivery-finalizing': true,
  'commit-refused:claim': true,
  'commit-refused:finish': true,
  'terminal-persistence-failed': true,
  'session-quarantined': true,
  'timer-fired:idle': true,
  'timer-fired:stop-escalation': true,
  'timer-fired:stop-deadline': true,
  'timer-fired:approval-expiry': true,
} as const satisfies { [name in HostName]: true }

const isDriverEvent = (event: string): event is keyof typeof DRIVER_EVENTS => event in DRIVER_EVENTS
const isHostEvent = (event: string): event is HostName => event in HOST_EVENTS
export const isCommandEvent = (event: string): boolean => event in COMMAND_EVENTS

/** Every event there is, by the names of `cellEvent`. */
export const EVENTS: readonly string[] = [
  ...Object.keys(COMMAND_EVENTS),
  ...Object.keys(HOST_EVENTS),
  ...Object.keys(DRIVER_EVENTS),
  'stale-event',
  'stale-request',
]

/** Why that state cannot be, whatever happens; null when it can. */
export function noState(s: CellState): string | null {
  const { phase, connection, turn, deferred, decision } = s
  if (phase === 'deleted') return 'a session leaves memory with the commit that deletes it'
  if (phase === 'quarantined') {
    if (turn !== 'none' || deferred || decision === 'seeking') return 'a quarantine closes every turn and forgets the look'
    if (connection === 'connecting' || connection === 'live') return 'a quarantine tells the agent to go'
  }
  if (deferred && turn !== 'open') return 'a turn waits only behind one that runs, and a Stop closes it at once'
  if (deferred && connection === 'connecting') return 'only an agent that is up starts a turn of its own'
  if (decision === 'seeking' && turn !== 'none') return 'the turn that opens ends the look'
  if (decision === 'finalizing') {
    if (deferred) return 'a delivery whose turn has ended leaves no turn that waits'
    if (turn === 'starting') return 'nothing opens before a delivery is finished'
    if (turn === 'stopping' && connection === 'live') return 'a Stop that ends the turn of a delivery which waits closes the connection'
  }
  if (connection === 'connecting' && turn !== 'none' && turn !== 'starting')
    return 'nothing is sent to an agent that comes up, and a Stop closes what was not sent'
  if (connection === 'live' && turn === 'starting') return 'an agent that is up gets a turn with the commit that opens it'
  return null
}

/** Loaded from its rows with something under way. */
const isUnrecovered = (s: CellState): boolean => s.connection === 'none' && s.turn !== 'none'

/** The end of a delivery's turn is saved, the request is not finished: the next event finishes it. */
export const isPassing = (s: CellState): boolean => isUnrecovered(s) || (s.phase !== 'quarantined' && s.decision === 'finalizing')

/** Why that event cannot meet that state; null when it can. */
export function impossible(state: string, event: string): string | null {
  const s = parseState(state)
  const never = noState(s)
  if (never !== null) return never
  const { phase, decision } = s
  if (event === 'session-quarantined') return phase === 'quarantined' ? 'a bug met in quarantine costs its event, not the session' : null
  if (isUnrecovered(s)) return event === 'recovered' ? null : 'a session recovers before anything else meets it'
  if (isPassing(s)) {
    if (event === 'delivery-finalizing' || event === 'terminal-persistence-failed') return null
    if (event !== 'recovered' && event !== 'commit-refused:finish') return 'a delivery is finished by the very next event'
  }
  if (event === 'delivery-finalizing' && decision !== 'finalizing') return 'it follows the end of the turn whose delivery it finishes'
  if (isHostEvent(event)) return noHostEvent(s, event)
  if (isDriverEvent(event)) return noDriverEvent(s, event)
  // Commands, and what is late, can come whenever a session is at rest.
  return null
}

function noHostEvent(s: CellState, event: HostName): string | null {
  const { phase, connection, turn, deferred, decision } = s
  const atRest = turn === 'none' && decision === '-'
  switch (event) {
    case 'recovered':
      if (connection !== 'none') return 'a session recovers when it is loaded, before it has an agent'
      return decision === 'seeking' ? 'a look lives in memory alone' : null
    case 'hold-placed':
      return phase === 'held' ? 'holds of the host do not add up' : null
    case 'hold-released':
      return phase === 'active' ? 'there is no hold to release' : null
    case 'redirect-refused':
      if (phase === 'held') return 'a hold admits nothing that is redirected'
      return connection === 'live' && turn !== 'none' ? null : 'it follows the redirect it answers'
    case 'send-failed':
      return connection === 'live' && turn === 'open' && !deferred ? null : 'it follows the send it answers'
    case 'commit-refused:claim':
      if (phase === 'quarantined') return decision === 'finalizing' ? 'a claim is tried when no delivery is unfinished' : null
      if (phase === 'held') return 'nothing is claimed under a hold'
      return decision === 'seeking' ? null : 'it follows the claim it refuses'
    case 'commit-refused:finish':
      return 'nobody but this host finishes what it has claimed; test/scenarios/delivery.txt plays it on the core ("Somebody finished it already")'
    case 'terminal-persistence-failed':
      if (connection === 'none' && decision === '-' && phase !== 'held') return ONLY_COMMANDS
      return phase === 'active' && connection === 'connecting' && atRest ? ONLY_COMMANDS : null
    case 'timer-fired:idle':
      if (connection !== 'live' && connection !== 'closing') return 'it is cancelled when the connection is gone'
      if (turn !== 'none') return 'it is cancelled when a turn opens'
      return decision === 'finalizing' ? 'it was cancelled when the turn of the delivery opened' : null
    case 'timer-fired:stop-escalation':
    case 'timer-fired:stop-deadline':
      return turn === 'stopping' ? null : 'it is armed by a Stop and cancelled when the turn ends'
    case 'timer-fired:approval-expiry':
      return turn === 'open' || turn === 'stopping' ? null : 'it is armed by a question and cancelled when the turn ends'
    case 'agent-changed':
    case 'delivery-kicked':
    case 'delivery-found':
    case 'delivery-none':
    case 'delivery-unroutable':
    case 'delivery-finalizing':
    case 'session-quarantined':
      return null
    default:
      return assertNever(event)
  }
}

const ONLY_COMMANDS = 'nothing but commands is saved there, and one that cannot be saved is refused at once'

function noDriverEvent(s: CellState, event: keyof typeof DRIVER_EVENTS): string | null {
  const { connection, turn, deferred } = s
  // Its owner is a row: it counts whichever connection brings it.
  if (DRIVER_EVENTS[event] === 'row') return null
  if (connection === 'none') return 'there is no agent: whatever comes is late'
  if (event === 'connection-closed') return null
  if (event === 'connected') {
    if (connection === 'connecting') return null
    if (connection === 'live' || turn === 'open' || turn === 'stopping') return 'an agent comes up once'
    return null
  }
  if (connection === 'connecting') return 'an agent says nothing before it is up'
  if (DRIVER_EVENTS[event] === 'turn' && turn !== 'open' && turn !== 'stopping' && !deferred)
    return 'it names a turn, and none is with the agent: it is stale'
  return null
}

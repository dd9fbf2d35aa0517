/**
 * What has to happen once, elsewhere and before anything else, in this order, so that a cell can be met
 * or can be broken: its trace is in what the session remembers, and no state tells of it.
 */
import { nameOf, parseState, type CellFault, type CellState } from './cells.ts'
import type { Want } from './hunt.ts'

export type Leads = readonly Want[]

/** A session whose agent is up, but for what is said of it. */
export const at = (of: Partial<CellState>): string =>
  nameOf({ phase: 'active', connection: 'live', turn: 'none', deferred: false, decision: '-', ...of })

const OPEN = at({ turn: 'open' })
const HELD = at({ phase: 'held', turn: 'open' })
const UP = at({})
const SEEKING = at({ decision: 'seeking' })
const STARTING = at({ connection: 'connecting', turn: 'starting' })

const once = (state: string, event: string): Want => ({ state, event, fault: null, times: 1 })

export const NOTHING: Leads = []
const WAITING: Leads = [{ ...once(OPEN, 'message-submitted'), times: 2 }]
const WAITING_AT_START: Leads = [{ ...once(STARTING, 'message-submitted'), times: 2 }, once(STARTING, 'hold-placed')]
/** Under a hold the queue does not go on. */
const WAITING_UNDER_HOLD: Leads = [...WAITING, once(OPEN, 'hold-placed'), once(HELD, 'turn-complete')]
/** A Stop holds what waits. */
const HELD_BACK: Leads = [...WAITING, once(OPEN, 'stop-requested')]
const OFFERED: Leads = [...WAITING, once(OPEN, 'steer-offering')]
const CONSUMED: Leads = [...OFFERED, once(OPEN, 'steer-consumed')]
/** Nobody can say what became of a steer that was offered. */
const UNKNOWN: Leads = [...OFFERED, once(OPEN, 'connection-closed')]
const ASKED: Leads = [once(OPEN, 'tool-approval-request')]
const DECIDED: Leads = [...ASKED, once(OPEN, 'approval-answered')]
/** A second turn of the agent's own closes the connection and not the first one. */
const ASKED_BY_ITSELF: Leads = [once(UP, 'autonomous-turn-state'), ...ASKED]
/** Its idle timer runs on while it closes. */
const OUTDATED: Leads = [once(UP, 'agent-changed')]
const OUTDATED_AT_WORK: Leads = [once(OPEN, 'agent-changed')]
const OUTDATED_COMING: Leads = [once(at({ connection: 'connecting', decision: 'seeking' }), 'agent-changed')]
/** It is not closed while work goes on in the background. */
const OUTDATED_AND_BUSY: Leads = [once(UP, 'background-tasks'), ...OUTDATED]
/** It is told to close before it has come up. */
const STOPPED: Leads = [once(STARTING, 'stop-requested')]
/** A turn that opens leaves its look behind. */
const LEFT: Leads = [{ ...once(SEEKING, 'message-submitted'), times: 6 }]
/** After a turn the inbox comes before the queue: only then a look that finds nothing has something to save. */
const LOOKS_FIRST: Leads = [...WAITING, once(OPEN, 'delivery-kicked'), once(OPEN, 'turn-complete')]
const OUTDATED_LOOKS_FIRST: Leads = [...OUTDATED_AT_WORK, ...LOOKS_FIRST]
const CLAIM_LOST: Leads = [...LOOKS_FIRST, { ...once(SEEKING, 'commit-refused:claim'), fault: { kind: 'refused' } }]
const CLAIM_LOST_ALONE: Leads = [
  ...LOOKS_FIRST,
  once(SEEKING, 'connection-closed'),
  { ...once(at({ connection: 'none', decision: 'seeking' }), 'commit-refused:claim'), fault: { kind: 'refused' } },
]
const DELIVERED: Leads = [once(SEEKING, 'delivery-found')]
const DELIVERED_FIRST: Leads = [...DELIVERED, once(OPEN, 'message-submitted')]
/** Its turn ends well, so its queue goes on, and its host dies before the delivery is finished. */
const DELIVERED_AND_KILLED: Leads = [
  ...DELIVERED_FIRST,
  once(OPEN, 'turn-complete'),
  { ...once(at({ decision: 'finalizing' }), 'delivery-finalizing'), fault: { kind: 'crash', point: 'before commit' } },
]
const DELIVERED_DEFERRED: Leads = [...DELIVERED, once(OPEN, 'autonomous-turn-state')]

/** Without these the cell is hardly ever met. */
export function before(state: string, event: string): Leads {
  const s = parseState(state)
  const { phase, connection, turn, decision } = s
  switch (event) {
    case 'redirect-refused':
      return state === OPEN ? NOTHING : WAITING
    case 'timer-fired:approval-expiry':
      if (state === OPEN) return NOTHING
      return connection === 'closing' && turn === 'open' && !s.deferred ? ASKED_BY_ITSELF : ASKED
    case 'timer-fired:idle':
      return connection === 'closing' ? OUTDATED : NOTHING
    case 'connected':
      return connection === 'closing' ? STOPPED : NOTHING
    case 'commit-refused:claim':
      if (phase !== 'quarantined') return LOOKS_FIRST
      return connection === 'none' ? CLAIM_LOST_ALONE : CLAIM_LOST
    case 'delivery-found':
    case 'delivery-none':
    case 'delivery-unroutable':
      return decision === 'seeking' ? NOTHING : LEFT
    case 'recovered':
      return connection === 'none' && turn === 'none' ? WAITING : NOTHING
    case 'delivery-finalizing':
    case 'terminal-persistence-failed':
    case 'session-quarantined':
      if (phase !== 'quarantined' && decision === 'finalizing' && turn === 'open') return DELIVERED_DEFERRED
      if (event === 'delivery-finalizing' || phase !== 'held' || turn !== 'none') return NOTHING
      return connection === 'connecting' ? WAITING_AT_START : WAITING_UNDER_HOLD
    default:
      return NOTHING
  }
}

/** Under a hold nothing is taken in: what happens to waiting messages there has to wait from before. */
export const filled = (state: string, no: number): Leads => (parseState(state).phase === 'held' && no % 3 > 0 ? WAITING : NOTHING)

/** Of events that save something, or do it in another way, only when the session remembers the right thing. */
const HELPING: { [event: string]: readonly Leads[] } = {
  'approval-answered': [ASKED],
  'tool-approval-withdrawn': [ASKED],
  'tool-approval-applied': [DECIDED],
  'steer-consumed': [OFFERED],
  'steer-boundary': [CONSUMED],
  'steer-undelivered': [WAITING, OFFERED],
  'message-resent': [UNKNOWN],
  'message-dismissed': [UNKNOWN],
  'message-edited': [HELD_BACK, WAITING],
  'message-withdrawn': [HELD_BACK, WAITING],
  'queue-run': [HELD_BACK, LOOKS_FIRST],
  'queue-discarded': [HELD_BACK, LOOKS_FIRST],
  'stop-requested': [HELD_BACK, LOOKS_FIRST],
  'hold-released': [WAITING_UNDER_HOLD, WAITING_AT_START],
  'delivery-none': [LOOKS_FIRST],
  'delivery-finalizing': [DELIVERED_FIRST, DELIVERED_AND_KILLED],
}

/** What may bring about the faults that a cell still lacks although it was met often enough; never empty. */
export function helping(event: string, lacking: readonly CellFault[]): readonly Leads[] {
  const points = lacking.flatMap((fault) => (fault.kind === 'crash' ? [fault.point] : []))
  const ways = [...(HELPING[event] ?? [])]
  if (points.includes('after finalize-delivery')) ways.push(DELIVERED, DELIVERED_DEFERRED)
  if (points.includes('after withdraw-redirect')) ways.push(WAITING)
  if (points.includes('after close-connection')) ways.push(OUTDATED_AND_BUSY, OUTDATED_AT_WORK, OUTDATED_COMING, OUTDATED_LOOKS_FIRST)
  return ways.length === 0 ? [NOTHING] : ways
}

/** How a state is reached: by what was seen to lead there, and by what has to be spoiled on the way. */
import type { Cells } from './cells.ts'
import { nameOf, parseState, STATES, type CellState } from './cells.ts'
import type { Route, Want } from './hunt.ts'
import { at } from './leads.ts'
import { isPassing, noState } from './possible.ts'

/** Operations that no way is worth. */
const TOO_FAR = 500
/** Rounds after which the costs of all states hardly change any more. */
const ROUNDS = 60
/** An event that costs no more than so many times the best one is as good. */
const AS_GOOD = 1.2
/** What cannot be brought about at will costs so many operations. */
const COST: { [event: string]: number } = { 'terminal-persistence-failed': 20, 'send-failed': 10, 'redirect-refused': 3 }

/** From each state the events by which one of `targets` is reached in the fewest operations, as far as is known. */
export function routeTo(cells: Cells, targets: readonly string[]): Route {
  const edges = edgesOf(cells)
  const costs = new Map(targets.map((target) => [target, 0]))
  const costOf = (way: Way): number =>
    way.cost + way.to.reduce((sum, { state, share }) => sum + share * (costs.get(state) ?? TOO_FAR), 0) / way.leaves
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [from, ways] of edges) if (!targets.includes(from)) costs.set(from, Math.min(TOO_FAR, ...ways.map(costOf)))
  const route: { [state: string]: readonly string[] } = {}
  for (const [from, ways] of edges) {
    const best = costs.get(from) ?? TOO_FAR
    if (targets.includes(from) || best >= TOO_FAR) continue
    route[from] = ways.filter((way) => costOf(way) <= best * AS_GOOD).map((way) => way.event)
  }
  return route
}

/** `cost`: operations until the event leads out of the state at all; `leaves`: how often it does. */
type Way = { event: string; cost: number; leaves: number; to: { state: string; share: number }[] }

function edgesOf(cells: Cells): Map<string, Way[]> {
  const edges = new Map<string, Way[]>()
  for (const [key, led] of cells.led) {
    const [from = '', event = ''] = key.split(' ')
    const visits = cells.counts.get(key)?.visits ?? 1
    const to = [...led].map(([state, times]) => ({ state, share: times / visits }))
    const leaves = to.reduce((sum, { share }) => sum + share, 0)
    const ways = edges.get(from) ?? []
    ways.push({ event, cost: (COST[event] ?? 1) / leaves, leaves, to })
    edges.set(from, ways)
  }
  return edges
}

/** What has to happen in other states before a cell can be met; empty for a cell that the shortest way leads to. */
export function preludes(state: string, event: string): Want[] {
  const s = parseState(state)
  const loaded = s.connection === 'none' && (s.turn !== 'none' || event === 'recovered')
  if (s.phase === 'quarantined') return intoQuarantine(s)
  if (!loaded) return []
  return STATES.filter((p) => p.connection !== 'none' && isAlike(p, s) && noState(p) === null).flatMap(loadedFrom)
}

const isAlike = (a: CellState, b: CellState): boolean =>
  a.phase === b.phase && a.turn === b.turn && a.deferred === b.deferred && a.decision === b.decision

/** Its host is killed or it is given up there, before what is under way has ended. */
function loadedFrom(p: CellState): Want[] {
  const state = nameOf(p)
  if (!isPassing(p)) return [{ state, event: 'recovered', fault: null, times: 1 }]
  if (p.phase !== 'held') return [{ state, event: 'delivery-finalizing', fault: { kind: 'crash', point: 'before commit' }, times: 1 }]
  return [
    { state, event: 'delivery-finalizing', fault: REFUSED, times: 1 },
    { state, event: 'session-quarantined', fault: REFUSED, times: 1 },
  ]
}

const REFUSED = { kind: 'refused' } as const

function intoQuarantine(s: CellState): Want[] {
  const state = nameOf(s)
  const froms = s.connection === 'none' ? (['none'] as const) : (['connecting', 'live', 'closing'] as const)
  const wants: Want[] = []
  // It stays unfinished when a bug keeps it from being finished twice.
  if (s.decision === 'finalizing') {
    for (const connection of froms)
      wants.push({ state: at({ connection, decision: 'finalizing' }), event: 'delivery-finalizing', fault: REFUSED, times: 1 })
    wants.push({ state, event: 'delivery-finalizing', fault: REFUSED, times: 1 })
  }
  return wants
}

/** Events that were seen to save something in that state. */
export function writers(cells: Cells, state: string): string[] {
  return [...cells.counts]
    .filter(([key, count]) => key.startsWith(`${state} `) && count.commits > 0)
    .map(([key]) => key.slice(state.length + 1))
    .filter((event) => event !== 'session-quarantined' && event !== 'terminal-persistence-failed')
}

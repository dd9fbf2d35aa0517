/** How a state is reached: by what was seen to lead there, and by what has to be spoiled on the way. */
import type { Cells } from './cells.ts'
import { nameOf, parseState, STATES, type CellState } from './cells.ts'
import type { Route, Want } from './hunt.ts'
import { isPassing, noState } from './possible.ts'

/** Of the events that lead nearer, so many are tried, the surest first. */
const CHOICES = 3

/** From each state the events by which one of `targets` was reached on the shortest way. */
export function routeTo(cells: Cells, targets: readonly string[]): Route {
  const edges = edgesOf(cells)
  const distance = new Map(targets.map((target) => [target, 0]))
  const route: { [state: string]: readonly string[] } = {}
  for (let step = 1, found = true; found; step += 1) {
    found = false
    for (const [from, ways] of edges) {
      if (distance.has(from)) continue
      const near = ways.filter((way) => distance.get(way.to) === step - 1)
      if (near.length === 0) continue
      distance.set(from, step)
      route[from] = [...new Set(near.toSorted((a, b) => b.share - a.share).map((way) => way.event))].slice(0, CHOICES)
      found = true
    }
  }
  return route
}

type Way = { event: string; to: string; share: number }

function edgesOf(cells: Cells): Map<string, Way[]> {
  const edges = new Map<string, Way[]>()
  for (const [key, led] of cells.led) {
    const [from = '', event = ''] = key.split(' ')
    const visits = cells.counts.get(key)?.visits ?? 1
    const ways = edges.get(from) ?? []
    for (const [to, times] of led) ways.push({ event, to, share: times / visits })
    edges.set(from, ways)
  }
  return edges
}

/** What has to happen in other states before a cell can be met; empty for a cell that the shortest way leads to. */
export function preludes(state: string, event: string): Want[] {
  const s = parseState(state)
  const loaded = s.connection === 'none' && (s.turn !== 'none' || event === 'recovered')
  if (s.phase === 'quarantined') return intoQuarantine(s, event)
  if (event === 'redirect-refused' && nameOf(s) !== OPEN) return [{ state: OPEN, event: 'message-submitted', fault: null, times: 2 }]
  if (event === 'timer-fired:approval-expiry' && s.turn === 'stopping')
    return [{ state: nameOf({ ...s, connection: 'live', turn: 'open' }), event: 'tool-approval-request', fault: null, times: 1 }]
  if (!loaded) return []
  const before = STATES.filter((p) => p.connection !== 'none' && isAlike(p, s) && noState(p) === null)
  return before.flatMap(loadedFrom)
}

const OPEN = nameOf({ phase: 'active', connection: 'live', turn: 'open', deferred: false, decision: '-' })

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

function intoQuarantine(s: CellState, event: string): Want[] {
  const state = nameOf(s)
  const active = (of: Partial<CellState>): string =>
    nameOf({ phase: 'active', connection: 'live', turn: 'none', deferred: false, decision: '-', ...of })
  const froms = s.connection === 'none' ? (['none'] as const) : (['connecting', 'live', 'closing'] as const)
  const wants: Want[] = []
  // A claim that is refused saves something when a message waits behind it.
  if (event === 'commit-refused:claim') wants.push({ state: OPEN, event: 'message-submitted', fault: null, times: 2 })
  if (event === 'commit-refused:claim')
    for (const connection of froms) wants.push({ state: active({ connection, decision: 'seeking' }), event, fault: REFUSED, times: 1 })
  // It stays unfinished when a bug keeps it from being finished twice.
  if (s.decision === 'finalizing') {
    for (const connection of froms)
      wants.push({ state: active({ connection, decision: 'finalizing' }), event: 'delivery-finalizing', fault: REFUSED, times: 1 })
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

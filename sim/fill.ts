/** Fills the cells that random histories leave open, by histories that hunt for what they lack. */
import { emptyCount, isFull, lacking, nameOf, STATES, VISITS, type CellCount, type Cells } from './cells.ts'
import type { Hunt, Want } from './hunt.ts'
import { EVENTS, impossible, isCommandEvent, isPassing, noState } from './possible.ts'
import { parseState } from './cells.ts'
import { preludes, routeTo, writers } from './routes.ts'
import { simulate, type Outcome } from './simulate.ts'

/** Cells one history hunts for at the most, and visits of each. */
const CELLS = 12
const TIMES = 3
/** Long enough to reach any state and to be there a while. */
const OPS = 60
/** Chance of an unplanned fault at each point, in every other hunt. */
const RATE = 0.003
/** A commit that is tried again and again is given up after so many. */
const TRIES = 5

export type Cell = { key: string; state: string; event: string }

const ALL: readonly Cell[] = STATES.filter((state) => noState(state) === null).flatMap((each) => {
  const state = nameOf(each)
  return EVENTS.filter((event) => impossible(state, event) === null).map((event) => ({ key: `${state} ${event}`, state, event }))
})

/** Possible cells that are not full. */
export function openCells(cells: Cells): Cell[] {
  return ALL.filter(({ key }) => !isFull(cells.counts.get(key) ?? emptyCount()))
}

/** The states that have open cells. */
export const openStates = (cells: Cells): string[] => [...new Set(openCells(cells).map(({ state }) => state))]

export type HuntRun = Outcome & { replay: string }

/** One hunt in that state; null when nothing is left to look for. `no`: which one, for its seed and for what it looks for. */
export function huntOnce(cells: Cells, state: string, no: number): HuntRun | null {
  const open = openCells(cells).filter((cell) => cell.state === state)
  if (open.length === 0) return null
  const options = { seed: no, ops: OPS, rate: no % 2 === 0 ? 0 : RATE, hunt: hunt(cells, state, open, no) }
  return { ...simulate({ ...options, fault: null, cells }), replay: JSON.stringify(options) }
}

function hunt(cells: Cells, state: string, open: readonly Cell[], no: number): Hunt {
  const scarce = open.toSorted((a, b) => visitsOf(cells, a) - visitsOf(cells, b))
  // The scarcest first, and by turns all of them.
  const offset = no % 2 === 0 ? 0 : (no * 7) % scarce.length
  const some = [...scarce.slice(offset), ...scarce.slice(0, offset)].slice(0, CELLS)
  const wants = some.flatMap((cell) => wantsOf(cells, cell, no))
  const leading = some.flatMap((cell) => preludes(cells, state, cell.event))
  const targets = leading.length === 0 ? [state] : [...new Set(leading.map((want) => want.state))]
  const route = routeTo(cells, targets)
  const direct = routeTo(cells, [state])
  // Within the quarantine it is one way only.
  for (const from of Object.keys(direct)) if (leading.length === 0 || from.startsWith('quarantined/')) route[from] = direct[from] ?? []
  return { state, wants: [...wants, ...leading.flatMap((want) => Array.from({ length: TIMES }, () => want))], route }
}

const visitsOf = (cells: Cells, { key }: Cell): number => cells.counts.get(key)?.visits ?? 0

function wantsOf(cells: Cells, { key, state, event }: Cell, no: number): Want[] {
  const count = cells.counts.get(key) ?? emptyCount()
  const faults = lacking(count).map((fault): Want => ({ state, event, fault }))
  const visits = Array.from({ length: Math.min(TIMES, VISITS - count.visits) }, (): Want => ({ state, event, fault: null }))
  const wants = [...faults, ...visits]
  return wants.flatMap((want) => [...leadUp(cells, want, no), want])
}

/** A quarantine follows a refused commit, a failed persistence one that is given up. */
function leadUp(cells: Cells, { state, event }: Want, no: number): Want[] {
  if (event !== 'session-quarantined' && event !== 'terminal-persistence-failed') return []
  const passing = isPassing(parseState(state))
  const known = writers(cells, state).filter((each) => event === 'session-quarantined' || (!isCommandEvent(each) && each !== 'recovered'))
  const writer = passing ? known.find((each) => each === 'delivery-finalizing' || each === 'recovered') : known[no % known.length]
  if (writer === undefined) return []
  if (event === 'session-quarantined') return [{ state, event: writer, fault: { kind: 'refused' } }]
  return Array.from({ length: TRIES }, (): Want => ({ state, event: writer, fault: { kind: 'failed' } }))
}

export type Tally = { open: number; full: number; met: number; possible: number }

export function tally(cells: Cells): Tally {
  const counts = ALL.flatMap(({ key }): CellCount[] => [cells.counts.get(key) ?? []].flat())
  return { possible: ALL.length, met: counts.length, full: counts.filter(isFull).length, open: openCells(cells).length }
}

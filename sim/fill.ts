/** Fills the cells that random histories leave open, by histories that hunt for what they lack. */
import { isFull, lacking, nameOf, parseState, STATES, VISITS, type CellCount, type Cells } from './cells.ts'
import type { Hunt, Want } from './hunt.ts'
import { EVENTS, impossible, isCommandEvent, isPassing, noState } from './possible.ts'
import { before, filled, helping, NOTHING, type Leads } from './leads.ts'
import { prng } from './prng.ts'
import { preludes, routeTo, writers } from './routes.ts'
import { simulate, type Outcome } from './simulate.ts'

/** Cells one history hunts for with their faults, and plain visits of each. */
const CELLS = 12
const TIMES = 3
/** What has to begin elsewhere is looked for with little else. */
const REMOTE = 3
/** Visits of each cell when a history dwells in a state for them alone. */
const DWELL = 12
/** Long enough to reach any state and to be there a while. */
const OPS = 60
/** What has to begin elsewhere takes longer, and begins more than once. */
const REMOTE_OPS = 150
/** Chance of an unplanned fault at each point, in every other hunt. */
const RATE = 0.003
/** A commit that is tried again and again is given up after so many. */
const TRIES = 5

export type Cell = { key: string; state: string; event: string }

/** The cells that can be. */
export const ALL: readonly Cell[] = STATES.filter((state) => noState(state) === null).flatMap((each) => {
  const state = nameOf(each)
  return EVENTS.filter((event) => impossible(state, event) === null).map((event) => ({ key: `${state} ${event}`, state, event }))
})

/** Possible cells that are not full. */
export function openCells(cells: Cells): Cell[] {
  return ALL.filter(({ key }) => !isFull(cells.countOf(key)))
}

const openIn = (cells: Cells, state: string): Cell[] => openCells(cells).filter((cell) => cell.state === state)

export type HuntRun = Outcome & { replay: string }

/** Hunts in one state before the next one has its turn: more of them where more is open. */
const LEAST_HUNTS = 4
const MOST_HUNTS = 10
const CELLS_A_HUNT = 3
const SEEDS_A_ROUND = 10_000

/** One round: hunts in every state that has open cells, more of them where more is open; none when nothing is left to look for. */
export function* huntsOf(cells: Cells, round: number): Generator<HuntRun, void, void> {
  for (const state of new Set(openCells(cells).map((cell) => cell.state))) {
    const open = openIn(cells, state).length
    const hunts = Math.max(LEAST_HUNTS, Math.min(MOST_HUNTS, 2 + Math.ceil(open / CELLS_A_HUNT)))
    for (let no = 0; no < hunts; no += 1) {
      const run = huntOnce(cells, state, round * SEEDS_A_ROUND + no)
      if (run === null) break
      yield run
    }
  }
}

/** One hunt in that state; null when nothing is left to look for. `no`: which one, for its seed and for what it looks for. */
function huntOnce(cells: Cells, state: string, no: number): HuntRun | null {
  const open = openIn(cells, state)
  if (open.length === 0) return null
  const sought = hunt(cells, state, open, no)
  const options = { seed: no, ops: opsOf(sought), rate: no % 2 === 0 ? 0 : RATE, hunt: sought }
  return { ...simulate({ ...options, fault: null, cells }), replay: JSON.stringify(options) }
}

const opsOf = ({ leads }: Hunt): number => (leads.length > 0 ? REMOTE_OPS : OPS)

const visitsOf = (cells: Cells, { key }: Cell): number => cells.countOf(key).visits

type Sought = Cell & { first: Leads }

/** By turns it dwells in the state, breaks things there, and does so with what has to begin elsewhere. */
function hunt(cells: Cells, state: string, open: readonly Cell[], no: number): Hunt {
  const byState = preludes(state, '')
  const sought = open.map((cell): Sought => ({ ...cell, first: firstOf(cells, cell, no) }))
  const remote = sought.filter(({ event, first }) => preludes(state, event).length > byState.length || first.length > 0)
  const near = sought.filter((cell) => !remote.includes(cell))
  const isRemote = near.length === 0 || (no % 4 > 1 && remote.length > 0)
  const isShort = (isRemote ? remote : near).some((cell) => visitsOf(cells, cell) < VISITS)
  const dwells = no % 2 === 0 && isShort
  const some = isRemote ? alike(rotated(cells, remote, no)) : dwells ? near : rotated(cells, near, no).slice(0, CELLS)
  const wants = some.flatMap((cell) => [
    ...(dwells ? [] : faultsOf(cells, cell, no)),
    ...visitsWanted(cells, cell, dwells ? DWELL : TIMES, no),
  ])
  const leading = isRemote ? some.flatMap(({ event }) => preludes(state, event)) : byState
  const route = routeTo(cells, [state])
  const detour = routeTo(cells, leading.length === 0 ? [state] : [...new Set(leading.map((want) => want.state))])
  // Within the quarantine it is one way only.
  for (const from of Object.keys(route)) if (from.startsWith('quarantined/')) detour[from] = route[from] ?? []
  const first = (isRemote ? some[0]?.first : filled(state, no)) ?? NOTHING
  const leads = first.map((want) => ({ ...want, route: routeTo(cells, [want.state]) }))
  const stay = (event: string): number => leaving(cells, state, event)
  const led = leading.map((want) => ({ ...want, times: want.times * TIMES }))
  return { state, leads, wants: [...wants.toSorted((a, b) => stay(a.event) - stay(b.event)), ...led], route, detour }
}

/** What has to happen first; for faults alone, by turns each of what may help. */
function firstOf(cells: Cells, cell: Cell, no: number): Leads {
  const always = before(cell.state, cell.event)
  const count = cells.countOf(cell.key)
  return always.length > 0 || count.visits < VISITS ? always : prng(no).pick(helping(cell.event, lacking(count)))
}

/** The first of them, and some that need the same before them. */
const alike = (sought: readonly Sought[]): readonly Sought[] => sought.filter(({ first }) => first === sought[0]?.first).slice(0, REMOTE)

/** The scarcest first, and by turns all of them. */
function rotated<T extends Cell>(cells: Cells, open: readonly T[], no: number): readonly T[] {
  const scarce = open.toSorted((a, b) => visitsOf(cells, a) - visitsOf(cells, b))
  const offset = no % 4 === 1 ? 0 : (no * 7) % scarce.length
  return [...scarce.slice(offset), ...scarce.slice(0, offset)]
}

/** How often that event led out of the state. */
function leaving(cells: Cells, state: string, event: string): number {
  const key = `${state} ${event}`
  const led = [...(cells.led.get(key)?.values() ?? [])].reduce((sum, times) => sum + times, 0)
  return led / (cells.counts.get(key)?.visits ?? 1)
}

function visitsWanted(cells: Cells, cell: Cell, most: number, no: number): Want[] {
  const { state, event } = cell
  const times = Math.min(most, VISITS - visitsOf(cells, cell))
  if (times <= 0) return []
  const want = { state, event, fault: null, times }
  return [...leadUp(cells, want, no), want]
}

function faultsOf(cells: Cells, cell: Cell, no: number): Want[] {
  const { state, event } = cell
  const faults = lacking(cells.countOf(cell.key)).map((fault): Want => ({ state, event, fault, times: 1 }))
  return faults.flatMap((want) => [...leadUp(cells, want, no), want])
}

/** A quarantine follows a refused commit, a failed persistence one that is given up. */
function leadUp(cells: Cells, { state, event, times }: Want, no: number): Want[] {
  if (event !== 'session-quarantined' && event !== 'terminal-persistence-failed') return []
  const passing = isPassing(parseState(state))
  const known = writers(cells, state).filter((each) => event === 'session-quarantined' || (!isCommandEvent(each) && each !== 'recovered'))
  const writer = passing ? known.find((each) => each === 'delivery-finalizing' || each === 'recovered') : known[no % known.length]
  if (writer === undefined) return []
  if (event === 'session-quarantined') return [{ state, event: writer, fault: { kind: 'refused' }, times }]
  return [{ state, event: writer, fault: { kind: 'failed' }, times: times * TRIES }]
}

export type Tally = { open: number; full: number; met: number; possible: number }

export function tally(cells: Cells): Tally {
  const counts = ALL.flatMap(({ key }): CellCount[] => [cells.counts.get(key) ?? []].flat())
  return { possible: ALL.length, met: counts.length, full: counts.filter(isFull).length, open: openCells(cells).length }
}

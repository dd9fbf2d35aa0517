/**
 * Fills the cells that random histories leave open: for each state that has some, histories are
 * played again that came to it, each forked shortly before and hunting for what is missing.
 */
import { isFull, lacking, VISITS, type Cells, type Witness } from './cells.ts'
import type { Hunt, Want } from './hunt.ts'
import { simulate } from './simulate.ts'

export type Filled = { runs: number; open: number; failure: string | null; log: string[] }

/** Hunts of one state in one round, and what one of them looks for at the most. */
const HUNTS = 40
const WANTS = 12
/** How long before the state was met a history may fork. */
const FORK_BEFORE = 6

export function fill(cells: Cells, round: number): Filled {
  const result: Filled = { runs: 0, open: 0, failure: null, log: [] }
  for (const [state, witnesses] of Array.from(cells.witnesses)) {
    for (let each = 0; each < HUNTS; each += 1) {
      const wants = wanted(cells, state)
      const witness = witnesses[(round * HUNTS + each) % witnesses.length]
      if (wants.length === 0 || witness === undefined) break
      const { seed, ops, rate } = witness
      const options = { seed, ops, rate, hunt: hunt(state, witness, wants, round * HUNTS + each) }
      const outcome = simulate({ ...options, fault: null, cells })
      result.runs += 1
      if (outcome.failure === null) continue
      return { ...result, failure: `--replay '${JSON.stringify(options)}': ${outcome.failure}`, log: outcome.log }
    }
  }
  result.open = [...cells.counts.values()].filter((count) => !isFull(count)).length
  return result
}

function hunt(state: string, { seed, op }: Witness, wants: Want[], no: number): Hunt {
  const offset = (no * 7) % wants.length
  const some = [...wants.slice(offset), ...wants.slice(0, offset)].slice(0, WANTS)
  return { state, wants: some, forkAt: Math.max(0, op - (no % FORK_BEFORE)), fork: seed * 1009 + no }
}

/** What the cells of a state lack: each fault once, then visits, the emptiest cells first. */
function wanted(cells: Cells, state: string): Want[] {
  const open = [...cells.counts].filter(([key, count]) => key.startsWith(`${state} `) && !isFull(count))
  const event = (key: string): string => key.slice(state.length + 1)
  const faults = open.flatMap(([key, count]) => lacking(count).map((fault): Want => ({ event: event(key), fault })))
  const scarce = open.filter(([, count]) => count.visits < VISITS).toSorted((a, b) => a[1].visits - b[1].visits)
  const visits = scarce.flatMap(([key, count]) => times(VISITS - count.visits, { event: event(key), fault: null }))
  return [...faults, ...visits]
}

const times = (n: number, want: Want): Want[] => Array.from({ length: Math.min(n, 3) }, () => want)

import type { CellCount, Cells } from './cells.ts'

/** Visits a cell should have (ARCHITECTURE, How it is tested). */
const VISITS = 100

/** The cells met, as a page: state, event, visits, and the faults each was met with. */
export function cellTable(cells: Cells, runs: number): string {
  const all = [...cells.counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const full = all.filter(([, count]) => isFull(count))
  const rows = all.map(([key, count]) => {
    const [state, event] = key.split(' ')
    const faults = [count.crashBefore, count.crashAfter, count.crashEffect, count.failed, count.refused, count.unknown]
    return `| ${state} | ${event} | ${count.visits} | ${count.commits} | ${faults.join(' | ')} |`
  })
  return [
    '# Cells of the simulation',
    '',
    'A cell is a state of a session and an event that met it. The state is the tuple phase / connection / turn / deferred / decision (`sim/cells.ts`). Written by `npm run sim -- --cells docs/cells.md`.',
    '',
    `${runs} runs, ${all.length} cells met, ${full.length} of them with at least ${VISITS} visits and, where the event commits there, every fault: a crash before and after the commit and around an effect, a failed, a refused and an unknown outcome.`,
    '',
    '| state | event | visits | commits | crash before commit | after commit | around effects | failed | refused | unknown |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function isFull(count: CellCount): boolean {
  if (count.visits < VISITS) return false
  if (count.effects > 0 && count.crashEffect === 0) return false
  return count.commits === 0 || [count.crashBefore, count.crashAfter, count.failed, count.refused, count.unknown].every((each) => each > 0)
}

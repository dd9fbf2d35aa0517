import { isFull, VISITS, type Cells } from './cells.ts'

/** The cells met, as a page: state, event, visits, and the faults each was met with. */
export function cellTable(cells: Cells, runs: number): string {
  const all = [...cells.counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const full = all.filter(([, count]) => isFull(count))
  const rows = all.map(([key, count]) => {
    const [state, event] = key.split(' ')
    const faults = [count.crashBefore, count.crashAfter, count.failed, count.refused, count.unknown]
    const effects = [...count.effects.values()]
    const after = `${effects.filter((crashes) => crashes > 0).length} of ${effects.length}`
    return `| ${state} | ${event} | ${count.visits} | ${count.commits} | ${faults.join(' | ')} | ${after} |`
  })
  return [
    '# Cells of the simulation',
    '',
    'A cell is a state of a session and an event that met it. The state is the tuple phase / connection / turn / deferred / decision (`sim/cells.ts`). Written by `npm run sim -- --cells docs/cells.md`.',
    '',
    `${runs} runs, ${all.length} cells met, ${full.length} of them with at least ${VISITS} visits and, where the event commits there, every fault: a crash before and after the commit and after each effect, a failed, a refused and an unknown outcome.`,
    '',
    '| state | event | visits | commits | crash before commit | after commit | failed | refused | unknown | crashed after effects |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

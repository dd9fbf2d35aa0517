import type { Cells } from './cells.ts'

/** The cells met, most visited first, as a Markdown table. */
export function cellTable(cells: Cells): string {
  const rows = [...cells.counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, count]) => {
      const [state, event] = key.split(' ')
      return `| ${state} | ${event} | ${count.visits} | ${count.crashBefore} | ${count.crashAfter} | ${count.crashEffect} | ${count.failed} | ${count.refused} | ${count.unknown} |`
    })
  return [
    '| state | event | visits | crash before commit | after commit | around effects | failed | refused | unknown |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

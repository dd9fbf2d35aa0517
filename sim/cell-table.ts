/** The count of cells as a page (`docs/cells.md`): what can be with what it was met with, and what cannot be with the reason. */
import { nameOf, STATES, VISITS, lacking, type CellCount, type CellFault, type Cells } from './cells.ts'
import { ALL, openCells, tally } from './fill.ts'
import { EVENTS, impossible, noState } from './possible.ts'

const nameOfFault = (fault: CellFault): string => (fault.kind === 'crash' ? `crash ${fault.point}` : fault.kind)

/** What an open cell lacks, in words; for a person who looks for it. */
export function lacksOf(count: CellCount): string {
  const visits = count.visits < VISITS ? [`${VISITS - count.visits} visits`] : []
  return [...visits, ...lacking(count).map(nameOfFault)].join(', ')
}

export function cellTable(cells: Cells, runs: number): string {
  const { possible, met, full, open } = tally(cells)
  const total = STATES.length * EVENTS.length
  return [
    '# Cells of the simulation',
    '',
    'A cell is a state of a session and an event that met it. The state is the tuple phase / connection / turn / deferred / decision (`sim/cells.ts`); the events are those of the core, a stale one counting as one of its own. `npm run cells` writes this page; a run that meets a cell which is declared impossible fails.',
    '',
    `${STATES.length} combinations of the tuple and ${EVENTS.length} events make ${total} cells: ${total - possible} cannot be, for the reasons below, and ${possible} can. Of these ${met} were met in ${runs} runs, and ${full} are full: at least ${VISITS} visits and, where the event saves something there, a crash before and after its commit, a failed, a refused and an unknown outcome, and a crash after each effect that was seen. ${open} are open.`,
    '',
    ...openOnes(cells),
    '## Cells that can be',
    '',
    'In the columns of faults: how often the cell was met with each. The last one: of the effects seen, how many were followed by a crash.',
    '',
    '| state | event | visits | commits | crash before commit | after commit | failed | refused | unknown | crash after effects |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...ALL.map(({ key, state, event }) => `| ${state} | ${event} | ${columnsOf(cells.countOf(key))} |`),
    '',
    ...impossibleOnes(),
  ].join('\n')
}

function columnsOf(count: CellCount): string {
  const effects = [...count.effects.values()]
  const after = `${effects.filter((crashes) => crashes > 0).length} of ${effects.length}`
  return [count.visits, count.commits, count.crashBefore, count.crashAfter, count.failed, count.refused, count.unknown, after].join(' | ')
}

function openOnes(cells: Cells): string[] {
  const open = openCells(cells)
  if (open.length === 0) return []
  const rows = open.map(({ key, state, event }) => `| ${state} | ${event} | ${lacksOf(cells.countOf(key))} |`)
  return ['## Open cells', '', '| state | event | lacks |', '|---|---|---|', ...rows, '']
}

/** Of each reason: the cells it rules out. A state that cannot be rules out all of its own. */
function impossibleOnes(): string[] {
  const states = new Map<string, string[]>()
  const cells = new Map<string, Map<string, number>>()
  for (const each of STATES) {
    const state = nameOf(each)
    const never = noState(each)
    if (never !== null) {
      states.set(never, [...(states.get(never) ?? []), state])
      continue
    }
    for (const event of EVENTS) {
      const reason = impossible(state, event)
      if (reason === null) continue
      const events = cells.get(reason) ?? new Map<string, number>()
      cells.set(reason, events.set(event, (events.get(event) ?? 0) + 1))
    }
  }
  return [
    '## States that cannot be',
    '',
    '| reason | states |',
    '|---|---|',
    ...[...states].map(([reason, names]) => `| ${reason} | ${shortened(names)} |`),
    '',
    '## Events that cannot meet a state that can be',
    '',
    '| reason | cells | events, each with the number of states it cannot meet |',
    '|---|---|---|',
    ...[...cells].map(([reason, events]) => {
      const sum = [...events.values()].reduce((all, times) => all + times, 0)
      return `| ${reason} | ${sum} | ${[...events].map(([event, times]) => `${event} ${times}`).join(', ')} |`
    }),
    '',
  ]
}

/** Enough to see which are meant; the rules themselves are `noState` and `impossible` in `sim/possible.ts`. */
const SHOWN = 4
const shortened = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`

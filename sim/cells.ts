/**
 * Progress of the simulation in cells: (state, event), where state is the tuple of phases below and
 * nothing else. Counted: visits, and for each cell the faults it was met with.
 */
import { isStale, staleEffects } from '../packages/runtime/src/core/stale.ts'
import type { Session } from '../packages/runtime/src/core/types.ts'
import type { Posted } from '../packages/runtime/src/host/mailbox.ts'

/** Visits a cell should have (ARCHITECTURE, How it is tested). */
export const VISITS = 100

/** A fault of one visit: a crash at a point of it (`before commit`, `after commit`, `after <effect>`), or an outcome of its commit. */
export type CellFault = { kind: 'crash'; point: string } | { kind: 'failed' | 'refused' | 'unknown-saved' | 'unknown-not-saved' }

export type CellCount = {
  visits: number
  commits: number
  crashBefore: number
  crashAfter: number
  failed: number
  refused: number
  unknown: number
  /** Per effect seen: crashes right after it. */
  effects: Map<string, number>
}

/** The finite tuple. `decision`: what the host is about to decide. */
export type CellState = {
  phase: 'active' | 'held' | 'quarantined' | 'deleted'
  connection: Session['connection']['phase']
  turn: 'none' | 'starting' | 'open' | 'stopping'
  deferred: boolean
  decision: '-' | 'seeking' | 'finalizing'
}

const PHASES = ['active', 'held', 'quarantined', 'deleted'] as const
const CONNECTIONS = ['none', 'connecting', 'live', 'closing'] as const
const TURNS = ['none', 'starting', 'open', 'stopping'] as const
const DECISIONS = ['-', 'seeking', 'finalizing'] as const

/** Every combination there is, whether it can be or not. */
export const STATES: readonly CellState[] = PHASES.flatMap((phase) =>
  CONNECTIONS.flatMap((connection) =>
    TURNS.flatMap((turn) =>
      [false, true].flatMap((deferred) => DECISIONS.map((decision) => ({ phase, connection, turn, deferred, decision }))),
    ),
  ),
)

export const nameOf = ({ phase, connection, turn, deferred, decision }: CellState): string =>
  [phase, connection, turn, deferred ? 'deferred' : '-', decision].join('/')

const BY_NAME = new Map(STATES.map((state) => [nameOf(state), state]))

export function parseState(name: string): CellState {
  const state = BY_NAME.get(name)
  if (state === undefined) throw new Error(`no such state: ${name}`)
  return state
}

export function cellState(s: Session): string {
  return nameOf({
    phase: s.phase === 'active' ? (s.held ? 'held' : 'active') : s.phase,
    connection: s.connection.phase,
    turn: s.turn === null ? 'none' : s.turn.stop !== null ? 'stopping' : s.turn.phase,
    deferred: s.deferred !== null,
    decision: s.seeking !== null ? 'seeking' : s.finalizing !== null ? 'finalizing' : '-',
  })
}

/** Stale events are one event, whatever they say, but for those that are answered: the core looks at nothing else of them. */
export function cellEvent(before: Session, event: Posted): string {
  if (event.type === 'timer-fired') return `timer-fired:${event.timer}`
  if (event.type === 'commit-refused') return `commit-refused:${event.of}`
  if (event.type !== 'driver') return event.type
  if (!isStale(before, event.generation, event.event)) return event.event.type
  return staleEffects(event.generation, event.event).length > 0 ? 'stale-request' : 'stale-event'
}

export class Cells {
  readonly counts = new Map<string, CellCount>()
  /** Of each cell: the other states it led to, and how often. */
  readonly led = new Map<string, Map<string, number>>()
  #current: { sessionId: string; count: CellCount } | null = null
  /** The cell each session met last. */
  #last = new Map<string, { state: string; key: string }>()

  /** Zeros for a cell that was never met. */
  countOf(key: string): CellCount {
    return this.counts.get(key) ?? emptyCount()
  }

  visit(sessionId: string, state: string, event: string): void {
    const key = `${state} ${event}`
    let count = this.counts.get(key)
    if (count === undefined) this.counts.set(key, (count = emptyCount()))
    count.visits += 1
    this.#current = { sessionId, count }
    const last = this.#last.get(sessionId)
    if (last !== undefined && last.state !== state) add(this.led, last.key, state)
    this.#last.set(sessionId, { state, key })
  }

  /** Another life begins: nothing led to what is met first. */
  restart(): void {
    this.#last.clear()
  }

  /** What happens now belongs to no cell. */
  leave(): void {
    this.#current = null
  }

  /** What follows a commit that is not saved belongs to no cell: the host gives up a retry, or a session. */
  committed(outcome: 'done' | 'failed' | 'refused' | 'unknown', saved: boolean): void {
    const count = this.#current?.count
    if (count === undefined) return
    count.commits += 1
    if (outcome !== 'done') count[outcome] += 1
    if (!saved) this.leave()
  }

  enter(sessionId: string, effect: string): void {
    if (this.#current?.sessionId !== sessionId) return this.leave()
    const { effects } = this.#current.count
    if (!effects.has(effect)) effects.set(effect, 0)
  }

  crashed(point: string): void {
    const count = this.#current?.count
    if (count === undefined) return
    if (point === 'before commit') count.crashBefore += 1
    else if (point === 'after commit') count.crashAfter += 1
    else if (point.startsWith(AFTER)) count.effects.set(point.slice(AFTER.length), (count.effects.get(point.slice(AFTER.length)) ?? 0) + 1)
  }
}

function add(led: Cells['led'], key: string, state: string): void {
  let to = led.get(key)
  if (to === undefined) led.set(key, (to = new Map()))
  to.set(state, (to.get(state) ?? 0) + 1)
}

export const AFTER = 'after '

function emptyCount(): CellCount {
  return { visits: 0, commits: 0, crashBefore: 0, crashAfter: 0, failed: 0, refused: 0, unknown: 0, effects: new Map() }
}

/** The faults a cell still lacks. */
export function lacking(count: CellCount): CellFault[] {
  const faults: CellFault[] = []
  if (count.commits > 0) {
    if (count.crashBefore === 0) faults.push({ kind: 'crash', point: 'before commit' })
    if (count.crashAfter === 0) faults.push({ kind: 'crash', point: 'after commit' })
    if (count.failed === 0) faults.push({ kind: 'failed' })
    if (count.refused === 0) faults.push({ kind: 'refused' })
    if (count.unknown === 0) faults.push({ kind: 'unknown-saved' }, { kind: 'unknown-not-saved' })
  }
  for (const [effect, crashes] of count.effects) if (crashes === 0) faults.push({ kind: 'crash', point: AFTER + effect })
  return faults
}

export const isFull = (count: CellCount): boolean => count.visits >= VISITS && lacking(count).length === 0

/**
 * Progress of the simulation in cells: (state, event), where state is the tuple of phases below and
 * nothing else. Counted: visits, and for each cell the faults it was met with.
 */
import { isStale, staleEffects } from '../packages/runtime/src/core/stale.ts'
import type { Session } from '../packages/runtime/src/core/types.ts'
import type { Posted } from '../packages/runtime/src/host/mailbox.ts'

/** Visits a cell should have (ARCHITECTURE, How it is tested). */
export const VISITS = 100

/** Histories kept of each state, to meet it again on different ways. */
const WITNESSES = 40

/** How to meet a state again: the history, and the operation in which it was met. */
export type Witness = { seed: number; ops: number; rate: number; op: number }

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

/** The finite tuple: phase, connection, turn, what waits behind it, and what the host is about to decide. */
export function cellState(s: Session): string {
  const turn = s.turn === null ? 'none' : s.turn.stop !== null ? 'stopping' : s.turn.phase
  const decides = s.seeking !== null ? 'seeking' : s.finalizing !== null ? 'finalizing' : '-'
  return [
    s.phase === 'active' ? (s.held ? 'held' : 'active') : s.phase,
    s.connection.phase,
    turn,
    s.deferred === null ? '-' : 'deferred',
    decides,
  ].join('/')
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
  readonly witnesses = new Map<string, Witness[]>()
  #current: CellCount | null = null

  visit(state: string, event: string, witness: Witness | null): void {
    const key = `${state} ${event}`
    let count = this.counts.get(key)
    if (count === undefined) this.counts.set(key, (count = emptyCount()))
    count.visits += 1
    this.#current = count
    if (witness !== null) this.#remember(state, witness)
  }

  /** What happens now belongs to no cell. */
  leave(): void {
    this.#current = null
  }

  committed(outcome: 'done' | 'failed' | 'refused' | 'unknown'): void {
    if (this.#current === null) return
    this.#current.commits += 1
    if (outcome !== 'done') this.#current[outcome] += 1
  }

  enter(effect: string): void {
    const effects = this.#current?.effects
    if (effects !== undefined && !effects.has(effect)) effects.set(effect, 0)
  }

  crashed(point: string): void {
    const count = this.#current
    if (count === null) return
    if (point === 'before commit') count.crashBefore += 1
    else if (point === 'after commit') count.crashAfter += 1
    else if (point.startsWith(AFTER)) count.effects.set(point.slice(AFTER.length), (count.effects.get(point.slice(AFTER.length)) ?? 0) + 1)
  }

  #remember(state: string, witness: Witness): void {
    let known = this.witnesses.get(state)
    if (known === undefined) this.witnesses.set(state, (known = []))
    if (known.length < WITNESSES && known.at(-1)?.seed !== witness.seed) known.push(witness)
  }
}

export const AFTER = 'after '

export function emptyCount(): CellCount {
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

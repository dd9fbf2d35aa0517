/**
 * Progress of the simulation in cells: (state, event), where state is the tuple of phases below and
 * nothing else. Counted: visits, and for each cell the faults it was met with.
 */
import type { Session } from '../packages/runtime/src/core/types.ts'
import type { Posted } from '../packages/runtime/src/host/mailbox.ts'

/** How to meet a cell again: the history, and how many points and commits lay before it. */
export type Witness = { seed: number; ops: number; rate: number; points: number; commits: number }

export type CellCount = {
  /** Null while it was met only in histories broken by a planned fault. */
  witness: Witness | null
  visits: number
  crashBefore: number
  crashAfter: number
  crashEffect: number
  failed: number
  refused: number
  unknown: number
  commits: number
  effects: number
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

export const cellEvent = (event: Posted): string => (event.type === 'driver' ? event.event.type : event.type)

export class Cells {
  readonly counts = new Map<string, CellCount>()
  #current: CellCount | null = null

  visit(before: Session, event: Posted, witness: Witness | null): void {
    const key = `${cellState(before)} ${cellEvent(event)}`
    let count = this.counts.get(key)
    if (count === undefined)
      this.counts.set(
        key,
        (count = {
          witness,
          visits: 0,
          crashBefore: 0,
          crashAfter: 0,
          crashEffect: 0,
          failed: 0,
          refused: 0,
          unknown: 0,
          commits: 0,
          effects: 0,
        }),
      )
    count.visits += 1
    count.witness ??= witness
    this.#current = count
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

  enter(_effect: string): void {
    if (this.#current !== null) this.#current.effects += 1
  }

  crashed(point: string): void {
    if (this.#current === null) return
    if (point === 'before commit') this.#current.crashBefore += 1
    else if (point === 'after commit') this.#current.crashAfter += 1
    else this.#current.crashEffect += 1
  }
}

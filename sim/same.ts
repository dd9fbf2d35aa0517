/** Compares a session in memory with the one that its rows give. */
import type { Session } from '../packages/runtime/src/core/types.ts'

/** What memory and rows must agree on; handles, holds and moments live in memory alone. */
export function normal(state: Session): unknown {
  const { connection: _, lastGeneration: __, background: ___, compaction: ____, approvals, ...facts } = state
  return { ...facts, approvals: approvals.filter((approval) => !approval.decided).map(({ id }) => id) }
}
export const sameState = (a: Session, b: Session): boolean => JSON.stringify(sorted(normal(a))) === JSON.stringify(sorted(normal(b)))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}

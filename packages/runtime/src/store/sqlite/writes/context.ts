/** What every write verb gets, and the one way a guard refuses. */
import type { ResolvedContent } from '../../store.ts'
import { Refused, type Database, type Values } from '../database.ts'

export type WriteContext = {
  readonly database: Database
  readonly sessionId: string
  /** The rev of this commit: every row it touches is stamped with it. */
  readonly rev: number
  readonly at: string
  readonly content: ResolvedContent
}

/**
 * Runs an insert or a guarded update that must hit exactly one row, with `:sessionId` and
 * `:rev` of the commit beside its own values. No row refuses the whole commit.
 */
export function change(context: WriteContext, what: string, sql: string, values: Values): void {
  const changed = context.database.run(sql, { sessionId: context.sessionId, rev: context.rev, ...values })
  if (changed !== 1) throw new Refused('guard', what)
}

/** The parts a write needs; a host that resolved none made a mistake that must not be saved. */
export function contentOf(context: WriteContext, messageId: string): ResolvedContent[string] {
  const content = context.content[messageId]
  if (content === undefined) throw new Error(`no content was resolved for message ${messageId}`)
  return content
}

/** Which chunks are no longer needed. */
import type { Database } from './database.ts'

/** Of these messages the ones whose row is final since before `before`, or gone. */
export function finalOf(database: Database, messageIds: readonly string[], before: string): string[] {
  return messageIds.filter((id) => {
    const row = database.get<{ closed_at: string | null }>('select closed_at from message where id = ?', id)
    return row === undefined || (row.closed_at !== null && row.closed_at < before)
  })
}

/**
 * Stream cursors (PROTOCOL.md, section 7). A cursor orders the events of one session by epoch and
 * rev; a vector is the cursors of several sessions on one stream.
 */

const CURSOR = /^(\d+)\.(\d+)\.\d+(?:-\d+)*$/

/** Negative when `a` is before `b`, 0 when both are of one saved state or either cannot be read. */
export function compareCursors(a: string, b: string): number {
  const left = CURSOR.exec(a)
  const right = CURSOR.exec(b)
  if (left === null || right === null) return 0
  return Number(left[1]) - Number(right[1]) || Number(left[2]) - Number(right[2])
}

/** The rev a cursor has reached; -1 when it cannot be read. */
export function revOf(cursor: string): number {
  return Number(CURSOR.exec(cursor)?.[2] ?? -1)
}

/** Writes a vector; sessions without a cursor are left out. Null when nothing is left. */
export function writeVector(cursors: ReadonlyMap<string, string | null>): string | null {
  const entries: string[] = []
  for (const [sessionId, cursor] of cursors) if (cursor !== null) entries.push(`${sessionId}:${cursor}`)
  return entries.length === 0 ? null : entries.join(',')
}

/** Reads a vector. Entries that cannot be read are skipped: a client derives nothing from them. */
export function readVector(vector: string): Map<string, string> {
  const cursors = new Map<string, string>()
  for (const entry of vector.split(',')) {
    const colon = entry.indexOf(':')
    if (colon > 0 && CURSOR.test(entry.slice(colon + 1))) cursors.set(entry.slice(0, colon), entry.slice(colon + 1))
  }
  return cursors
}

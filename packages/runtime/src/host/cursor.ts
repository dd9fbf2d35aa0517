/** Cursors (decision 5, PROTOCOL section 7): `epoch.rev.n`, or `epoch.rev.n-m` while two rows are pending. */
export type Cursor = { epoch: number; rev: number; /** Chunks seen of each pending row, in seq order. */ counts: number[] }

const FORM = /^(\d{1,16})\.(\d{1,16})\.(\d{1,12})(?:-(\d{1,12}))?$/

export function formatCursor(cursor: Cursor): string {
  return `${cursor.epoch}.${cursor.rev}.${cursor.counts.length === 0 ? 0 : cursor.counts.join('-')}`
}

/** Null when it is not a cursor at all (400 INVALID_CURSOR). */
export function parseCursor(text: string): Cursor | null {
  const match = FORM.exec(text)
  if (match === null) return null
  const [, epoch, rev, first, second] = match
  return { epoch: Number(epoch), rev: Number(rev), counts: second === undefined ? [Number(first)] : [Number(first), Number(second)] }
}

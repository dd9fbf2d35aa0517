/**
 * The chunk journal: what was shown of rows that are not final. A file and a connection of its own,
 * so that a lock on the truth delays no stream and its churn never grows the truth's file
 * (docs/decisions/0002-chunk-journal-file.md).
 */
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import type { JournalEntry } from '../store.ts'
import type { Database } from './database.ts'
import { fromJson, toJson } from './rows.ts'

type Batch = { no: number; n: number; count: number }
type NewBatch = { sessionId: string; messageId: string; n: number; chunks: UIMessageChunk[] }

export class Journal {
  private readonly database: Database
  /** Where each message's batches are. The table has no index: keeping one would cost more than the chunks. */
  private readonly index = new Map<string, Batch[]>()
  private indexedTo = 0

  constructor(database: Database) {
    this.database = database
  }

  /**
   * All entries in one transaction. Numbers of a message begin at 1 and have no gaps; an entry that is
   * there already is left out, so that an append whose end was not confirmed can be repeated.
   */
  append(entries: readonly JournalEntry[]): void {
    this.catchUp()
    const batches = toBatches(entries.filter((entry) => entry.n > this.lastOf(entry.messageId)))
    if (batches.length === 0) return
    const numbers = this.database.transaction(() => batches.map((batch) => this.insert(batch)))
    for (const [at, no] of numbers.entries()) {
      const batch = batches[at]
      if (batch !== undefined) this.add(batch.messageId, { no, n: batch.n, count: batch.chunks.length })
    }
  }

  private insert(batch: NewBatch): number {
    const row = this.database.get<{ no: number }>(
      'insert into chunk_batch (session_id, message_id, n, count, chunks) values (?, ?, ?, ?, ?) returning no',
      batch.sessionId,
      batch.messageId,
      batch.n,
      batch.chunks.length,
      toJson(batch.chunks),
    )
    if (row === undefined) throw new Error('insert returned no row')
    return row.no
  }

  /** Chunks with a number above `afterN`, ascending. */
  read(messageId: string, afterN: number): { n: number; chunk: UIMessageChunk }[] {
    this.catchUp()
    const found: { n: number; chunk: UIMessageChunk }[] = []
    for (const batch of this.index.get(messageId) ?? []) {
      if (batch.n + batch.count - 1 <= afterN) continue
      const row = this.database.get<{ chunks: string }>('select chunks from chunk_batch where no = ?', batch.no)
      if (row === undefined) continue
      for (const [at, chunk] of fromJson<UIMessageChunk[]>(row.chunks).entries()) {
        if (batch.n + at > afterN) found.push({ n: batch.n + at, chunk })
      }
    }
    return found
  }

  /** Number of the newest chunk, 0 when there is none. */
  count(messageId: string): number {
    this.catchUp()
    return this.lastOf(messageId)
  }

  private lastOf(messageId: string): number {
    const last = this.index.get(messageId)?.at(-1)
    return last === undefined ? 0 : last.n + last.count - 1
  }

  /** Ids of all messages that have chunks. */
  messages(): string[] {
    this.catchUp()
    return [...this.index.keys()]
  }

  /** Drops the chunks of these messages, in one transaction; returns how many chunks went. */
  drop(messageIds: readonly string[]): number {
    const batches = messageIds.flatMap((id) => this.index.get(id) ?? [])
    if (batches.length === 0) return 0
    this.database.transaction(() => {
      for (const batch of batches) this.database.run('delete from chunk_batch where no = ?', batch.no)
    })
    for (const id of messageIds) this.index.delete(id)
    return batches.reduce((sum, batch) => sum + batch.count, 0)
  }

  /** Takes in what was appended since: all of it at the first use, later only what another connection wrote. */
  private catchUp(): void {
    const rows = this.database.all<Batch & { message_id: string }>(
      'select no, message_id, n, count from chunk_batch where no > ? order by no',
      this.indexedTo,
    )
    for (const row of rows) this.add(row.message_id, { no: row.no, n: row.n, count: row.count })
  }

  private add(messageId: string, batch: Batch): void {
    const batches = this.index.get(messageId)
    if (batches === undefined) this.index.set(messageId, [batch])
    else batches.push(batch)
    this.indexedTo = Math.max(this.indexedTo, batch.no)
  }

  close(): void {
    this.database.close()
  }
}

/** One batch for each run of consecutive numbers of a message. */
function toBatches(entries: readonly JournalEntry[]): NewBatch[] {
  const batches: NewBatch[] = []
  const open = new Map<string, NewBatch>()
  for (const entry of entries) {
    const batch = open.get(entry.messageId)
    if (batch !== undefined && batch.n + batch.chunks.length === entry.n) {
      batch.chunks.push(entry.chunk)
      continue
    }
    const next: NewBatch = { sessionId: entry.sessionId, messageId: entry.messageId, n: entry.n, chunks: [entry.chunk] }
    open.set(entry.messageId, next)
    batches.push(next)
  }
  return batches
}

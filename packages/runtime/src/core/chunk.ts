/** Chunks: counted here, journaled and published by the host; they decide nothing. */
import type { Draft } from './draft.ts'
import type { Chunks, Turn } from './types.ts'

/** Gives the chunks their numbers. */
export function journal(d: Draft, turn: Turn, chunks: Chunks): void {
  if (chunks.length === 0) return
  d.effects.push({ type: 'journal-chunks', messageId: turn.messageId, n: turn.n + 1, chunks })
  turn.n += chunks.length
}

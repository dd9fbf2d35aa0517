/** A session with everything a page reads of it. */
import type { Message, Session, SessionSnapshot, UIMessageChunk } from '../../../packages/client/src/index.ts'

export type Seeded = {
  session: Session
  rows: Message[]
  snapshot: Omit<SessionSnapshot, 'session' | 'status' | 'cursor'>
  /** Chunks of the pending row, by its id. */
  chunks: { [messageId: string]: UIMessageChunk[] }
}
/** The folder the seeded agents work in. */
export const FOLDER = '/home/me/code/harbour'

const quiet = (): Seeded['snapshot'] => ({ turn: null, queue: [], approvals: [], background: [], contextUsage: null })

export function seeded(one: Session, rows: Message[], change: Partial<Seeded['snapshot']> = {}, chunks: Seeded['chunks'] = {}): Seeded {
  rows.forEach((row, index) => Object.assign(row, { sessionId: one.id, seq: index + 1 }))
  return { session: one, rows, snapshot: { ...quiet(), ...change }, chunks }
}

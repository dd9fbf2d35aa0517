/** What tools, models and the server may ask of the host: types only. */
import type { ErrorCode, Session as SessionEntry, SessionSnapshot } from '@wheelhouse/client/protocol'
import type { Session, SessionId } from '../core/types.ts'

/** One reader of the stream. The server writes frames; the stream manager decides what goes in them. */
export type StreamSink = {
  /** Set while the reader is too far behind: nothing is given to it until `catchUp`. */
  lagging: boolean
  /** Bytes given and not yet taken by the reader. */
  backlog(): number
  /** Ends it: something could not be told, and a reader that comes back with its cursor is told all of it. */
  cut(): void
  /** `sessionId` and `cursor` are null for events of the list; `data` is the event as one line of JSON. */
  event(sessionId: SessionId | null, cursor: string | null, type: string, data: string): void
}

/** Read models the stream manager shows; made from rows and the states in memory. */
export type SessionViews = {
  /** Lowest stream epoch of this data directory. */
  firstEpoch: number
  state(id: SessionId): Session | null
  session(id: SessionId): SessionEntry | null
  sessions(): SessionEntry[]
  snapshot(id: SessionId): SessionSnapshot
}

/** A refusal with its stable code; what every layer throws or returns for what a person did wrong. */
export class HostError extends Error {
  override name = 'HostError'
  readonly code: ErrorCode
  constructor(code: ErrorCode, detail = '') {
    super(detail)
    this.code = code
  }
}

/** Who asks: recorded with what they send, stop and approve. */
export type Caller = { name: string }

export type Keyed = { idempotencyKey: string | null; bodyHash: string | null }

/**
 * Server-sent events. Each is published only after what it claims is durable (architecture, the law;
 * decision 5). A client ignores events, parts and fields that it does not know.
 */
import type { UIMessageChunk } from './chunks.ts'
import type { Approval, BackgroundTask, ContextUsage, LiveTurn, Message, Session, SessionSnapshot, SessionStatus } from './entities.ts'

/** Fields every event carries: which session, and after which state it holds. `cursor` is `streamEpoch.rev.n`. */
type Of = { sessionId: string; cursor: string }

/** What a stream tells, in the order of PROTOCOL, section 7. */
export type StreamEvent =
  | (Of & { type: 'snapshot'; snapshot: SessionSnapshot })
  /** One or more chunks of a pending assistant message; the first has number `n`, each next one n + 1. */
  | (Of & { type: 'chunk'; messageId: string; n: number; chunks: UIMessageChunk[] })
  /** A transcript row or queue entry, inserted or changed, in its latest form. */
  | (Of & { type: 'row'; row: Message })
  | (Of & { type: 'row-removed'; messageId: string })
  | (Of & { type: 'status'; status: SessionStatus; session: Session })
  /** The queue strip: ids of every input that is not taken, in order; their rows were told before. */
  | (Of & { type: 'queue'; order: string[] })
  | (Of & { type: 'approval'; approval: Approval })
  | (Of & { type: 'retry'; messageId: string; attempt: number; maxAttempts: number | null; delayMs: number; reason: string })
  | (Of & { type: 'compaction'; phase: 'started' | 'completed' | 'failed'; trigger: 'manual' | 'auto'; detail: string | null })
  | (Of & { type: 'context-usage'; usage: ContextUsage })
  | (Of & { type: 'background'; tasks: BackgroundTask[] })
  | (Of & { type: 'turn'; phase: 'started'; turn: LiveTurn })
  | (Of & { type: 'turn'; phase: 'ended'; turnId: string; messageId: string; boundary: 'turn' | 'row-roll' })
  /** The client's view cannot be continued: replace it by this snapshot and reload the transcript. */
  | (Of & { type: 'resync'; reason: 'cursor-unknown' | 'cursor-too-old' | 'slow-subscriber'; snapshot: SessionSnapshot })
  | (Of & { type: 'session-removed' })
  /** The first event of GET /v1/stream: all sessions. */
  | { type: 'sessions'; sessions: Session[] }
  | { type: 'session'; session: Session }
  /** Every 15 s; carries the newest cursor so that a lost last batch is noticed. */
  | { type: 'ping'; cursor: string | null }

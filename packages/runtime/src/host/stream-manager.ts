/**
 * `AiStreamManager`: what windows see. It folds chunks into the accumulators, appends them to the
 * journal once a tick and publishes exactly those, publishes what commits changed, and lets a
 * subscriber continue from a cursor (decision 5). All it holds is rebuilt from the journal and rows.
 */
import {
  closeParts,
  CALL_STOPPED,
  emptyContent,
  foldChunks,
  LIMITS,
  type LiveTurn,
  type MessageContent,
  type Session as SessionEntry,
  type StreamEvent,
  type UIMessageChunk,
} from '@wheelhouse/client/protocol'
import type { MessageId, Session, SessionId } from '../core/types.ts'
import type { Write } from '../core/write.ts'
import type { Changes, JournalEntry, ResolvedContent, Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import { formatCursor, type Cursor } from './cursor.ts'
import type { StreamSink, SessionViews } from './host-api.ts'

/** Chunks wait at most this long for company; the first after silence goes at once. */
export const TICK_MS = 16
/** How long the journal of a final row is kept for readers that are behind. */
export const GRACE_MS = 30_000
/** Chunks of one frame when a reader catches up. */
const REPLAY_CHUNKS = 1000
/** Rows that changed since a cursor: all of them are read and encoded in one go, so more of them are read as pages. */
const RESUME_ROWS = 500
/** A chunk journal that cannot be written is tried again after this. */
const JOURNAL_RETRY_MS = 250

type Pending = { sessionId: SessionId; content: MessageContent; /** Folded. */ n: number; /** Journaled and published. */ shown: number }
/** Written by the core (`onCompaction`). */
type CompactionData = Pick<Extract<StreamEvent, { type: 'compaction' }>, 'phase' | 'trigger' | 'detail'>
/** An event before it is known for whom and after which state. */
type Unpublished = StreamEvent extends infer E
  ? E extends { cursor: string; sessionId: string }
    ? Omit<E, 'cursor' | 'sessionId'>
    : never
  : never

export type StreamPorts = {
  store: Store
  clock: Clock
  epoch: number
  views: SessionViews
  report(what: 'journal-failed' | 'publish-failed', detail: string): void
}

export class AiStreamManager {
  readonly #ports: StreamPorts
  readonly #pending = new Map<MessageId, Pending>()
  readonly #sinks = new Map<SessionId, Set<StreamSink>>()
  readonly #observers = new Set<StreamSink>()
  readonly #live = new Set<SessionId>()
  #buffer: JournalEntry[] = []
  #lastFlush = -Infinity
  #cancelTick: (() => void) | null = null
  readonly #changedEntries = new Set<SessionId>()
  #cancelStatus: (() => void) | null = null

  constructor(ports: StreamPorts) {
    this.#ports = ports
  }

  // ---- chunks

  /** The `journal-chunks` effect: chunk `n` is the first one's number. */
  journal(sessionId: SessionId, messageId: MessageId, n: number, chunks: readonly UIMessageChunk[]): void {
    const pending = this.#pendingOf(sessionId, messageId)
    pending.content = foldChunks(pending.content, chunks)
    pending.n = n + chunks.length - 1
    for (const [index, chunk] of chunks.entries()) this.#buffer.push({ sessionId, messageId, n: n + index, chunk })
    for (const chunk of chunks) this.#tellCompaction(sessionId, chunk)
    // The first words of an answer do not wait for the tick, but for what came with them.
    if (n === 1) this.#flushSoon()
    else if (this.#cancelTick === null) this.#arm(Math.max(0, this.#lastFlush + TICK_MS - this.#ports.clock.monotonic()))
  }

  /** What a compaction does stands in a chunk of its row; whoever watches is told in a word of its own, after that. */
  #tellCompaction(sessionId: SessionId, chunk: UIMessageChunk): void {
    if (chunk.type !== 'data-compaction') return
    const { phase, trigger, detail } = chunk.data as CompactionData
    this.flush()
    this.moment(sessionId, { type: 'compaction', phase, trigger, detail })
  }

  /** Appends what is buffered in one transaction, then publishes exactly that. */
  flush(): void {
    this.#cancelTick?.()
    this.#cancelTick = null
    if (this.#buffer.length === 0) return
    const entries = this.#buffer
    try {
      this.#ports.store.appendChunks(entries)
    } catch (error) {
      this.#failed('journal-failed', error)
      // What arrives meanwhile waits with the rest: a try for each chunk would encode all of them each time.
      this.#lastFlush = this.#ports.clock.monotonic() + JOURNAL_RETRY_MS - TICK_MS
      this.#arm(JOURNAL_RETRY_MS)
      return
    }
    this.#buffer = []
    this.#lastFlush = this.#ports.clock.monotonic()
    for (const run of runsOf(entries)) {
      const pending = this.#pending.get(run.messageId)
      if (pending !== undefined) pending.shown = run.n + run.chunks.length - 1
      this.#publish(run.sessionId, { type: 'chunk', messageId: run.messageId, n: run.n, chunks: run.chunks })
    }
  }

  /** The content of rows that a commit closes: everything shown, with whatever still ran made terminal. */
  resolve(writes: readonly Write[]): ResolvedContent {
    // What was said before this commit is published before it, under the rev it was said at.
    if (this.#buffer.length > 0) this.flush()
    const content: ResolvedContent = {}
    for (const write of writes) {
      if (write.type !== 'close-turn') continue
      const folded = this.#pending.get(write.messageId)?.content ?? this.#fromJournal(write.messageId)
      const closed = closeParts(folded, write.boundary === 'row-roll' ? 'The answer goes on below.' : CLOSING_REASON[write.status])
      content[write.messageId] = { parts: closed.parts, metadata: { ...closed.metadata, ...write.content.metadata } }
    }
    return content
  }

  #fromJournal(messageId: MessageId): MessageContent {
    return foldChunks(
      emptyContent(),
      this.#ports.store.readChunks(messageId, 0).map((entry) => entry.chunk),
    )
  }

  #pendingOf(sessionId: SessionId, messageId: MessageId): Pending {
    let pending = this.#pending.get(messageId)
    if (pending === undefined) this.#pending.set(messageId, (pending = { sessionId, content: emptyContent(), n: 0, shown: 0 }))
    return pending
  }

  #flushSoon(): void {
    // A journal that cannot be written is tried again at its own time.
    if (this.#lastFlush > this.#ports.clock.monotonic()) return
    this.#cancelTick?.()
    this.#arm(0)
  }

  #arm(ms: number): void {
    this.#cancelTick = this.#ports.clock.after(ms, () => {
      this.#cancelTick = null
      this.flush()
    })
  }

  /** Journals what is left; nothing is published any more. */
  stop(): void {
    this.#cancelStatus?.()
    this.flush()
    this.#cancelTick?.()
  }

  // ---- rows and moments

  /** What a commit changed, in its latest form. Only the last event carries the new rev (PROTOCOL, Cursor). */
  changed(session: Session, changes: Changes | null): void {
    if (changes === null) return this.#lost(session)
    const before = this.#cursor(session, changes.rev - 1)
    const events = this.#sinks.has(session.id) ? changeEvents(session, changes) : []
    for (const message of changes.messages) if (message.role === 'assistant' && message.status !== 'pending') this.#close(message.id)
    for (const id of changes.removed) this.#close(id)
    for (const message of changes.messages)
      if (message.role === 'assistant' && message.status === 'pending') this.#pendingOf(session.id, message.id)
    const after = this.#cursor(session, changes.rev)
    for (const [index, event] of events.entries()) this.#send(session.id, event, index === events.length - 1 ? after : before)
    for (const approval of changes.approvals)
      this.#observe({ type: 'approval', approval, sessionId: session.id, cursor: after }, session.id)
  }

  /** What changed is saved and cannot be read: readers come back for it, and rows that are closed need no accumulator. */
  #lost(session: Session): void {
    const pending = this.#pendingIds(session)
    for (const [id, { sessionId }] of this.#pending) if (sessionId === session.id && !pending.includes(id)) this.#close(id)
    this.#cut(session.id)
  }

  /** Readers that could not be told come back with their cursors and are told all of it. */
  #cut(sessionId: SessionId): void {
    for (const sink of [...(this.#sinks.get(sessionId) ?? []), ...this.#observers]) sink.cut()
  }

  #failed(what: 'journal-failed' | 'publish-failed', error: unknown): void {
    this.#ports.report(what, error instanceof Error ? error.message : String(error))
  }

  turn(
    session: Session,
    event: { phase: 'started'; turn: LiveTurn } | { phase: 'ended'; turnId: string; messageId: string; boundary: 'turn' | 'row-roll' },
  ): void {
    if (event.phase === 'started') this.#live.add(session.id)
    this.#publish(
      session.id,
      event.phase === 'started'
        ? { type: 'turn', phase: 'started', turn: event.turn }
        : { type: 'turn', phase: 'ended', turnId: event.turnId, messageId: event.messageId, boundary: event.boundary },
    )
  }

  /**
   * The session's list entry may have changed: its own windows get `status`, the others `session`.
   * Once a tick, since one event changes it several times and each look costs a query.
   */
  status(session: Session): void {
    if (this.#observers.size === 0 && !this.#sinks.has(session.id)) return
    this.relisted([session.id])
  }

  #flushStatus(): void {
    this.#cancelStatus = null
    const changed = [...this.#changedEntries]
    this.#changedEntries.clear()
    try {
      for (const id of changed) this.#tellStatus(id)
    } catch (error) {
      this.#failed('publish-failed', error)
      for (const id of changed) this.#cut(id)
    }
  }

  #tellStatus(id: SessionId): void {
    const entry = this.#ports.views.session(id)
    if (entry === null) return
    this.#publish(id, { type: 'status', status: entry.status, session: entry })
    this.#observe({ type: 'session', session: entry }, id)
  }

  /** A session was made. */
  listed(entry: SessionEntry): void {
    this.#observe({ type: 'session', session: entry }, entry.id)
  }

  /** Something of the moment: shown to whoever watches now. */
  moment(sessionId: SessionId, event: Unpublished): void {
    this.#publish(sessionId, event)
  }

  removed(sessionId: SessionId): void {
    const event = { type: 'session-removed', sessionId, cursor: '0.0.0' } as const
    this.#send(sessionId, { type: 'session-removed' }, '0.0.0')
    this.#observe(event, sessionId)
    this.#live.delete(sessionId)
    for (const [id, pending] of this.#pending) if (pending.sessionId === sessionId) this.#pending.delete(id)
  }

  /** A turn of this topic is open, or its stream is held for the next one (spec, `hasLiveStream`). */
  hasLiveStream(sessionId: SessionId): boolean {
    return this.#live.has(sessionId)
  }

  /** List entries changed that no session's owner knows of. */
  relisted(ids: readonly SessionId[]): void {
    for (const id of ids) this.#changedEntries.add(id)
    this.#cancelStatus ??= this.#ports.clock.after(TICK_MS, () => this.#flushStatus())
  }

  /** Nothing follows on the topic: terminal lifecycle, and the held stream is evicted (requirement 126). */
  terminateHeldTopicStream(sessionId: SessionId): void {
    this.#live.delete(sessionId)
  }

  // ---- subscribers

  /**
   * Adds a subscriber and brings it up to date: from its cursor where that can be continued, else by
   * one `resync`, or by a `snapshot` when it has none.
   */
  subscribe(sink: StreamSink, sessionId: SessionId, cursor: Cursor | null): void {
    const session = this.#ports.views.state(sessionId)
    if (session === null) {
      sink.event(sessionId, '0.0.0', 'session-removed', JSON.stringify({ type: 'session-removed', sessionId, cursor: '0.0.0' }))
      return
    }
    let sinks = this.#sinks.get(sessionId)
    if (sinks === undefined) this.#sinks.set(sessionId, (sinks = new Set()))
    // What waits for its tick goes to the others first; this reader gets it with its beginning.
    this.flush()
    sinks.add(sink)
    if (cursor === null) this.#begin(sink, session, 'snapshot')
    else if (!this.#continues(session, cursor)) this.#begin(sink, session, 'cursor-unknown')
    else if (this.#ports.store.hasMoreSince(sessionId, cursor.rev, RESUME_ROWS)) this.#begin(sink, session, 'cursor-too-old')
    else this.#resume(sink, session, cursor)
  }

  /** Watches the list: every session's entry, removal and approvals. */
  observe(sink: StreamSink): void {
    this.#observers.add(sink)
    sink.event(null, null, 'sessions', JSON.stringify({ type: 'sessions', sessions: this.#ports.views.sessions() }))
  }

  unsubscribe(sink: StreamSink): void {
    this.#observers.delete(sink)
    for (const [id, sinks] of this.#sinks) if (sinks.delete(sink) && sinks.size === 0) this.#sinks.delete(id)
  }

  /** A reader that had fallen behind reads again: one resync for each of its sessions. */
  catchUp(sink: StreamSink): void {
    sink.lagging = false
    for (const [id, sinks] of this.#sinks) {
      const session = sinks.has(sink) ? this.#ports.views.state(id) : null
      if (session !== null) this.#begin(sink, session, 'slow-subscriber')
    }
    if (this.#observers.has(sink))
      sink.event(null, null, 'sessions', JSON.stringify({ type: 'sessions', sessions: this.#ports.views.sessions() }))
  }

  /** The newest cursor of a session, or of its transcript as a page gives it (no chunk seen). */
  cursor(sessionId: SessionId): string {
    const session = this.#ports.views.state(sessionId)
    return session === null ? '0.0.0' : this.#cursor(session, session.rev)
  }

  openingCursor(session: Session): string {
    return formatCursor({ epoch: this.#ports.epoch, rev: session.rev, counts: this.#pendingIds(session).map(() => 0) })
  }

  #continues(session: Session, cursor: Cursor): boolean {
    if (cursor.epoch > this.#ports.epoch || cursor.epoch < this.#ports.views.firstEpoch || cursor.rev > session.rev) return false
    if (cursor.epoch < this.#ports.epoch || cursor.rev < session.rev) return true
    const ids = this.#pendingIds(session)
    return cursor.counts.every((n, index) => n <= (this.#pending.get(ids[index] ?? '')?.shown ?? 0))
  }

  #begin(sink: StreamSink, session: Session, reason: 'snapshot' | 'cursor-unknown' | 'cursor-too-old' | 'slow-subscriber'): void {
    const cursor = this.openingCursor(session)
    const snapshot = { ...this.#ports.views.snapshot(session.id), cursor }
    const event = reason === 'snapshot' ? { type: 'snapshot', snapshot } : { type: 'resync', reason, snapshot }
    sink.event(session.id, cursor, event.type, JSON.stringify({ ...event, sessionId: session.id, cursor }))
    for (const id of this.#pendingIds(session)) this.#replay(sink, session, id, 0)
  }

  #resume(sink: StreamSink, session: Session, cursor: Cursor): void {
    const { store, views, epoch } = this.#ports
    const given = formatCursor(cursor)
    const write = (cursorText: string, event: Record<string, unknown> & { type: string }): void =>
      sink.event(session.id, cursorText, event.type, JSON.stringify({ ...event, sessionId: session.id, cursor: cursorText }))
    write(given, { type: 'snapshot', snapshot: { ...views.snapshot(session.id), cursor: given } })
    const changes = store.changesSince(session.id, cursor.rev)
    const events = changeEvents(session, changes)
    const ids = this.#pendingIds(session)
    const changed = new Set(changes.messages.map((message) => message.id))
    const sameEpoch = cursor.epoch === epoch
    const kept = ids.filter((id) => sameEpoch && !changed.has(id))
    // With two counts and one row left unchanged it is the younger: a deferred row changes when it goes on.
    const counts = new Map(kept.map((id, index) => [id, cursor.counts[cursor.counts.length - kept.length + index] ?? 0]))
    const caughtUp = formatCursor({ epoch, rev: session.rev, counts: ids.map((id) => counts.get(id) ?? 0) })
    for (const [index, event] of events.entries()) write(index === events.length - 1 ? caughtUp : given, event)
    for (const id of ids) this.#replay(sink, session, id, counts.get(id) ?? 0, counts)
  }

  /** In pieces: a long answer as one frame would block everybody while it is made. */
  #replay(sink: StreamSink, session: Session, messageId: MessageId, after: number, seen = new Map<MessageId, number>()): void {
    const entries = this.#ports.store.readChunks(messageId, after)
    for (let from = 0; from < entries.length; from += REPLAY_CHUNKS) {
      const piece = entries.slice(from, from + REPLAY_CHUNKS)
      seen.set(messageId, piece.at(-1)?.n ?? after)
      const counts = this.#pendingIds(session).map((id) => seen.get(id) ?? 0)
      const cursor = formatCursor({ epoch: this.#ports.epoch, rev: session.rev, counts })
      const event = { type: 'chunk', messageId, n: piece[0]?.n, chunks: piece.map((entry) => entry.chunk), sessionId: session.id, cursor }
      sink.event(session.id, cursor, 'chunk', JSON.stringify(event))
    }
  }

  // ---- publishing

  #publish(sessionId: SessionId, event: Unpublished): void {
    if (!this.#sinks.has(sessionId)) return
    const session = this.#ports.views.state(sessionId)
    if (session !== null) this.#send(sessionId, event, this.#cursor(session, session.rev))
  }

  /** Encodes once, whoever reads. */
  #send(sessionId: SessionId, event: Unpublished, cursor: string): void {
    const sinks = this.#sinks.get(sessionId)
    if (sinks === undefined) return
    const data = JSON.stringify({ ...event, sessionId, cursor })
    for (const sink of sinks) offer(sink, sessionId, cursor, event.type, data)
  }

  /** Tells those who watch the list and do not have this session named. */
  #observe(event: StreamEvent, sessionId: SessionId): void {
    if (this.#observers.size === 0) return
    const data = JSON.stringify(event)
    const named = this.#sinks.get(sessionId)
    for (const sink of this.#observers) if (named?.has(sink) !== true) offer(sink, null, null, event.type, data)
  }

  /** Ids of the pending rows, in seq order. */
  #pendingIds(session: Session): MessageId[] {
    const { deferred, turn } = session
    return [deferred, turn].flatMap((each) => (each === null ? [] : [each.messageId]))
  }

  #cursor(session: Session, rev: number): string {
    const counts = this.#pendingIds(session).map((id) => this.#pending.get(id)?.shown ?? 0)
    return formatCursor({ epoch: this.#ports.epoch, rev, counts })
  }

  #close(messageId: MessageId): void {
    this.#pending.delete(messageId)
    this.#buffer = this.#buffer.filter((entry) => entry.messageId !== messageId)
  }
}

const CLOSING_REASON = {
  success: 'The turn ended without a result of this call.',
  paused: CALL_STOPPED,
  interrupted: 'Interrupted: it is not known whether this finished.',
  error: 'The turn failed before this finished.',
} as const

/** A slow reader is skipped from here on; when it reads again it gets one resync. */
function offer(sink: StreamSink, sessionId: SessionId | null, cursor: string | null, type: string, data: string): void {
  if (sink.lagging) return
  if (sink.backlog() > LIMITS.subscriberBufferBytes) sink.lagging = true
  else sink.event(sessionId, cursor, type, data)
}

function changeEvents(session: Session, changes: Changes): Unpublished[] {
  const events: Unpublished[] = []
  for (const messageId of changes.removed) events.push({ type: 'row-removed', messageId })
  let queueChanged = false
  for (const row of changes.messages) {
    events.push({ type: 'row', row: row.status === 'pending' ? { ...row, parts: [], metadata: {} } : row })
    queueChanged ||= row.role === 'user'
  }
  for (const approval of changes.approvals) events.push({ type: 'approval', approval })
  if (queueChanged) events.push({ type: 'queue', order: session.queue.map((input) => input.id) })
  return events
}

type Run = { sessionId: SessionId; messageId: MessageId; n: number; chunks: UIMessageChunk[] }

/** Entries of one message that follow each other go out as one event. */
function runsOf(entries: readonly JournalEntry[]): Run[] {
  const runs = new Map<MessageId, Run>()
  for (const { sessionId, messageId, n, chunk } of entries) {
    const run = runs.get(messageId)
    if (run === undefined) runs.set(messageId, { sessionId, messageId, n, chunks: [chunk] })
    else run.chunks.push(chunk)
  }
  return [...runs.values()]
}

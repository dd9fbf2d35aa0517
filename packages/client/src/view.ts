/**
 * Stream events become the view of one session: pure, and the same for every window (decision 5).
 *
 * What must stay true: a row is replaced only by a form with a higher rev; a chunk is applied once,
 * by message and number; what is gone stays gone; an event from before the view's cursor changes no
 * head field. So events may come again, overlap, and be cut anywhere.
 */
import { compareCursors, revOf } from './cursor.ts'
import { emptyContent, foldChunks } from './protocol/fold.ts'
import type {
  Approval,
  BackgroundTask,
  ContextUsage,
  LiveTurn,
  Message,
  MessageContent,
  Session,
  SessionSnapshot,
  SessionStatus,
  StreamEvent,
  TranscriptPage,
} from './protocol/index.ts'

/** Content of a pending row so far; `n` chunks are folded into it. */
export type PendingContent = { n: number; content: MessageContent }
/** The last repetition of a provider call that the agent told of. */
export type RetryNote = { messageId: string; attempt: number; maxAttempts: number | null; delayMs: number; reason: string }

/** One session as a window shows it. JSON, so that it can be sent between workers and kept. */
export type SessionView = {
  sessionId: string
  session: Session | null
  status: SessionStatus
  turn: LiveTurn | null
  /** Transcript rows held, ascending by seq, without gaps from the oldest held one to the newest. */
  rows: Message[]
  /** Untaken inputs in order. */
  queue: Message[]
  /** Open ones and those decided while watching, by time asked. */
  approvals: readonly Approval[]
  background: BackgroundTask[]
  contextUsage: ContextUsage | null
  retry: RetryNote | null
  compacting: boolean
  pending: { [messageId: string]: PendingContent }
  /** Rev at which a row was seen to be gone (withdrawn or removed). */
  gone: { [messageId: string]: number }
  cursor: string | null
  /** Cursor of the first snapshot since the rows were last dropped: a page read before it is too old. */
  since: string | null
  /** Opens the next older page; null when the oldest row is held, or no page was read. */
  before: string | null
  /** A page was read since the rows were last dropped. */
  loaded: boolean
  /** Chunks are missing: reload the session (`EventStream.reload`). */
  gap: boolean
  removed: boolean
}

/** A removed row never comes back, whatever rev an old form has. */
const FOR_EVER = Number.MAX_SAFE_INTEGER

/** A session before anything is known of it. */
export function emptyView(sessionId: string): SessionView {
  return {
    sessionId,
    session: null,
    status: 'idle',
    turn: null,
    rows: [],
    queue: [],
    approvals: [],
    background: [],
    contextUsage: null,
    retry: null,
    compacting: false,
    pending: {},
    gone: {},
    cursor: null,
    since: null,
    before: null,
    loaded: false,
    gap: false,
    removed: false,
  }
}

/** Applies one event; events of other sessions and unknown ones change nothing. */
export function applyEvent(view: SessionView, event: StreamEvent): SessionView {
  if (!('sessionId' in event) || event.sessionId !== view.sessionId) return view
  switch (event.type) {
    case 'snapshot':
      return isOld(view, event.cursor) ? view : applySnapshot(view, event.snapshot, event.cursor)
    case 'resync':
      return applySnapshot({ ...emptyView(view.sessionId), approvals: view.approvals }, event.snapshot, event.cursor)
    case 'chunk':
      return advance(applyChunks(view, event), event.cursor)
    case 'row':
      return advance(isBelowHeld(view, event.row) ? view : applyRow(view, event.row), event.cursor)
    case 'row-removed':
      return advance(dropRow(view, event.messageId, FOR_EVER), event.cursor)
    case 'approval':
      return advance({ ...view, approvals: mergeApproval(view.approvals, event.approval) }, event.cursor)
    case 'session-removed':
      return { ...view, removed: true, turn: null, queue: [] }
    case 'queue':
    case 'status':
    case 'turn':
    case 'retry':
    case 'compaction':
    case 'context-usage':
    case 'background':
      return isOld(view, event.cursor) ? view : advance(applyHead(view, event), event.cursor)
    default:
      return view
  }
}

/**
 * Adds a page of the transcript. The first newest page (`older` false) replaces what was held but for
 * rows the stream changed after it, and settles `before`; an older one goes in front. Rows already
 * known in a newer form stay.
 */
export function applyPage(view: SessionView, page: TranscriptPage, older: boolean): SessionView {
  const keepsOlder = !older && view.loaded
  const oldest = page.items[0]?.seq ?? 0
  let next =
    older || keepsOlder ? view : { ...view, rows: view.rows.filter((row) => (row.seq ?? 0) >= oldest && row.rev > revOf(page.cursor)) }
  if (isAllOlder(next, page)) next = { ...next, rows: [...page.items, ...next.rows] }
  else for (const row of page.items) next = applyRow(next, row)
  return { ...next, loaded: true, before: keepsOlder ? view.before : page.before, cursor: next.cursor ?? page.cursor }
}

/** The plain case of an older page: nothing in it is known yet. Row by row a long transcript would be copied for each. */
function isAllOlder(view: SessionView, page: TranscriptPage): boolean {
  const oldest = view.rows[0]?.seq ?? Number.POSITIVE_INFINITY
  const known = new Set(view.queue.map((row) => row.id))
  return page.items.every((row) => row.seq !== null && row.seq < oldest && !known.has(row.id) && view.gone[row.id] === undefined)
}

/**
 * What a window held joined with a view that was kept elsewhere. When that one began after `held`
 * ends, changes between are in neither: the rows stay to be shown, and a page must be read.
 */
export function joinViews(held: SessionView, kept: SessionView): SessionView {
  const continuous = held.cursor !== null && (kept.since === null || compareCursors(held.cursor, kept.since) >= 0)
  let joined: SessionView = { ...kept, rows: held.rows, gone: { ...held.gone, ...kept.gone }, before: held.before }
  for (const row of kept.rows) joined = applyRow(joined, row)
  const rows = joined.rows.filter(
    (row) => joined.gone[row.id] === undefined && !kept.queue.some((each) => each.id === row.id && each.rev > row.rev),
  )
  const approvals = held.approvals.filter((approval) => approval.status !== 'pending')
  return {
    ...joined,
    rows,
    approvals: kept.approvals.reduce<readonly Approval[]>(mergeApproval, approvals),
    since: continuous ? held.since : kept.since,
    loaded: continuous && held.loaded,
  }
}

/** A newest page that was read before the stream's first snapshot may miss rows in between: read it again. */
export function isPageTooOld(view: SessionView, page: TranscriptPage): boolean {
  return view.since !== null && compareCursors(page.cursor, view.since) < 0
}

/** The parts and metadata to show for a row: folded chunks while it is pending, its own when final. */
export function contentOf(view: SessionView, row: Message): MessageContent {
  const pending = row.status === 'pending' ? view.pending[row.id] : undefined
  return pending?.content ?? { parts: row.parts, metadata: row.metadata }
}

type HeadEvent = Extract<StreamEvent, { type: 'queue' | 'status' | 'turn' | 'retry' | 'compaction' | 'context-usage' | 'background' }>

function applyHead(view: SessionView, event: HeadEvent): SessionView {
  switch (event.type) {
    case 'queue':
      return { ...view, queue: view.queue.filter((row) => event.order.includes(row.id)) }
    case 'status':
      return { ...view, status: event.status, session: event.session }
    case 'turn':
      return applyTurn(view, event)
    case 'retry':
      return { ...view, retry: { ...pick(event) } }
    case 'compaction':
      return { ...view, compacting: event.phase === 'started' }
    case 'context-usage':
      return { ...view, contextUsage: event.usage }
    case 'background':
      return { ...view, background: event.tasks }
    default:
      return view
  }
}

function pick(event: Extract<StreamEvent, { type: 'retry' }>): RetryNote {
  const { messageId, attempt, maxAttempts, delayMs, reason } = event
  return { messageId, attempt, maxAttempts, delayMs, reason }
}

function applyTurn(view: SessionView, event: Extract<StreamEvent, { type: 'turn' }>): SessionView {
  if (event.phase === 'started') return { ...view, turn: event.turn }
  // After a row-roll the same turn goes on; its next `started` names the new row.
  if (event.boundary === 'row-roll' || view.turn?.turnId !== event.turnId) return view
  return { ...view, turn: null, retry: null }
}

function applySnapshot(view: SessionView, snapshot: SessionSnapshot, cursor: string): SessionView {
  const decided = view.approvals.filter((approval) => approval.status !== 'pending')
  const head: SessionView = {
    ...view,
    session: snapshot.session,
    status: snapshot.status,
    turn: snapshot.turn,
    approvals: snapshot.approvals.reduce<readonly Approval[]>(mergeApproval, decided),
    background: snapshot.background,
    contextUsage: snapshot.contextUsage,
    retry: null,
    compacting: snapshot.turn?.kind === 'compaction',
    since: view.since ?? cursor,
    removed: false,
  }
  return advance(applyQueue(head, snapshot.queue), cursor)
}

const isOld = (view: SessionView, cursor: string): boolean => view.cursor !== null && compareCursors(cursor, view.cursor) < 0

function advance(view: SessionView, cursor: string): SessionView {
  return view.cursor === cursor || isOld(view, cursor) ? view : { ...view, cursor }
}

/** A changed row older than the oldest held one: its page will bring it; alone it would stand beside a gap. */
function isBelowHeld(view: SessionView, row: Message): boolean {
  const oldest = view.rows[0]?.seq
  return row.seq !== null && view.before !== null && typeof oldest === 'number' && row.seq < oldest
}

/** An input that waits or needs a decision; all of them have no seq yet. */
function isWaiting(row: Message): boolean {
  return row.seq === null && row.inputState !== 'withdrawn' && row.inputState !== 'taken'
}

function applyRow(view: SessionView, row: Message): SessionView {
  if ((view.gone[row.id] ?? -1) >= row.rev) return view
  if (row.seq === null) {
    if (!isWaiting(row)) return dropRow(view, row.id, row.rev)
    const known = view.queue.find((each) => each.id === row.id) ?? view.rows.find((each) => each.id === row.id)
    if (known !== undefined && known.rev >= row.rev) return view
    const rows = view.rows.some((each) => each.id === row.id) ? view.rows.filter((each) => each.id !== row.id) : view.rows
    return { ...view, rows, queue: sortQueue([...view.queue.filter((each) => each.id !== row.id), row]) }
  }
  const waiting = view.queue.find((each) => each.id === row.id)
  if (waiting !== undefined && waiting.rev >= row.rev) return view
  const rows = insertBySeq(view.rows, row, row.seq)
  if (rows === view.rows) return view
  const queue = waiting === undefined ? view.queue : view.queue.filter((each) => each.id !== row.id)
  return settlePending({ ...view, rows, queue }, row)
}

/** Chunks of a row that is final are in the row. */
function settlePending(view: SessionView, row: Message): SessionView {
  if (row.status === 'pending' || view.pending[row.id] === undefined) return view
  return { ...view, pending: without(view.pending, row.id) }
}

function dropRow(view: SessionView, id: string, rev: number): SessionView {
  if ((view.gone[id] ?? -1) >= rev) return view
  const known = view.rows.find((row) => row.id === id) ?? view.queue.find((row) => row.id === id)
  if (known !== undefined && known.rev > rev) return view
  return {
    ...view,
    rows: view.rows.some((row) => row.id === id) ? view.rows.filter((row) => row.id !== id) : view.rows,
    queue: view.queue.filter((row) => row.id !== id),
    pending: without(view.pending, id),
    gone: { ...view.gone, [id]: rev },
  }
}

/** The queue as a whole: entries known in a newer form, taken or gone by now, are not put back. */
function applyQueue(view: SessionView, queue: readonly Message[]): SessionView {
  let next: SessionView = { ...view, queue: view.queue.filter((row) => queue.some((each) => each.id === row.id)) }
  for (const row of queue) next = applyRow(next, row)
  return next
}

function applyChunks(view: SessionView, event: Extract<StreamEvent, { type: 'chunk' }>): SessionView {
  const { messageId, n, chunks } = event
  if (view.gone[messageId] !== undefined) return view
  const row = view.rows.findLast((each) => each.id === messageId)
  if (row !== undefined && row.status !== 'pending') return view
  const had = view.pending[messageId] ?? { n: 0, content: emptyContent() }
  if (n > had.n + 1) return { ...view, gap: true }
  const fresh = chunks.slice(had.n + 1 - n)
  if (fresh.length === 0) return view
  const pending = { ...view.pending, [messageId]: { n: had.n + fresh.length, content: foldChunks(had.content, fresh) } }
  return { ...view, pending, retry: view.retry?.messageId === messageId ? null : view.retry }
}

function mergeApproval(approvals: readonly Approval[], approval: Approval): readonly Approval[] {
  const index = approvals.findIndex((each) => each.id === approval.id)
  const known = approvals[index]
  if (known === undefined) return [...approvals, approval].toSorted((a, b) => a.no - b.no)
  if (known.rev >= approval.rev) return approvals
  return approvals.map((each) => (each.id === approval.id ? approval : each))
}

/** Ids are UUIDv7, so they break ties in the order in which cards were made. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const sortQueue = (queue: Message[]): Message[] => queue.toSorted((a, b) => (a.queuePos ?? 0) - (b.queuePos ?? 0) || compare(a.id, b.id))

/** Puts the row at its seq, replacing an older form; the same array when the form held is as new. */
function insertBySeq(rows: Message[], row: Message, seq: number): Message[] {
  const at = lowerBound(rows, seq)
  const there = rows[at]
  if (there?.id === row.id) return there.rev >= row.rev ? rows : rows.with(at, row)
  const elsewhere = rows.find((each) => each.id === row.id)
  if (elsewhere !== undefined && elsewhere.rev >= row.rev) return rows
  const others = elsewhere === undefined ? rows : rows.filter((each) => each.id !== row.id)
  return others.toSpliced(lowerBound(others, seq), 0, row)
}

function lowerBound(rows: readonly Message[], seq: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.seq ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}

function without<T>(record: { [key: string]: T }, key: string): { [key: string]: T } {
  if (record[key] === undefined) return record
  const { [key]: _, ...rest } = record
  return rest
}

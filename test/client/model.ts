/**
 * A small host that follows PROTOCOL.md to the letter for one session: it changes at random, publishes
 * events, answers a cursor with what a reconnect gets, and a fresh read. The client is judged by it.
 */
import type {
  Approval,
  Json,
  LiveTurn,
  Message,
  Session,
  SessionSnapshot,
  StreamEvent,
  TranscriptPage,
  UIMessageChunk,
} from '../../packages/client/src/index.ts'
import { emptyContent, foldChunks, closeParts } from '../../packages/client/src/index.ts'

export const SESSION_ID = '01900000-0000-7000-8000-000000000001'
const AT = '2026-01-02T03:04:05.678Z'

/** What a generated step does; numbers pick a target among those that exist. */
export type Move =
  | { do: 'send' | 'open' | 'finish' | 'fail' | 'roll' | 'crash' | 'restart' | 'hold' | 'ask' | 'rename' | 'usage' }
  | { do: 'withdraw' | 'edit' | 'decide'; pick: number }
  | { do: 'chunks'; count: number }

export class ModelSession {
  epoch = 1
  rev = 1
  seq = 0
  ids = 0
  rows = new Map<string, Message>()
  approvals = new Map<string, Approval>()
  tombstones = new Map<string, number>()
  chunks = new Map<string, UIMessageChunk[]>()
  turn: LiveTurn | null = null
  name = 'first'
  used = 0

  /** Does the move when it is possible and returns what is published. */
  apply(move: Move): StreamEvent[] {
    switch (move.do) {
      case 'send':
        return this.change((rev) => [this.put({ id: this.newId(), queuePos: this.ids, inputState: 'queued', rev })])
      case 'open':
        return this.open()
      case 'chunks':
        return this.append(move.count)
      case 'finish':
        return this.close('success', null)
      case 'fail':
        return this.close('error', 'PROVIDER_ERROR')
      case 'roll':
        return this.roll()
      case 'crash':
        return this.crash()
      case 'restart':
        return this.reconnected(() => {
          this.epoch += 1
        })
      case 'hold':
        return this.change((rev) => this.waiting().map((row) => this.put({ ...row, inputState: 'held', heldReason: 'stopped', rev })))
      case 'withdraw':
        return this.onWaiting(move.pick, (row, rev) => this.put({ ...row, inputState: 'withdrawn', queuePos: null, rev }))
      case 'edit':
        return this.onWaiting(move.pick, (row, rev) => this.put({ ...row, parts: [{ type: 'text', text: `edited ${String(rev)}` }], rev }))
      case 'ask':
        return this.ask()
      case 'decide':
        return this.decide(move.pick)
      case 'rename':
        this.name = `name ${String(this.rev)}`
        return this.change(() => [])
      case 'usage':
        this.used += 1
        return [{ ...this.of(this.cursor()), type: 'context-usage', usage: { usedTokens: this.used, maxTokens: null } }]
    }
  }

  cursor(rev = this.rev, n = this.pendingCount()): string {
    return `${String(this.epoch)}.${String(rev)}.${String(n)}`
  }

  session(): Session {
    return {
      id: SESSION_ID,
      rev: this.rev,
      agentId: null,
      name: this.name,
      description: '',
      workspace: { kind: 'system', path: '/w' },
      status: this.turn === null ? 'idle' : 'working',
      queued: this.waiting().length,
      held: 0,
      needsYou: 0,
      lastText: '',
      createdAt: AT,
      updatedAt: AT,
    }
  }

  snapshot(): SessionSnapshot {
    return {
      session: this.session(),
      status: this.session().status,
      turn: this.turn,
      queue: this.waiting(),
      approvals: [...this.approvals.values()].filter((approval) => approval.status === 'pending'),
      background: [],
      contextUsage: this.used === 0 ? null : { usedTokens: this.used, maxTokens: null },
      cursor: this.cursor(this.rev, 0),
    }
  }

  transcript(): Message[] {
    return [...this.rows.values()].filter((row) => row.seq !== null).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
  }

  page(limit: number, before: number | null): TranscriptPage {
    const all = this.transcript().filter((row) => before === null || (row.seq ?? 0) < before)
    const items = all.slice(-limit)
    return {
      items,
      before: items.length < all.length ? String(items[0]?.seq) : null,
      cursor: this.cursor(this.rev, 0),
    }
  }

  /** The beginning of a connection (PROTOCOL.md, "How a connection begins"); null = no cursor. */
  begin(cursor: string | null): StreamEvent[] {
    if (cursor === null) {
      const snapshot = this.snapshot()
      return [{ ...this.of(snapshot.cursor), type: 'snapshot', snapshot }, ...this.replay(() => 0)]
    }
    const [, rev = 0, n = 0] = cursor.split('.').map(Number)
    const events: StreamEvent[] = [{ ...this.of(cursor), type: 'snapshot', snapshot: this.snapshot() }]
    for (const [messageId, at] of this.tombstones) if (at > rev) events.push({ ...this.of(cursor), type: 'row-removed', messageId })
    for (const row of this.rows.values()) if (row.rev > rev) events.push({ ...this.of(cursor), type: 'row', row })
    for (const approval of this.approvals.values()) if (approval.rev > rev) events.push({ ...this.of(cursor), type: 'approval', approval })
    const reached = (row: Message): number => (row.rev > rev ? 0 : n)
    const pending = this.pending()
    const last = events.at(-1)
    if (last !== undefined && 'cursor' in last)
      events[events.length - 1] = { ...last, cursor: this.cursor(this.rev, pending === null ? 0 : reached(pending)) }
    return [...events, ...this.replay(reached)]
  }

  private replay(reached: (row: Message) => number): StreamEvent[] {
    const row = this.pending()
    if (row === null) return []
    const from = reached(row)
    const chunks = (this.chunks.get(row.id) ?? []).slice(from)
    return chunks.length === 0 ? [] : [{ ...this.of(this.cursor()), type: 'chunk', messageId: row.id, n: from + 1, chunks }]
  }

  private of(cursor: string): { sessionId: string; cursor: string } {
    return { sessionId: SESSION_ID, cursor }
  }

  private newId(): string {
    this.ids += 1
    return `01900000-0000-7000-8000-${String(this.ids).padStart(12, '0')}`
  }

  private put(change: Partial<Message> & { id: string }): Message {
    const old = this.rows.get(change.id)
    const row: Message = {
      sessionId: SESSION_ID,
      seq: null,
      rev: this.rev,
      queuePos: null,
      role: 'user',
      status: null,
      errorCode: null,
      errorText: null,
      inputState: null,
      heldReason: null,
      unanswered: false,
      origin: 'interactive',
      headless: false,
      parts: [{ type: 'text', text: `text ${change.id.slice(-3)}` }],
      metadata: {},
      modelId: null,
      turnId: null,
      replyTo: null,
      rollOf: null,
      boundary: null,
      stopRequestedAt: null,
      sentBy: null,
      idempotencyKey: null,
      delivery: null,
      deliveryStatus: null,
      createdAt: AT,
      updatedAt: AT,
      ...old,
      ...change,
    }
    this.rows.set(row.id, row)
    return row
  }

  private waiting(): Message[] {
    return [...this.rows.values()]
      .filter((row) => row.seq === null && (row.inputState === 'queued' || row.inputState === 'held'))
      .toSorted((a, b) => (a.queuePos ?? 0) - (b.queuePos ?? 0))
  }

  private pending(): Message | null {
    return [...this.rows.values()].find((row) => row.status === 'pending') ?? null
  }

  private pendingCount(): number {
    const row = this.pending()
    return row === null ? 0 : (this.chunks.get(row.id)?.length ?? 0)
  }

  /** One saved change: its rows, then approvals, removals, queue; only the last carries the new cursor; then the head events. */
  private change(
    write: (rev: number) => Message[],
    more: { approvals?: Approval[]; removed?: string[]; head?: StreamEvent[] } = {},
  ): StreamEvent[] {
    const before = this.cursor()
    this.rev += 1
    const rows = write(this.rev)
    const events: StreamEvent[] = []
    for (const messageId of more.removed ?? []) events.push({ ...this.of(before), type: 'row-removed', messageId })
    for (const row of rows) events.push({ ...this.of(before), type: 'row', row })
    for (const approval of more.approvals ?? []) events.push({ ...this.of(before), type: 'approval', approval })
    if (rows.some((row) => row.role === 'user'))
      events.push({ ...this.of(before), type: 'queue', order: this.waiting().map((row) => row.id) })
    const after = this.cursor()
    const last = events.at(-1)
    if (last !== undefined && 'cursor' in last) events[events.length - 1] = { ...last, cursor: after }
    for (const event of more.head ?? []) events.push({ ...event, ...this.of(after) })
    events.push({ ...this.of(after), type: 'status', status: this.session().status, session: this.session() })
    return events
  }

  private onWaiting(pick: number, edit: (row: Message, rev: number) => Message): StreamEvent[] {
    const waiting = this.waiting()
    const row = waiting[pick % Math.max(1, waiting.length)]
    return row === undefined ? [] : this.change((rev) => [edit(row, rev)])
  }

  private open(): StreamEvent[] {
    const input = this.waiting()[0]
    if (input === undefined || this.turn !== null) return []
    const messageId = this.newId()
    const turnId = this.newId()
    this.turn = { turnId, messageId, phase: 'open', kind: 'user', headless: false, stalled: false, startedAt: AT }
    this.chunks.set(messageId, [])
    return this.change(
      (rev) => [
        this.put({ ...input, seq: (this.seq += 1), queuePos: null, inputState: 'taken', heldReason: null, turnId, rev }),
        this.put({ id: messageId, role: 'assistant', status: 'pending', seq: (this.seq += 1), parts: [], turnId, rev }),
      ],
      { head: [{ ...this.of(''), type: 'turn', phase: 'started', turn: this.turn }] },
    )
  }

  private append(count: number): StreamEvent[] {
    const row = this.pending()
    const log = row === null ? undefined : this.chunks.get(row.id)
    if (row === null || log === undefined || count === 0) return []
    const n = log.length + 1
    const chunks = Array.from({ length: count }, (_, index) => chunkAt(n + index))
    log.push(...chunks)
    return [{ ...this.of(this.cursor()), type: 'chunk', messageId: row.id, n, chunks }]
  }

  private closed(row: Message, status: Message['status'], errorCode: string | null, boundary: 'turn' | 'row-roll', rev: number): Message {
    const { parts, metadata } = closeParts(foldChunks(emptyContent(), this.chunks.get(row.id) ?? []), 'ended')
    return this.put({ ...row, status, errorCode, parts, metadata, boundary, rev })
  }

  private close(status: 'success' | 'error', code: string | null): StreamEvent[] {
    const row = this.pending()
    const turn = this.turn
    if (row === null || turn === null) return []
    this.turn = null
    return this.change((rev) => [this.closed(row, status, code, 'turn', rev)], {
      approvals: this.expire(),
      head: [{ ...this.of(''), type: 'turn', phase: 'ended', turnId: turn.turnId, messageId: row.id, boundary: 'turn' }],
    })
  }

  private roll(): StreamEvent[] {
    const row = this.pending()
    const turn = this.turn
    const steer = this.waiting()[0]
    if (row === null || turn === null || steer === undefined) return []
    const messageId = this.newId()
    this.turn = { ...turn, messageId }
    this.chunks.set(messageId, [])
    return this.change(
      (rev) => [
        this.closed(row, 'success', null, 'row-roll', rev),
        this.put({ ...steer, seq: (this.seq += 1), queuePos: null, inputState: 'taken', heldReason: null, rev }),
        this.put({ id: messageId, role: 'assistant', status: 'pending', seq: (this.seq += 1), parts: [], rollOf: row.id, rev }),
      ],
      {
        head: [
          { ...this.of(''), type: 'turn', phase: 'ended', turnId: turn.turnId, messageId: row.id, boundary: 'row-roll' },
          { ...this.of(''), type: 'turn', phase: 'started', turn: this.turn },
        ],
      },
    )
  }

  /** The host died before the send: the input goes back to the queue, its assistant row leaves a tombstone. */
  private crash(): StreamEvent[] {
    const row = this.pending()
    const turn = this.turn
    const input = this.transcript().findLast((each) => each.role === 'user')
    if (row === null || turn === null || input === undefined || (this.chunks.get(row.id)?.length ?? 0) > 0 || row.rollOf !== null) return []
    return this.reconnected(() => this.undo(row, input))
  }

  /** A restart ends every stream; a reader goes on by what its next connection begins with. */
  private reconnected(restart: () => void): StreamEvent[] {
    const cursor = this.cursor()
    restart()
    return this.begin(cursor)
  }

  private undo(row: Message, input: Message): void {
    this.turn = null
    this.epoch += 1
    this.rows.delete(row.id)
    this.tombstones.set(row.id, this.rev + 1)
    this.change((rev) => [this.put({ ...input, seq: null, queuePos: 0, inputState: 'queued', turnId: null, rev })], {
      removed: [row.id],
    })
  }

  private ask(): StreamEvent[] {
    const row = this.pending()
    const turn = this.turn
    if (row === null || turn === null) return []
    const id = this.newId()
    const approval: Approval = {
      id,
      sessionId: SESSION_ID,
      rev: this.rev + 1,
      messageId: row.id,
      turnId: turn.turnId,
      kind: 'tool',
      toolCallId: `call-${id}`,
      toolName: 'Bash',
      input: { command: 'true' },
      status: 'pending',
      reason: null,
      decidedBy: null,
      no: this.rev + 1,
      // The clock may step back between two of them.
      requestedAt: new Date(Date.parse(AT) - this.rev * 1000).toISOString(),
      decidedAt: null,
      appliedAt: null,
    }
    this.approvals.set(id, approval)
    return this.change(() => [], { approvals: [approval] })
  }

  private decide(pick: number): StreamEvent[] {
    const open = [...this.approvals.values()].filter((approval) => approval.status === 'pending')
    const chosen = open[pick % Math.max(1, open.length)]
    if (chosen === undefined) return []
    const approval: Approval = { ...chosen, status: 'allowed', decidedBy: 'p', decidedAt: AT, rev: this.rev + 1 }
    this.approvals.set(approval.id, approval)
    return this.change(() => [], { approvals: [approval] })
  }

  private expire(): Approval[] {
    const expired: Approval[] = []
    for (const approval of this.approvals.values()) {
      if (approval.status !== 'pending') continue
      expired.push({ ...approval, status: 'expired', reason: 'turn ended', rev: this.rev + 1 })
    }
    for (const approval of expired) this.approvals.set(approval.id, approval)
    return expired
  }
}

const KINDS: readonly ((n: number) => UIMessageChunk)[] = [
  () => ({ type: 'start-step' }),
  (n) => ({ type: 'reasoning-start', id: `r${String(n)}` }),
  (n) => ({ type: 'reasoning-delta', id: 'r', delta: `think ${String(n)} ` }),
  () => ({ type: 'reasoning-end', id: 'r' }),
  (n) => ({ type: 'text-start', id: `t${String(n)}` }),
  (n) => ({ type: 'text-delta', id: 't', delta: `word ${String(n)} ` }),
  (n) => ({ type: 'text-delta', id: 't', delta: `字${String(n)}` }),
  () => ({ type: 'text-end', id: 't' }),
  (n) => ({ type: 'tool-input-start', toolCallId: `c${String(n)}`, toolName: 'Bash', dynamic: true }),
  (n) => ({ type: 'tool-input-available', toolCallId: `c${String(n - 1)}`, toolName: 'Bash', input: { command: 'ls' }, dynamic: true }),
  (n) => ({ type: 'tool-output-available', toolCallId: `c${String(n - 2)}`, output: `out ${String(n)}` as Json, dynamic: true }),
  (n) => ({ type: 'message-metadata', messageMetadata: { last: n } }),
]

function chunkAt(n: number): UIMessageChunk {
  const make = KINDS[(n - 1) % KINDS.length]
  if (make === undefined) throw new Error('no kind')
  return make(n)
}

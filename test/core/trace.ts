/**
 * Scenario scripts: events in, the whole trace out. A script line is an event with its fields; the
 * lines behind it that begin with `  ` are what the step wrote (`w`), did (`e`) and became (`=`).
 * They are compared whole, so that a change of the core shows as a diff.
 *
 *   message-submitted input.id=m1
 *     w insert-input m1 taken seq=1
 *     e connect generation=1
 *     = connecting(1) turn t1 starting
 *
 * Ids made in step N are tN (turn), rN (row) and xN (spare). `boot` rebuilds the session from the
 * rows that its writes made in a real store, as a start of the host does.
 */
import { furnishStore } from '../../sim/furnish.ts'
import type { Event } from '../../packages/runtime/src/core/event.ts'
import type { Effect } from '../../packages/runtime/src/core/effect.ts'
import { load } from '../../packages/runtime/src/core/recovery.ts'
import { step } from '../../packages/runtime/src/core/step.ts'
import type { Session, Turn } from '../../packages/runtime/src/core/types.ts'
import { sessionStatus } from '../../packages/runtime/src/core/view.ts'
import type { Write } from '../../packages/runtime/src/core/write.ts'
import { openSqliteStore } from '../../packages/runtime/src/store/sqlite/open.ts'
import type { ResolvedContent, Store } from '../../packages/runtime/src/store/store.ts'

const AT = '2026-01-01T00:00:00.000Z'
const ID = 'S'

/** Runs a script and returns it with its trace; the trace lines it came with are dropped. */
export function runScript(script: string): string {
  const store = furnished()
  try {
    const rows = store.loadSession(ID)
    if (rows === null) throw new Error('the session is missing')
    let session = load(rows, false)
    let serial = 0
    const out: string[] = []
    for (const line of script.split('\n')) {
      if (line.startsWith('  ')) continue
      out.push(line)
      if (line.trim() === '' || line.startsWith('#')) continue
      serial += 1
      const event = parse(line, serial, session)
      if (event.type === 'recovered') session = load(store.loadSession(ID) ?? rows, false)
      const result = step(session, event)
      if (result.writes.length > 0) save(store, session, result.session, result.writes)
      session = result.session
      if (result.dropped) out.push('  dropped')
      out.push(
        ...result.writes.map((write) => `  w ${showWrite(write)}`),
        ...result.effects.filter(shown).map((effect) => `  e ${showEffect(effect)}`),
        `  = ${showSession(session)}`,
      )
    }
    return out.join('\n')
  } finally {
    store.close()
  }
}

function furnished(): Store {
  const store = openSqliteStore({ path: ':memory:' })
  furnishStore(store, 'scripted', [ID, 'OTHER'], AT)
  for (const id of ['d1', 'd2'])
    store.acceptDelivery({
      id,
      sessionId: ID,
      senderSessionId: 'OTHER',
      reply: 'completion',
      toolCallId: null,
      bodyHash: null,
      parts: [{ type: 'text', text: id }],
      display: {},
      at: AT,
    })
  return store
}

/** Saves for real: a write that the store would refuse fails the script. */
function save(store: Store, before: Session, after: Session, writes: readonly Write[]): void {
  const content: ResolvedContent = {}
  for (const write of writes) {
    if (write.type === 'close-turn') content[write.messageId] = { parts: [], metadata: {} }
    if (write.type === 'insert-result') content[write.row.id] = { parts: [], metadata: {} }
  }
  const result = store.commit(
    { sessionId: ID, expectedRev: before.rev, at: AT, lastSeq: after.lastSeq, lastQueuePos: after.lastQueuePos, writes },
    content,
  )
  if (result.outcome !== 'done') throw new Error(`the store answers ${JSON.stringify(result)} to ${JSON.stringify(writes)}`)
}

// ---- events

/** Fields that a script need not spell out. */
const DEFAULTS: { [type: string]: object } = {
  'message-submitted': {
    steerable: true,
    input: {
      parts: [{ type: 'text', text: 'x' }],
      when: 'steer',
      origin: 'interactive',
      headless: false,
      sentBy: 'p',
      idempotencyKey: null,
      bodyHash: null,
      modelId: 'm',
    },
  },
  'stop-requested': { turnId: null, queue: 'hold', by: 'p' },
  'approval-answered': { decision: { allow: true, reason: null, updatedInput: {}, answers: null }, by: 'p' },
  'delivery-found': { delivery: { resultTo: 'OTHER' }, agentRev: 1, modelId: 'm' },
  'compact-requested': { modelId: 'm' },
  'message-edited': { parts: [{ type: 'text', text: 'edited' }] },
}
const DRIVER_DEFAULTS: { [type: string]: object } = {
  connected: { resumed: false },
  'connection-closed': { code: null, message: '' },
  chunk: { chunks: [{ type: 'text-delta', id: '1', delta: 'x' }] },
  'tool-approval-request': { request: { kind: 'tool', toolCallId: 'call', toolName: 'Bash', input: {} } },
  'tool-approval-withdrawn': { reason: 'gone' },
  'turn-complete': { outcome: 'success' },
  error: { code: 'PROVIDER_ERROR', message: 'no', status: 500 },
  'compaction-start': { trigger: 'auto' },
  'compaction-complete': { anchor: 'a' },
  'compaction-error': { message: 'no' },
  'autonomous-turn-state': { state: 'started' },
  usage: {
    usage: { modelId: 'm', inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheWriteTokens: null, ttftMs: null, durationMs: null },
  },
}

const COMMANDS = /^(?:message-|queue-|stop-requested|approval-answered|compact-requested|session-(?:updated|deleted|released))/

function parse(line: string, serial: number, session: Session): Event {
  const words = line.trim().split(/\s+/)
  const stamp = { at: AT, turnId: `t${serial}`, messageId: `r${serial}`, spareId: `x${serial}` }
  if (words[0] === 'driver') {
    const generation =
      words[1]?.startsWith('#') === true
        ? Number(words.splice(1, 1)[0]?.slice(1))
        : session.connection.phase === 'none'
          ? 0
          : session.connection.generation
    const type = words[1] ?? ''
    return { type: 'driver', generation, stamp, event: { type, ...fields(words.slice(2), DRIVER_DEFAULTS[type]) } } as Event
  }
  const type = words[0] ?? ''
  const look = type.startsWith('delivery-') ? { look: session.seeking?.look ?? 'none' } : {}
  return {
    type,
    ...(COMMANDS.test(type) ? { commandId: 'c' } : {}),
    ...look,
    stamp,
    ...fields(words.slice(1), DEFAULTS[type]),
  } as unknown as Event
}

function fields(words: readonly string[], defaults: object = {}): object {
  const made = structuredClone(defaults) as { [key: string]: unknown }
  for (const word of words) {
    const [path = '', ...rest] = word.split('=')
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    let into = made
    for (const key of keys) into = (into[key] ??= {}) as { [key: string]: unknown }
    into[last] = valueOf(rest.join('='))
  }
  return made
}

function valueOf(text: string): unknown {
  if (/^(?:[[{"]|null$|true$|false$|-?\d)/.test(text)) return JSON.parse(text)
  return text.includes(',') ? text.split(',') : text
}

// ---- traces

/** What only windows see says nothing about a decision. */
const shown = (effect: Effect): boolean => effect.type !== 'publish-status' && effect.type !== 'cancel-timer'

function show(value: object, skip: readonly string[]): string {
  return Object.entries(value)
    .filter(([key, each]) => !skip.includes(key) && each !== null && each !== false)
    .map(([key, each]) => `${key}=${typeof each === 'object' ? JSON.stringify(each) : String(each)}`)
    .join(' ')
}

function showWrite(write: Write): string {
  switch (write.type) {
    case 'insert-input':
    case 'open-turn':
      return `${write.type} ${write.row.id} ${show(write.row, ['id', 'parts', 'sentBy', 'origin', 'modelId'])}`
    case 'insert-approval':
    case 'insert-result':
      return `${write.type} ${write.row.id} ${show(write.row, ['id', 'input', 'toolName', 'toolCallId', 'kind', 'reason'])}`
    case 'record-usage':
      return `${write.type} ${write.messageId} ${write.usage.requestId}`
    default:
      return `${write.type} ${show(write, ['type', 'content', 'parts', 'by'])}`
  }
}

const showEffect = (effect: Effect): string =>
  effect.type === 'reply'
    ? `reply ${effect.answer.ok ? `ok ${show(effect.answer, ['ok'])}`.trimEnd() : effect.answer.code}`
    : `${effect.type} ${show(effect, ['type', 'look', 'chunks', 'turn'])} ${dataOf(effect)}`.trimEnd()

/** What text says is the agent's; what a data part says is the core's. */
const dataOf = (effect: Effect): string =>
  effect.type === 'publish-turn' && effect.phase === 'started'
    ? `${effect.turn.turnId} ${effect.turn.phase}`
    : effect.type === 'journal-chunks'
      ? effect.chunks.flatMap((chunk) => ('data' in chunk ? [JSON.stringify(chunk.data)] : [])).join(' ')
      : ''

function showSession(s: Session): string {
  const { connection } = s
  const turn = (name: string, each: Turn | null): string[] =>
    each === null ? [] : [`${name} ${each.id} ${each.stop === null ? each.phase : 'stopping'} in ${each.messageId}`]
  const queue = s.queue.map((input) => `${input.id}:${input.heldReason ?? input.state}${input.consumed ? '!' : ''}`)
  return [
    `rev ${s.rev} ${sessionStatus(s)}`,
    connection.phase === 'none' ? 'unconnected' : `${connection.phase} ${connection.generation}${connection.stale ? ' stale' : ''}`,
    ...turn('turn', s.turn),
    ...turn('deferred', s.deferred),
    ...(queue.length === 0 ? [] : [`queue ${queue.join(' ')}`]),
    ...(s.seeking === null ? [] : ['seeking']),
    ...(s.finalizing === null ? [] : [`finalizing ${s.finalizing.delivery.id}`]),
    ...(s.held ? ['held'] : []),
    ...(s.phase === 'active' ? [] : [s.phase]),
  ].join(' | ')
}

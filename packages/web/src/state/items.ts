/**
 * The transcript as a flat list of blocks, the unit that is measured, drawn and memoised. Pure. A
 * block keeps its identity as long as what it shows does not change, so a stream redraws one block.
 */
import { contentOf, type Message, type MessagePart, type SessionView, type ToolPart } from '@wheelhouse/client'
import { dayKey } from './format.ts'
import type { OutboxItem } from './outbox.ts'

type Base = { key: string; /** Space above, in steps of the grid. */ gap: 0 | 1 | 2 | 3 }

export type Item = Base &
  (
    | { kind: 'day'; at: string }
    | { kind: 'user'; row: Message; text: string; steered: boolean }
    | { kind: 'sending'; item: OutboxItem }
    | { kind: 'text'; rowId: string; text: string; streaming: boolean }
    | { kind: 'reasoning'; rowId: string; text: string; streaming: boolean; durationMs: number | null }
    | { kind: 'tool'; rowId: string; part: ToolPart; running: boolean; durationMs: number | null }
    | { kind: 'file'; rowId: string; url: string; mediaType: string; name: string }
    | { kind: 'source'; rowId: string; url: string; title: string }
    | { kind: 'note'; rowId: string; code: string; text: string }
    | { kind: 'end'; row: Message; /** When the turn began; a steer may have closed rows of it before. */ startedAt: string; last: boolean }
    | { kind: 'live'; messageId: string | null }
  )

/** Blocks of the session, oldest first. `sending` are messages of this tab that have no row yet. */
export function buildItems(view: SessionView, sending: readonly OutboxItem[]): Item[] {
  const { items: settled, upTo } = settledPrefix(view.rows)
  const items = settled.slice()
  for (let index = upTo; index < view.rows.length; index += 1) pushRow(items, view.rows, index, view)
  for (const item of sending) items.push({ kind: 'sending', key: `sending-${item.key}`, gap: 3, item })
  if (view.turn !== null) items.push({ kind: 'live', key: 'live', gap: 1, messageId: view.turn.messageId })
  return items
}

const prefixes = new WeakMap<readonly Message[], { items: Item[]; upTo: number }>()

/** The blocks before the first row that still changes, kept while the rows are the same. */
function settledPrefix(rows: readonly Message[]): { items: Item[]; upTo: number } {
  const known = prefixes.get(rows)
  if (known !== undefined) return known
  const items: Item[] = []
  const firstOpen = rows.findIndex((row) => row.status === 'pending')
  // The last row's end and a steer's mark depend on what follows.
  const upTo = Math.max(0, (firstOpen < 0 ? rows.length : firstOpen) - 2)
  for (let index = 0; index < upTo; index += 1) pushRow(items, rows, index, null)
  const made = { items, upTo }
  prefixes.set(rows, made)
  return made
}

function pushRow(items: Item[], rows: readonly Message[], index: number, view: SessionView | null): void {
  const row = rows[index]
  if (row === undefined) return
  const before = rows[index - 1]
  if (before === undefined || dayOf(row) !== dayOf(before)) items.push({ kind: 'day', key: `day-${row.id}`, gap: 3, at: row.createdAt })
  if (row.role === 'user') {
    items.push(
      once(userItems, row, () => ({ kind: 'user', key: row.id, gap: 3, row, text: textOf(row.parts), steered: false }), rows[index + 1]),
    )
    return
  }
  const { parts, metadata } = view === null ? row : contentOf(view, row)
  const timings = timingsOf(metadata)
  parts.forEach((part, at) => {
    const item = partItem(row, part, at, timings)
    if (item !== null) items.push(spaced(item, items.at(-1)))
  })
  if (row.status === 'pending' || row.boundary === 'row-roll') return
  items.push({
    kind: 'end',
    key: `end-${row.id}`,
    gap: row.status === 'success' ? 1 : 2,
    row,
    startedAt: turnStart(rows, index),
    last: index === rows.length - 1,
  })
}

function turnStart(rows: readonly Message[], index: number): string {
  const row = rows[index]
  if (row === undefined) return ''
  const before = row.rollOf === null ? -1 : rows.findLastIndex((each, at) => at < index && each.id === row.rollOf)
  return before < 0 ? row.createdAt : turnStart(rows, before)
}

const userItems = new WeakMap<Message, Item>()

function once(cache: WeakMap<Message, Item>, row: Message, make: () => Item, next: Message | undefined): Item {
  const steered = next?.rollOf != null
  const known = cache.get(row)
  if (known?.kind === 'user' && known.steered === steered) return known
  const made = { ...make(), steered } as Item
  cache.set(row, made)
  return made
}

const days = new WeakMap<Message, string>()
function dayOf(row: Message): string {
  const day = days.get(row) ?? dayKey(row.createdAt)
  days.set(row, day)
  return day
}

const partItems = new WeakMap<MessagePart, Item | { kind: 'none' }>()

function partItem(row: Message, part: MessagePart, at: number, timings: Timings): Item | null {
  const known = partItems.get(part)
  if (known !== undefined && !isLate(known, part, timings)) return known.kind === 'none' ? null : known
  const made = makePart(row, part, `${row.id}-${String(at)}`, timings)
  partItems.set(part, made ?? { kind: 'none' })
  return made
}

/** How long a call ran is told after its output. */
function isLate(item: Item | { kind: 'none' }, part: MessagePart, timings: Timings): boolean {
  return item.kind === 'tool' && part.type === 'dynamic-tool' && item.durationMs !== (timings[part.toolCallId] ?? null)
}

function makePart(row: Message, part: MessagePart, key: string, timings: Timings): Item | null {
  const base = { key, gap: 2, rowId: row.id } as const
  if (isData(part)) return noteOf(base, part)
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? null : { ...base, kind: 'text', text: part.text, streaming: part.state === 'streaming' }
    case 'reasoning': {
      const streaming = part.state === 'streaming'
      if (part.text.trim() === '' && !streaming) return null
      return { ...base, kind: 'reasoning', text: part.text, streaming, durationMs: ownDuration(part) }
    }
    case 'dynamic-tool':
      return {
        ...base,
        kind: 'tool',
        part,
        running: row.status === 'pending' && !isDone(part),
        durationMs: timings[part.toolCallId] ?? null,
      }
    case 'file':
      return { ...base, kind: 'file', url: part.url, mediaType: part.mediaType, name: part.filename ?? '' }
    case 'source-url':
      return { ...base, kind: 'source', url: part.url, title: part.title ?? part.url }
    default:
      return null
  }
}

/** What is told inside a message: that the context was lost, or was summarised. Unknown data is nothing a person reads. */
function noteOf(base: Base & { rowId: string }, part: Extract<MessagePart, { type: `data-${string}` }>): Item | null {
  const { data } = part
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null
  const { code, text, phase, detail } = data
  if (part.type === 'data-compaction' && typeof phase === 'string')
    return { ...base, kind: 'note', code: `compaction-${phase}`, text: typeof detail === 'string' ? detail : '' }
  return typeof text === 'string' ? { ...base, kind: 'note', code: typeof code === 'string' ? code : '', text } : null
}

const isData = (part: MessagePart): part is Extract<MessagePart, { type: `data-${string}` }> => part.type.startsWith('data-')

const isDone = (part: ToolPart): boolean =>
  part.state === 'output-error' || part.state === 'output-denied' || (part.state === 'output-available' && part.preliminary !== true)

/** Calls in a row stand close together, like the lines of one list. */
function spaced(item: Item, before: Item | undefined): Item {
  const close = (kind: Item['kind'] | undefined): boolean => kind === 'tool' || kind === 'reasoning'
  const gap = close(item.kind) && close(before?.kind) ? 0 : 2
  if (item.gap === gap) return item
  const known = tight.get(item)
  if (known !== undefined) return known
  const made = { ...item, gap } as Item
  tight.set(item, made)
  return made
}
const tight = new WeakMap<Item, Item>()

type Timings = { readonly [toolCallId: string]: number }

/** `metadata.toolMs[toolCallId]`: milliseconds a call ran, approvals not counted. */
function timingsOf(metadata: Message['metadata']): Timings {
  const timings = metadata['toolMs']
  if (typeof timings !== 'object' || timings === null || Array.isArray(timings)) return {}
  return Object.fromEntries(Object.entries(timings).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
}

/** `providerMetadata.wheelhouse.durationMs` of a reasoning part. */
function ownDuration(part: Extract<MessagePart, { type: 'reasoning' }>): number | null {
  const value = part.providerMetadata?.['wheelhouse']?.['durationMs']
  return typeof value === 'number' ? value : null
}

/** The words of a message. */
export function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

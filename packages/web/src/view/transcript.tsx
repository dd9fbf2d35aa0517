/** The transcript: a virtual list of blocks that follows the end only while it is at the end. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { buildItems, type Item } from '../state/items.ts'
import { loadOlder } from '../state/sessions.ts'
import { useApp } from '../state/store.ts'
import { Block } from './block.tsx'
import { useKeys, isTyping } from './keys.ts'
import { useStick } from './stick.ts'
import { cx } from './ui.tsx'

/** Heights before a block was measured. */
const ESTIMATES: { readonly [kind in Item['kind']]: number } = {
  day: 44,
  user: 76,
  sending: 76,
  text: 110,
  reasoning: 28,
  tool: 30,
  file: 40,
  source: 30,
  note: 40,
  end: 30,
  live: 36,
}
const FAR = 1e9
/** A transcript shorter than this may not fill a screen: its older page is read at once. */
const SHORT_PX = 2_000
/** Older pages are read this many blocks before the first one comes into sight. */
const OLDER_AHEAD = 30
const GAPS = ['pt-0.5', 'pt-1.5', 'pt-3.5', 'pt-7'] as const

export function Transcript({ view, target }: { view: SessionView; target: string | null }) {
  const outbox = useApp((state) => state.outbox)
  const items = useMemo(() => {
    // While nothing runs, what is sent stands where its row will be; otherwise it waits in the queue strip.
    const sending = view.turn === null && view.queue.length === 0 ? outbox.filter((item) => item.sessionId === view.sessionId) : []
    return buildItems(view, sending)
  }, [view, outbox])
  return items.length === 0 ? <Empty /> : <List view={view} items={items} target={target} />
}

function List({ view, items, target }: { view: SessionView; items: Item[]; target: string | null }) {
  const m = useMessages()
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATES[items[index]?.kind ?? 'text'],
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    // Older pages go in front without moving what is read.
    anchorTo: 'end',
    // Far behind the end, so that the first blocks drawn are the last ones.
    initialOffset: target === null ? FAR : 0,
    paddingStart: 8,
    paddingEnd: 24,
  })
  const { atEnd, toEnd } = useStick(scroller, content, target === null)
  const flash = useTarget(view, items, target, (index) => list.scrollToIndex(index, { align: 'start' }))
  const first = list.getVirtualItems()[0]?.index ?? 0
  const isShort = list.getTotalSize() < SHORT_PX
  const needsOlder = first < OLDER_AHEAD && (!atEnd || isShort)
  useEffect(() => {
    if (needsOlder) void loadOlder(view.sessionId)
  }, [needsOlder, view.sessionId, view.before])

  useKeys((event) => {
    if (event.key === 'g' && !isTyping(event) && !event.metaKey && !event.ctrlKey && !event.altKey) return toEnd()
    return false
  })

  return (
    <div className="relative min-h-0 grow">
      <div
        ref={scroller}
        role="log"
        aria-label={m.transcript}
        aria-busy={view.turn !== null}
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain px-4 [overflow-anchor:none] focus-visible:outline-offset-[-2px] max-md:px-3"
      >
        <div ref={content} className="relative mx-auto w-full max-w-[76ch]" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((place) => {
            const item = items[place.index]
            if (item === undefined) return null
            return (
              <div
                key={place.key}
                ref={list.measureElement}
                data-index={place.index}
                className={cx('absolute inset-x-0 top-0', GAPS[item.gap], flash !== null && item.key === flash && 'jump')}
                style={{ transform: `translateY(${String(place.start)}px)` }}
              >
                <Block item={item} />
              </div>
            )
          })}
        </div>
      </div>
      {!atEnd && <ToNewest streaming={view.turn !== null} onClick={toEnd} />}
      <Announcer view={view} />
    </div>
  )
}

/** Goes to the message the address names, reading older pages until it is there. Returns its key once it was found. */
function useTarget(view: SessionView, items: Item[], target: string | null, show: (index: number) => void): string | null {
  const [found, setFound] = useState<string | null>(null)
  useEffect(() => {
    if (target === null || found === target) return
    const index = items.findIndex((item) => item.key.startsWith(target))
    if (index < 0) return void loadOlder(view.sessionId)
    setFound(target)
    show(index)
  })
  return found
}

function ToNewest({ streaming, onClick }: { streaming: boolean; onClick: () => void }) {
  const m = useMessages()
  return (
    <button
      type="button"
      onClick={onClick}
      className="absolute bottom-3 left-1/2 flex h-8 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line-strong bg-raised px-3 text-sm text-muted shadow-float hover:text-text"
    >
      <ArrowDown size={14} aria-hidden />
      {streaming ? m.newBelow : m.toNewest}
    </button>
  )
}

/** Reads out that a turn began, waits or ended, and not every word of it. */
function Announcer({ view }: { view: SessionView }) {
  const m = useMessages()
  const last = view.rows.at(-1)
  const waits = view.approvals.some((approval) => approval.status === 'pending')
  const ended =
    last?.role === 'assistant' && last.status !== null && last.status !== 'pending' && last.status !== 'success' ? m.ends[last.status] : ''
  return (
    <div role="status" className="sr-only">
      {waits ? m.waitsForYou : view.turn === null ? ended : m.working}
    </div>
  )
}

function Empty() {
  const m = useMessages()
  return (
    <div className="flex min-h-0 grow flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="font-medium">{m.emptySession}</p>
      <p className="max-w-sm text-muted">{m.emptySessionHint}</p>
    </div>
  )
}

import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useMessages } from '../i18n/index.ts'
import { duration } from '../state/format.ts'
import type { Item } from '../state/items.ts'
import { cx } from './ui.tsx'

/** What the agent thought: one line, opened by choice. */
export function Reasoning({ item }: { item: Extract<Item, { kind: 'reasoning' }> }) {
  const m = useMessages()
  const [open, setOpen] = useState(false)
  const { streaming, durationMs, text } = item
  const label = streaming ? m.thinking : durationMs === null ? m.thought : m.thoughtFor(duration(durationMs, m.units))
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ml-1.5 flex h-7 max-w-full items-center gap-1.5 rounded-md px-1.5 text-sm text-faint hover:bg-hover hover:text-muted"
      >
        <ChevronRight size={14} aria-hidden className={cx('shrink-0 transition-transform duration-100', open && 'rotate-90')} />
        <span className={cx('shrink-0', streaming && 'dot-live')}>{label}</span>
        {!open && <span className="truncate opacity-80">{streaming ? lastLine(text) : ''}</span>}
      </button>
      {open && (
        <div className="mt-1 mb-1 ml-0.5 border-l-2 border-line pl-3.5 text-sm whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">
          {text.trim()}
        </div>
      )}
    </div>
  )
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(-120) ?? ''

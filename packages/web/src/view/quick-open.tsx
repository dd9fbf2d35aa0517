import { useMemo, useRef, useState, type ReactNode } from 'react'
import { useMessages } from '../i18n/index.ts'
import { moodOf, newestFirst } from '../state/needs.ts'
import { useAgents } from '../state/queries.ts'
import { go, paths } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { cx, Dialog, Dot, inputClass } from './ui.tsx'

type Entry = { key: string; name: string; note: string; path: string; dot: ReactNode }
/** More than fit on the screen tell nothing more. */
const SHOWN_MAX = 50

/** Finds a session or page by words of its name, agent, folder or last line. */
export function QuickOpen({ onClose }: { onClose: () => void }) {
  const m = useMessages()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const entries = useEntries(query)
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return
    onClose()
    go(entry.path)
  }
  const move = (by: number): void => {
    const next = Math.max(0, Math.min(entries.length - 1, at + by))
    setAt(next)
    list.current?.children[next]?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <Dialog title={m.searchHint} onClose={onClose}>
      <input
        data-focus
        role="combobox"
        aria-expanded
        aria-controls="quick-open"
        aria-activedescendant={`quick-${String(at)}`}
        aria-label={m.search}
        className={inputClass}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            move(event.key === 'ArrowDown' ? 1 : -1)
          }
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
            // The press goes on to the field that has the focus then.
            event.preventDefault()
            open(entries[at])
          }
        }}
      />
      <ul ref={list} id="quick-open" role="listbox" aria-label={m.search} className="mt-2 max-h-80 overflow-y-auto">
        {entries.map((entry, index) => (
          <li
            key={entry.key}
            id={`quick-${String(index)}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => open(entry)}
            className={cx('flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5', index === at && 'bg-active')}
          >
            {entry.dot}
            <span className="min-w-0 grow truncate">{entry.name}</span>
            <span className="max-w-48 shrink-0 truncate text-xs text-faint">{entry.note}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="px-2 py-3 text-muted">{m.searchNothing}</p>}
    </Dialog>
  )
}

function useEntries(query: string): Entry[] {
  const m = useMessages()
  const sessions = useApp((state) => state.sessions)
  const agents = useAgents().data
  return useMemo(() => {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const matches = (...texts: string[]): boolean => words.every((word) => texts.some((text) => text.toLowerCase().includes(word)))
    const names = new Map(agents?.map((agent) => [agent.id, agent.name]))
    const found = Object.values(sessions ?? {})
      .toSorted(newestFirst)
      .filter((session) => matches(session.name, names.get(session.agentId ?? '') ?? '', session.workspace.path, session.lastText))
      .map((session): Entry => ({
        key: session.id,
        name: session.name || m.unnamed,
        note: names.get(session.agentId ?? '') ?? '',
        path: paths.session(session.id),
        dot: <Dot mood={moodOf(session)} />,
      }))
    const pages = [
      { name: m.newSession, path: paths.create() },
      { name: m.agents, path: paths.agents },
      { name: m.providers, path: paths.providers },
      { name: m.settings, path: paths.settings },
    ].filter((page) => matches(page.name))
    return [
      ...found.slice(0, SHOWN_MAX),
      ...pages.map((page): Entry => ({ key: page.path, note: '', dot: <span className="size-4" />, ...page })),
    ]
  }, [query, sessions, agents, m])
}

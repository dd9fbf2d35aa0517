/** The list on the left: what needs the person, then every session under its agent. */
import { Bot, CircleAlert, CircleHelp, Keyboard, PanelLeftClose, PauseCircle, Plus, Search, Settings2, Unplug } from 'lucide-react'
import { memo, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { firstLine, type Session } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { fullTime, shortAge } from '../state/format.ts'
import { groupSessions, moodOf, needsOf, type Need } from '../state/needs.ts'
import { setPrefs } from '../state/prefs.ts'
import { useAgents } from '../state/queries.ts'
import { paths, useRoute } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { summarizeTool } from '../state/tools.ts'
import { commandKey } from './keys.ts'
import { Link } from './link.tsx'
import { Mark } from './mark.tsx'
import { cx, Dot, IconButton, Kbd, useNow } from './ui.tsx'

export function Rail({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }) {
  const m = useMessages()
  const { page } = useRoute()
  // Nothing changes its place under the pointer.
  const [isStill, setStill] = useState(false)
  return (
    <nav
      aria-label={m.sessions}
      className="flex w-65 shrink-0 flex-col border-r border-line bg-rail max-md:min-h-0 max-md:w-full max-md:shrink max-md:grow max-md:border-r-0"
    >
      <div className="flex h-13 shrink-0 items-center gap-2 pr-2 pl-3">
        {page === 'home' && <h1 className="sr-only md:hidden">{m.sessions}</h1>}
        <Link href={paths.home} className="flex grow items-center gap-2 rounded-md py-1 font-semibold">
          <Mark size={20} />
          Wheelhouse
        </Link>
        <IconButton
          icon={PanelLeftClose}
          label={m.hideRail}
          keys={`${commandKey} \\`}
          className="max-md:hidden"
          onClick={() => setPrefs({ railOpen: false })}
        />
      </div>
      <div className="flex shrink-0 gap-1.5 px-2 pb-2">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 grow items-center gap-2 rounded-md border border-line bg-bg px-2 text-sm text-faint hover:border-line-strong max-md:h-10"
        >
          <Search size={14} aria-hidden />
          <span className="grow text-left">{m.search}</span>
          <span className="max-md:hidden">
            <Kbd>{commandKey} K</Kbd>
          </span>
        </button>
        <Link
          href={paths.create()}
          title={`${m.newSession} (N)`}
          aria-label={m.newSession}
          className="flex size-8 items-center justify-center rounded-md border border-line bg-bg text-muted hover:border-line-strong hover:text-text max-md:size-10"
        >
          <Plus size={16} aria-hidden />
        </Link>
      </div>
      <div
        className="min-h-0 grow overflow-y-auto px-2 pb-2"
        onPointerEnter={(event) => setStill(event.pointerType === 'mouse')}
        onPointerLeave={() => setStill(false)}
      >
        <Needs />
        <Sessions isStill={isStill} />
      </div>
      <RailFoot onKeys={onKeys} />
    </nav>
  )
}

function RailFoot({ onKeys }: { onKeys: () => void }) {
  const m = useMessages()
  const { page } = useRoute()
  const links = [
    { href: paths.agents, icon: Bot, label: m.agents, on: page === 'agents' || page === 'agent' },
    { href: paths.providers, icon: Unplug, label: m.providers, on: page === 'providers' || page === 'provider' },
  ]
  return (
    <div className="flex shrink-0 items-center gap-0.5 border-t border-line p-1.5">
      {links.map(({ href, icon: Icon, label, on }) => (
        <Link
          key={href}
          href={href}
          aria-current={on ? 'page' : undefined}
          className={cx(
            'flex h-7 items-center gap-1.5 rounded-md px-2 text-xs text-muted hover:bg-hover hover:text-text max-md:h-10 max-md:text-sm',
            on && 'bg-active text-text',
          )}
        >
          <Icon size={14} aria-hidden />
          {label}
        </Link>
      ))}
      <span className="grow" />
      <Link
        href={paths.settings}
        aria-label={m.settings}
        title={m.settings}
        aria-current={page === 'settings' ? 'page' : undefined}
        className={cx(
          'flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-text max-md:size-10',
          page === 'settings' && 'bg-active text-text',
        )}
      >
        <Settings2 size={14} aria-hidden />
      </Link>
      <IconButton icon={Keyboard} label={m.shortcuts} keys="?" size={14} className="max-md:hidden" onClick={onKeys} />
    </div>
  )
}

function Heading({ children, count }: { children: ReactNode; count?: number }) {
  return (
    <h2 className="flex items-center gap-1.5 px-2 pt-3 pb-1 text-xs font-medium text-faint">
      <span className="truncate">{children}</span>
      {count !== undefined && <span className="tabular-nums">{count}</span>}
    </h2>
  )
}

function Needs() {
  const m = useMessages()
  const sessions = useApp((state) => state.sessions)
  const approvals = useApp((state) => state.approvals)
  const needs = useMemo(() => (sessions === null ? [] : needsOf(sessions, approvals)), [sessions, approvals])
  return (
    <section aria-label={m.needsYou} aria-live="polite">
      {needs.length > 0 && (
        <>
          <h2 className="flex items-center gap-1.5 px-2 pt-2 pb-1 text-xs font-medium text-warn">
            {m.needsYou} <span className="tabular-nums">{needs.length}</span>
          </h2>
          <ul>
            {needs.map((need) => (
              <li key={`${need.kind}-${need.kind === 'approval' ? need.approval.id : need.session.id}`}>
                <NeedRow need={need} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

const NEED_ICONS = { approval: CircleHelp, decide: CircleHelp, held: PauseCircle, quarantined: CircleAlert } as const

function NeedRow({ need }: { need: Need }) {
  const m = useMessages()
  const Icon = NEED_ICONS[need.kind]
  return (
    <Link href={paths.session(need.session.id)} className="flex items-start gap-2 rounded-md px-2 py-1.5 hover:bg-hover">
      <Icon
        size={15}
        className={cx('mt-0.5 shrink-0', need.kind === 'quarantined' ? 'text-error' : need.kind === 'held' ? 'text-muted' : 'text-warn')}
        aria-hidden
      />
      <span className="min-w-0 grow">
        <span className="block truncate text-sm">{needText(need, m)}</span>
        <span className="block truncate text-xs text-muted">{need.session.name || m.unnamed}</span>
      </span>
    </Link>
  )
}

function needText(need: Need, m: ReturnType<typeof useMessages>): string {
  switch (need.kind) {
    case 'approval': {
      const { approval, session } = need
      if (approval.kind === 'question') return m.questionTitle
      if (approval.kind === 'plan') return m.planTitle
      const tool = summarizeTool(approval.toolName, approval.input, session.workspace.path)
      return tool.kind === 'shell' ? `${m.allow}: ${tool.object}` : m.will(tool.kind, tool, session.workspace.path)
    }
    case 'held':
      return m.needHeld(need.count)
    case 'quarantined':
      return m.needQuarantined
    case 'decide':
    default:
      return m.needDecide
  }
}

function Sessions({ isStill }: { isStill: boolean }) {
  const m = useMessages()
  const shown = useRef<string[]>([])
  const route = useRoute()
  const sessions = useApp((state) => state.sessions)
  const agents = useAgents()
  const now = useNow(30_000)
  const groups = useMemo(() => {
    const names = new Map(agents.data?.map((agent) => [agent.id, agent.name]))
    const nameOf = (id: string | null): string =>
      id === null ? m.noAgentGroup : (names.get(id) ?? (agents.isPending ? '…' : m.noAgentGroup))
    return groupSessions(Object.values(sessions ?? {}), nameOf, isStill ? shown.current : null)
  }, [sessions, agents.data, agents.isPending, m, isStill])
  useEffect(() => {
    shown.current = groups.flatMap((group) => group.sessions.map((session) => session.id))
  }, [groups])
  if (sessions === null) return <RailSkeleton />
  if (groups.length === 0) return <p className="px-2 py-4 text-sm text-muted">{m.noSessionsYet}</p>
  return groups.map((group) => (
    <section key={group.agentId ?? ''} aria-label={group.name}>
      <Heading count={group.sessions.length}>{group.name}</Heading>
      <ul>
        {group.sessions.map((session) => (
          <li key={session.id} className="[contain-intrinsic-size:auto_48px] [content-visibility:auto]">
            <SessionRow session={session} isOpen={route.page === 'session' && route.id === session.id} now={now} />
          </li>
        ))}
      </ul>
    </section>
  ))
}

const SessionRow = memo(function SessionRow({ session, isOpen, now }: { session: Session; isOpen: boolean; now: number }) {
  const m = useMessages()
  const mood = moodOf(session)
  return (
    <Link
      href={paths.session(session.id)}
      aria-current={isOpen ? 'page' : undefined}
      className={cx('flex gap-1.5 rounded-md py-1.5 pr-2 pl-1.5 hover:bg-hover max-md:py-2.5', isOpen && 'bg-active hover:bg-active')}
    >
      <span className="flex h-5 items-center">
        <Dot mood={mood} />
      </span>
      <span className="min-w-0 grow">
        <span className="flex items-baseline gap-2">
          <span className={cx('grow truncate text-sm', (isOpen || mood !== 'idle') && 'font-medium')}>{session.name || m.unnamed}</span>
          <time
            dateTime={session.updatedAt}
            title={fullTime(session.updatedAt, m.locale)}
            className="shrink-0 text-xs text-faint tabular-nums"
          >
            {shortAge(session.updatedAt, now, m.locale, m.ages)}
          </time>
        </span>
        <span className="block min-h-4 truncate text-xs text-muted">{firstLine(session.lastText)}</span>
      </span>
    </Link>
  )
})

function RailSkeleton() {
  const m = useMessages()
  return (
    <div className="late flex flex-col gap-4 p-2 pt-4" role="status" aria-label={m.loading}>
      {[70, 50, 60, 40].map((width) => (
        <div key={width} className="flex flex-col gap-1.5">
          <div className="h-3 rounded bg-active" style={{ width: `${String(width)}%` }} />
          <div className="h-2.5 rounded bg-hover" style={{ width: `${String(width + 20)}%` }} />
        </div>
      ))}
    </div>
  )
}

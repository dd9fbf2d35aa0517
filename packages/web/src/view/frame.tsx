/** The frame around every place: rail, main, notices, dialogs that are opened from anywhere. */
import { Component, useEffect, useState, type ErrorInfo, type ReactNode } from 'react'
import { useMessages } from '../i18n/index.ts'
import { loadApprovals } from '../state/actions.ts'
import { needsOf, newestFirst } from '../state/needs.ts'
import { usePrefs, setPrefs } from '../state/prefs.ts'
import { go, paths, useRoute, type Route } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { AgentForm, AgentList } from './agents.tsx'
import { Home } from './home.tsx'
import { LineBanner } from './line-banner.tsx'
import { Login } from './login.tsx'
import { NewSession } from './new-session.tsx'
import { Notices } from './notices.tsx'
import { useNotifier } from './notifier.ts'
import { ProviderForm, ProviderList } from './providers.tsx'
import { QuickOpen } from './quick-open.tsx'
import { Rail } from './rail.tsx'
import { SessionPage } from './session-page.tsx'
import { Settings } from './settings.tsx'
import { isTyping, useKeys } from './keys.ts'
import { useIsNarrow } from './media.ts'
import { ShortcutList } from './shortcuts.tsx'
import { Button } from './ui.tsx'

export function Frame() {
  const m = useMessages()
  const route = useRoute()
  const { railOpen } = usePrefs()
  const isNarrow = useIsNarrow()
  const line = useApp((state) => state.line)
  const [overlay, setOverlay] = useState<'search' | 'keys' | null>(null)
  useNotifier()
  useApprovals()
  useGlobalKeys(
    route,
    () => setOverlay('search'),
    () => setOverlay('keys'),
  )
  useEffect(() => {
    document.documentElement.lang = m.locale
  }, [m])

  if (line.state === 'refused' && line.problem?.status === 401) return <Login />
  // On a phone the rail and the place are two screens.
  const railIsScreen = isNarrow && route.page === 'home'
  const rail = <Rail onSearch={() => setOverlay('search')} onKeys={() => setOverlay('keys')} />
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {m.skipToMain}
      </a>
      {!isNarrow && railOpen && rail}
      <main id="main" tabIndex={-1} className="flex min-w-0 grow flex-col bg-bg outline-none">
        <LineBanner />
        <Fence key={`${route.page} ${'id' in route ? route.id : ''}`}>{railIsScreen ? rail : <Place route={route} />}</Fence>
      </main>
      <Notices />
      {overlay === 'search' && <QuickOpen onClose={() => setOverlay(null)} />}
      {overlay === 'keys' && <ShortcutList onClose={() => setOverlay(null)} />}
    </div>
  )
}

function Place({ route }: { route: Route }) {
  const m = useMessages()
  switch (route.page) {
    case 'home':
      return <Home />
    case 'new':
      return <NewSession agentId={route.agentId} />
    case 'session':
      return <SessionPage key={route.id} id={route.id} messageId={route.messageId} />
    case 'agents':
      return <AgentList />
    case 'agent':
      return <AgentForm key={route.id} id={route.id} />
    case 'providers':
      return <ProviderList />
    case 'provider':
      return <ProviderForm key={route.id} id={route.id} />
    case 'settings':
      return <Settings />
    case 'lost':
    default:
      return <Nothing text={m.pageGone} />
  }
}

/** A place that is not there. */
export function Nothing({ text }: { text: string }) {
  const m = useMessages()
  return (
    <div className="m-auto flex flex-col items-center gap-3 p-6 text-center">
      <p className="text-muted">{text}</p>
      <Button onClick={() => go(paths.home)}>{m.toStart}</Button>
    </div>
  )
}

/** The approvals of sessions that are not open; read anew with every list of sessions. */
function useApprovals(): void {
  const isOpen = useApp((state) => state.line.state === 'open' && state.sessions !== null)
  useEffect(() => {
    if (isOpen) void loadApprovals()
  }, [isOpen])
}

function useGlobalKeys(route: Route, onSearch: () => void, onKeys: () => void): void {
  const { railOpen } = usePrefs()
  const needs = useApp((state) => state.sessions !== null && needsOf(state.sessions, state.approvals), sameNeeds)
  const order = useApp(
    (state) =>
      Object.values(state.sessions ?? {})
        .toSorted(newestFirst)
        .map((session) => session.id),
    sameIds,
  )
  useKeys((event) => {
    const command = event.metaKey || event.ctrlKey
    if (command && event.key === 'k') return onSearch()
    if (command && event.key === '\\') return setPrefs({ railOpen: !railOpen })
    if (event.altKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp'))
      return step(route, order, event.key === 'ArrowDown' ? 1 : -1)
    if (command || event.altKey || isTyping(event)) return false
    if (event.key === 'n') return go(paths.create())
    if (event.key === '?') return onKeys()
    if (event.key === 'j') return step(route, order, 1)
    if (event.key === 'k') return step(route, order, -1)
    if (event.key === '.' && needs !== false) {
      const open = route.page === 'session' ? route.id : null
      const next = needs.find((need) => need.session.id !== open)
      if (next !== undefined) return go(paths.session(next.session.id))
    }
    return false
  })
}

type Needs = ReturnType<typeof needsOf> | false
const sameNeeds = (a: Needs, b: Needs): boolean =>
  a === b ||
  (a !== false &&
    b !== false &&
    sameIds(
      a.map((need) => need.session.id),
      b.map((need) => need.session.id),
    ))
const sameIds = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((id, index) => id === b[index])

function step(route: Route, order: readonly string[], by: number): void {
  const at = route.page === 'session' ? order.indexOf(route.id) : -1
  const next = order[Math.max(0, Math.min(order.length - 1, at + by))]
  if (next !== undefined) go(paths.session(next))
}

/** Keeps a fault of one place from taking the page with it. */
class Fence extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }
  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }
  override componentDidCatch(error: Error, info: ErrorInfo): void {
    console.error(error, info.componentStack)
  }
  override render(): ReactNode {
    return this.state.failed ? <Crashed /> : this.props.children
  }
}

function Crashed() {
  const m = useMessages()
  return (
    <div role="alert" className="m-auto flex flex-col items-center gap-3 p-6 text-center">
      <p className="font-medium">{m.crashed}</p>
      <p className="text-muted">{m.crashedHint}</p>
      <Button onClick={() => location.reload()}>{m.reload}</Button>
    </div>
  )
}

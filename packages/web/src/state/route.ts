/** The address bar: which place is shown. Paths only; a fragment names a message or carries a login code. */
import { useSyncExternalStore } from 'react'

export type Route =
  | { page: 'home' }
  | { page: 'new'; agentId: string | null }
  | { page: 'session'; id: string; messageId: string | null }
  | { page: 'agents' }
  | { page: 'agent'; id: string | 'new' }
  | { page: 'providers' }
  | { page: 'provider'; id: string | 'new' }
  | { page: 'settings' }
  | { page: 'lost' }

export function parseRoute(path: string, search: string, hash: string): Route {
  const [place = '', id = ''] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
  switch (place) {
    case '':
      return { page: 'home' }
    case 'new':
      return { page: 'new', agentId: new URLSearchParams(search).get('agent') }
    case 's':
      return id === '' ? { page: 'lost' } : { page: 'session', id, messageId: hash.startsWith('#m-') ? hash.slice(3) : null }
    case 'agents':
      return id === '' ? { page: 'agents' } : { page: 'agent', id }
    case 'providers':
      return id === '' ? { page: 'providers' } : { page: 'provider', id }
    case 'settings':
      return { page: 'settings' }
    default:
      return { page: 'lost' }
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A stray percent sign: take the text as it stands.
    return part
  }
}

export const paths = {
  home: '/',
  create: (agentId?: string): string => (agentId === undefined ? '/new' : `/new?agent=${encodeURIComponent(agentId)}`),
  session: (id: string): string => `/s/${encodeURIComponent(id)}`,
  message: (id: string, messageId: string): string => `/s/${encodeURIComponent(id)}#m-${messageId}`,
  agents: '/agents',
  agent: (id: string): string => `/agents/${encodeURIComponent(id)}`,
  providers: '/providers',
  provider: (id: string): string => `/providers/${encodeURIComponent(id)}`,
  settings: '/settings',
} as const

const listeners = new Set<() => void>()
let current: { href: string; route: Route } | null = null

function read(): Route {
  const { pathname, search, hash, href } = location
  if (current?.href !== href) current = { href, route: parseRoute(pathname, search, hash) }
  return current.route
}

/** Goes to a path of this app. `replace` leaves no entry to go back to. */
export function go(path: string, replace = false): void {
  if (replace) history.replaceState(null, '', path)
  else history.pushState(null, '', path)
  for (const listener of listeners) listener()
}

export function useRoute(): Route {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    addEventListener('popstate', listener)
    addEventListener('hashchange', listener)
    return () => {
      listeners.delete(listener)
      removeEventListener('popstate', listener)
      removeEventListener('hashchange', listener)
    }
  }, read)
}

/** The address bar: which place is shown. */
import { useSyncExternalStore } from 'react'
import { parseRoute, type Route } from './places.ts'

export { paths, type Route } from './places.ts'

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

/** The places of the app and their addresses. Paths only; a fragment names a message or carries a login code. Pure. */

/** `id` of an agent or provider may be `new`: the form of one that does not exist yet. */
export type Route =
  | { page: 'home' }
  | { page: 'new'; agentId: string | null }
  | { page: 'session'; id: string; messageId: string | null }
  | { page: 'agents' }
  | { page: 'agent'; id: string }
  | { page: 'providers' }
  | { page: 'provider'; id: string }
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

/**
 * A tab's way to the hub: a SharedWorker; where there is none (Chrome on Android), the tab that holds
 * a lock leads and the others talk to it over a channel; where neither exists, a stream of its own.
 */
import { createClient } from '@wheelhouse/client'
import { Hub } from './hub.ts'
import type { HubMessage, TabMessage, Wants } from './link-protocol.ts'

export type Link = {
  /** Tells the hub all sessions this tab holds. */
  want: (wants: Wants) => void
  reload: (sessionId: string) => void
  wake: () => void
}

/** Well under the silence after which a hub forgets a tab. */
const ALIVE_MS = 30_000
const NAME = 'wheelhouse-stream'

type Envelope = { to: 'hub' | 'all' | (string & {}); from: string; message: TabMessage | HubMessage | { type: 'leader' } }

/** Connects this tab; `hear` gets what the hub says, in order. */
export function connectLink(hear: (message: HubMessage) => void): Link {
  const send = chooseTransport(hear, () => send({ type: 'want', wants: held }))
  let held: Wants = []
  setInterval(() => send({ type: 'alive' }), ALIVE_MS)
  addEventListener('pagehide', () => send({ type: 'bye' }))
  // A page that comes back from the cache was forgotten by its own farewell.
  globalThis.addEventListener('pageshow', (event: PageTransitionEvent) => {
    if (event.persisted) send({ type: 'want', wants: held })
  })
  addEventListener('online', () => send({ type: 'wake' }))
  // A person who comes back to the page should not wait for the next try.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') send({ type: 'wake' })
  })
  send({ type: 'want', wants: held })
  return {
    want: (wants) => {
      held = wants
      send({ type: 'want', wants })
    },
    reload: (sessionId) => send({ type: 'reload', sessionId }),
    wake: () => send({ type: 'wake' }),
  }
}

type Send = (message: TabMessage) => void

function chooseTransport(hear: (message: HubMessage) => void, greetAgain: () => void): Send {
  if ('SharedWorker' in globalThis) return overWorker(hear, greetAgain)
  if ('BroadcastChannel' in globalThis && 'locks' in navigator) return overChannel(hear, greetAgain)
  return alone(hear)
}

function overWorker(hear: (message: HubMessage) => void, greetAgain: () => void): Send {
  const worker = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), { type: 'module', name: NAME })
  let own: Send | null = null
  worker.port.addEventListener('message', (event: MessageEvent<HubMessage>) => hear(event.data))
  worker.addEventListener('error', () => {
    // The script could not be loaded, or is of a version that is gone: this tab goes alone.
    own ??= alone(hear)
    greetAgain()
  })
  worker.port.start()
  return (message) => (own === null ? worker.port.postMessage(message) : own(message))
}

function makeHub(): Hub {
  const client = createClient({ baseUrl: '' })
  return new Hub({ openStream: (options) => client.stream(options), now: () => performance.now() })
}

function alone(hear: (message: HubMessage) => void): Send {
  const hub = makeHub()
  return (message) => hub.hear('own', message, hear)
}

/** Whoever gets the lock leads until its tab goes; then the next one does, and all greet it anew. */
function overChannel(hear: (message: HubMessage) => void, greetAgain: () => void): Send {
  const channel = new BroadcastChannel(NAME)
  const own = String(Math.random()).slice(2)
  let hub: Hub | null = null
  const post = (envelope: Envelope): void => channel.postMessage(envelope)
  channel.addEventListener('message', (event: MessageEvent<Envelope>) => {
    const { to, from, message } = event.data
    if (message.type === 'leader') return greetAgain()
    if (to === own) hear(message as HubMessage)
    if (to === 'hub') hub?.hear(from, message as TabMessage, (answer) => post({ to: from, from: own, message: answer }))
  })
  void navigator.locks.request(NAME, () => {
    hub = makeHub()
    post({ to: 'all', from: own, message: { type: 'leader' } })
    greetAgain()
    return new Promise(() => undefined /* held until this tab is gone */)
  })
  return (message) => {
    if (hub === null) post({ to: 'hub', from: own, message })
    else hub.hear(own, message, hear)
  }
}

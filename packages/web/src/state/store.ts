/** The one store of a tab. Events of a frame are applied together, so a burst renders once. */
import { createClient, type WheelhouseClient } from '@wheelhouse/client'
import { useRef, useSyncExternalStore } from 'react'
import { initialState, reduceApp, type AppAction, type AppState } from './app-state.ts'
import { connectLink, type Link } from './link.ts'
import type { HubMessage } from './link-protocol.ts'
import { outboxChanges, reviveOutbox } from './outbox.ts'
import { onRemovedElsewhere, readAllStored, writeStored } from './stored.ts'

/** A hidden tab draws nothing; it only has to keep its title right. */
const HIDDEN_TICK_MS = 500

export const client: WheelhouseClient = createClient({ baseUrl: '' })

/** Each message is stored for itself. */
const OUTBOX = 'outbox.'

let state: AppState = initialState(reviveOutbox(readAllStored(OUTBOX)))
const listeners = new Set<() => void>()
const arrived: HubMessage[] = []
let ticking = false
let link: Link | null = null

export const getState = (): AppState => state

export function dispatch(action: AppAction): void {
  flush()
  commit(reduceApp(state, action))
}

function commit(next: AppState): void {
  if (next === state) return
  if (next.outbox !== state.outbox) for (const [key, item] of outboxChanges(state.outbox, next.outbox)) writeStored(OUTBOX + key, item)
  state = next
  for (const listener of listeners) listener()
}

function flush(): void {
  ticking = false
  if (arrived.length === 0) return
  const at = Date.now()
  const messages = arrived.splice(0)
  commit(messages.reduce((next, message) => reduceApp(next, { type: 'hub', message, at }), state))
}

function hear(message: HubMessage): void {
  arrived.push(message)
  if (ticking) return
  ticking = true
  if (document.visibilityState === 'visible') requestAnimationFrame(flush)
  else setTimeout(flush, HIDDEN_TICK_MS)
}

/** Connects the tab; called once by the page. A frame asked for may never come when the tab is hidden meanwhile. */
export function connect(): void {
  link = connectLink(hear)
  document.addEventListener('visibilitychange', flush)
  onRemovedElsewhere((name) => {
    if (name.startsWith(OUTBOX)) dispatch({ type: 'settled-elsewhere', key: name.slice(OUTBOX.length) })
  })
}

export const theLink = (): Link | null => link

export function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Reads from the store. `select` should give back parts of the state; what it makes anew is kept as
 * long as `same` finds it equal.
 */
export function useApp<T>(select: (state: AppState) => T, same: (a: T, b: T) => boolean = Object.is): T {
  const kept = useRef<{ value: T } | null>(null)
  return useSyncExternalStore(subscribe, () => {
    const value = select(state)
    if (kept.current !== null && same(kept.current.value, value)) return kept.current.value
    kept.current = { value }
    return value
  })
}

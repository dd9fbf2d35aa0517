/** Whether the link that was opened last was refused; told on the page that asks for a new one. */
import { useSyncExternalStore } from 'react'

let refused = false
const listeners = new Set<() => void>()

export function noteLogin(outcome: 'done' | 'refused'): void {
  refused = outcome === 'refused'
  for (const listener of listeners) listener()
}

export function useLoginRefused(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => refused,
  )
}

/** Short notices about what was refused or done; shown for a while and read out. */
import type { Problem } from '@wheelhouse/client'
import { useSyncExternalStore } from 'react'

export type Notice = { id: number; problem: Problem | null; failure: string | null; text: string | null }

/** Long enough to read two lines; a refusal stays longer than good news. */
const SHOWN_MS = { refusal: 9_000, done: 3_000 } as const
/** More would cover the work. */
const NOTICES_MAX = 3

let notices: readonly Notice[] = []
let lastId = 0
const listeners = new Set<() => void>()

export function notify(notice: Partial<Omit<Notice, 'id'>>): void {
  lastId += 1
  const made: Notice = { id: lastId, problem: null, failure: null, text: null, ...notice }
  set([...notices, made].slice(-NOTICES_MAX))
  setTimeout(() => dismissNotice(made.id), made.text === null ? SHOWN_MS.refusal : SHOWN_MS.done)
}

export function dismissNotice(id: number): void {
  set(notices.filter((notice) => notice.id !== id))
}

function set(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

export function useNotices(): readonly Notice[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices,
  )
}

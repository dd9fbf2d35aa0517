/** What a person set for this browser: theme, language, whether the rail is open, notifications. */
import { useSyncExternalStore } from 'react'
import { readStored, writeStored } from './stored.ts'

export type Prefs = {
  theme: 'system' | 'light' | 'dark'
  /** null follows the browser. */
  language: 'en' | 'zh' | null
  railOpen: boolean
  notifications: boolean
}

const DEFAULTS: Prefs = { theme: 'system', language: null, railOpen: true, notifications: false }

export function parsePrefs(stored: unknown): Prefs {
  if (typeof stored !== 'object' || stored === null) return DEFAULTS
  const given = stored as Partial<Record<keyof Prefs, unknown>>
  return {
    theme: given.theme === 'light' || given.theme === 'dark' ? given.theme : 'system',
    language: given.language === 'en' || given.language === 'zh' ? given.language : null,
    railOpen: given.railOpen !== false,
    notifications: given.notifications === true,
  }
}

let prefs = parsePrefs(readStored('prefs'))
const listeners = new Set<() => void>()

export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change }
  writeStored('prefs', prefs)
  applyTheme()
  for (const listener of listeners) listener()
}

/** Puts the theme on the page; `system` leaves it to the media query. */
export function applyTheme(): void {
  const root = document.documentElement
  if (prefs.theme === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = prefs.theme
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => prefs,
  )
}

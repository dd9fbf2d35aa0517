/** What this browser keeps for a person: drafts, unsent messages, preferences. Never a secret. */

const PREFIX = 'wheelhouse.'

/** The stored value, or null when there is none, it is damaged, or the browser keeps nothing. */
export function readStored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null')
  } catch {
    // Storage is switched off, or somebody else wrote there: the same as nothing.
    return null
  }
}

/** The values stored under names that begin so, and are not damaged. */
export function readAllStored(beginning: string): unknown[] {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX + beginning))
    return names.map((name) => readStored(name.slice(PREFIX.length)))
  } catch {
    // Storage is switched off.
    return []
  }
}

/** Calls back when another tab removes something that is stored. */
export function onRemovedElsewhere(removed: (name: string) => void): void {
  globalThis.addEventListener('storage', ({ key, newValue }: StorageEvent) => {
    if (key?.startsWith(PREFIX) === true && newValue === null) removed(key.slice(PREFIX.length))
  })
}

/** Stores a value; null removes it. A full or forbidden storage costs the convenience, not the work. */
export function writeStored(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Full or forbidden: the text is still on the screen.
  }
}

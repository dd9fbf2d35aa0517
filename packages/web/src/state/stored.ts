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

/** Stores a value; null removes it. A full or forbidden storage costs the convenience, not the work. */
export function writeStored(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Full or forbidden: the text is still on the screen.
  }
}

/** Drafts, one for each place a person can type in. Kept across reloads. */
import { readStored, writeStored } from './stored.ts'

const key = (place: string): string => `draft.${place}`

export function readDraft(place: string): string {
  const stored = readStored(key(place))
  return typeof stored === 'string' ? stored : ''
}

export function writeDraft(place: string, text: string): void {
  writeStored(key(place), text === '' ? null : text)
}

/** Texts for people, within bounds. */

/** At most `length` UTF-16 units, never half a character. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}

/** The one line a session list shows of its newest text. */
import type { MessagePart } from '@wheelhouse/client/protocol'

/** Length of a preview in UTF-16 units: what a list line can show, whatever the text is. */
const PREVIEW_LENGTH = 200

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/**
 * The beginning of the last text part that says something, or null when there is none. It never ends
 * inside a character, be that a surrogate pair or a joined emoji (BUG-40).
 */
export function preview(parts: readonly MessagePart[]): string | null {
  const part = parts.findLast((each) => each.type === 'text' && each.text.trim() !== '')
  return part === undefined || part.type !== 'text' ? null : cut(part.text.trim(), PREVIEW_LENGTH)
}

/** At most `length` units of `text`, ending before the character that would not fit. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  // A little of what follows is enough to see whether the character at the cut goes on.
  const split = characters.segment(text.slice(0, length + 64)).containing(length)
  return text.slice(0, split === undefined ? length : split.index)
}

/** A session's first name, taken from its first message. Pure. */
import { firstLine } from './format.ts'

/** Fits a line of the rail. */
const NAME_CHARS = 60

export function nameFor(text: string): string {
  const line = firstLine(text)
  const letters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(line)].map((each) => each.segment)
  if (letters.length <= NAME_CHARS) return line
  const cut = letters.slice(0, NAME_CHARS).join('')
  const space = cut.lastIndexOf(' ')
  return `${space > NAME_CHARS / 2 ? cut.slice(0, space) : cut}…`
}

/** A text as one line of a list: what markdown says with signs is said without them. */

/** Fits a line of a list. */
const NAME_CHARS = 60

/** In code units, of a line that is looked at: sixty of the longest characters there are. */
const LINE_UNITS = 1_500

/** Signs that a line may begin with. A `#` belongs to a heading only with a space behind it. */
const LEAD = /^(?:#{1,6}\s+|>\s?|[-*+]\s+)+/
/** Lines that are signs alone: fences of code, rules. */
const BARE = /^(?:```.*|~~~.*|[-*_]{3,})$/
/** Code, links, emphasis; stars inside a path or between numbers are none. */
const INLINE = /`+([^`]*)`*|!?\[([^\]]*)\]\([^)\s]*\)|(?<![\w*/])(\*{1,3})(?=[^\s*/.])(.+?)(?<=[^\s*/])\3(?![\w*/])/g

/** The first line that says something, as plain text. */
export function firstLine(text: string): string {
  for (const each of text.split('\n')) {
    const line = each.trim().slice(0, LINE_UNITS)
    const words = BARE.test(line) ? '' : withoutSigns(line.replace(LEAD, '')).trim()
    if (words !== '') return words
  }
  return ''
}

function withoutSigns(line: string): string {
  return line.replaceAll(INLINE, (_, code?: string, label?: string, _stars?: string, stressed?: string) => {
    return code ?? withoutSigns(label ?? stressed ?? '')
  })
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The name of a session nobody named: the first words of its first message, never cut inside a character. */
export function nameFrom(text: string): string {
  const line = firstLine(text)
  const letters = [...graphemes.segment(line)].map((each) => each.segment)
  if (letters.length <= NAME_CHARS) return line
  const cut = letters.slice(0, NAME_CHARS).join('')
  const space = cut.lastIndexOf(' ')
  return `${space > NAME_CHARS / 2 ? cut.slice(0, space) : cut}…`
}

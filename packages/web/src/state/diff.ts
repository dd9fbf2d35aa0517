/** A line diff for edits (Myers, greedy, linear trim first). Pure. */

export type DiffLine = { kind: 'same' | 'add' | 'remove'; text: string; oldNo: number | null; newNo: number | null }
export type Diff = { lines: DiffLine[]; added: number; removed: number }

/** Beyond this many differing lines the exact diff costs more than it tells: the block is shown as replaced. */
const EXACT_MAX = 2_000

/** The lines of `after` against `before`. Numbers begin at 1 in the given texts. */
export function diffLines(before: string, after: string): Diff {
  const a = linesOf(before)
  const b = linesOf(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  const middle = compare(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  const marks = [...repeat('same', head), ...middle, ...repeat('same', tail)]
  return number(marks, a, b)
}

/** Only the changes with a few lines around them; `null` stands for what was left out. */
export function contextOf(lines: readonly DiffLine[], around: number): (DiffLine | null)[] {
  const near = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.kind !== 'same'))
  const shown: (DiffLine | null)[] = []
  lines.forEach((line, index) => {
    if (near[index] === true) shown.push(line)
    else if (shown.at(-1) !== null) shown.push(null)
  })
  return shown
}

type Mark = DiffLine['kind']

const repeat = (mark: Mark, count: number): Mark[] => Array.from({ length: count }, () => mark)

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function number(marks: readonly Mark[], a: readonly string[], b: readonly string[]): Diff {
  let oldAt = 0
  let newAt = 0
  const lines = marks.map((kind): DiffLine => {
    const text = (kind === 'add' ? b[newAt] : a[oldAt]) ?? ''
    if (kind !== 'add') oldAt += 1
    if (kind !== 'remove') newAt += 1
    return { kind, text, oldNo: kind === 'add' ? null : oldAt, newNo: kind === 'remove' ? null : newAt }
  })
  return { lines, added: marks.filter((mark) => mark === 'add').length, removed: marks.filter((mark) => mark === 'remove').length }
}

/** Shortest edit script; removals come before additions. */
function compare(a: readonly string[], b: readonly string[]): Mark[] {
  const max = a.length + b.length
  if (max === 0) return []
  if (a.length === 0 || b.length === 0 || max > EXACT_MAX) return [...repeat('remove', a.length), ...repeat('add', b.length)]
  const trace: Int32Array[] = []
  const v = new Int32Array(2 * max + 2)
  for (let d = 0; d <= max; d += 1) {
    trace.push(v.slice())
    for (let k = -d; k <= d; k += 2) {
      let x = stepDown(v, k, d, max) ? at(v, k + 1 + max) : at(v, k - 1 + max) + 1
      let y = x - k
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1
        y += 1
      }
      v[k + max] = x
      if (x >= a.length && y >= b.length) return walkBack(trace, a.length, b.length, max)
    }
  }
  return []
}

const at = (v: Int32Array, index: number): number => v[index] ?? 0
const stepDown = (v: Int32Array, k: number, d: number, max: number): boolean =>
  k === -d || (k !== d && at(v, k - 1 + max) < at(v, k + 1 + max))

function walkBack(trace: readonly Int32Array[], endX: number, endY: number, max: number): Mark[] {
  const marks: Mark[] = []
  let x = endX
  let y = endY
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const v = trace[d] ?? new Int32Array(0)
    const k = x - y
    const down = stepDown(v, k, d, max)
    const fromX = d === 0 ? 0 : at(v, (down ? k + 1 : k - 1) + max)
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1)
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      marks.push('same')
      x -= 1
      y -= 1
    }
    if (d > 0) marks.push(down ? 'add' : 'remove')
    x = fromX
    y = fromY
  }
  return marks.toReversed()
}

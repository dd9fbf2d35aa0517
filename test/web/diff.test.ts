import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { contextOf, diffLines } from '../../packages/web/src/state/diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 14 })
const textOf = (list: readonly string[]): string => list.map((line) => `${line}\n`).join('')

/** Length of the longest common subsequence, the slow and certain way. */
function common(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1) {
      const above = table[i - 1]
      const row = table[i]
      if (above === undefined || row === undefined) throw new Error('no row')
      row[j] = a[i - 1] === b[j - 1] ? (above[j - 1] ?? 0) + 1 : Math.max(above[j] ?? 0, row[j - 1] ?? 0)
    }
  return table[a.length]?.[b.length] ?? 0
}

test('a diff applied to the old text gives the new one, and is as short as can be', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffLines(textOf(before), textOf(after))
      assert.deepEqual(
        diff.lines.filter((line) => line.kind !== 'add').map((line) => line.text),
        before,
      )
      assert.deepEqual(
        diff.lines.filter((line) => line.kind !== 'remove').map((line) => line.text),
        after,
      )
      const same = common(before, after)
      assert.equal(diff.added, after.length - same)
      assert.equal(diff.removed, before.length - same)
    }),
    { numRuns: 500 },
  )
})

test('line numbers count in their own text', () => {
  const { lines: shown } = diffLines('a\nb\nc\n', 'a\nx\nc\n')
  assert.deepEqual(
    shown.map(({ kind, oldNo, newNo }) => [kind, oldNo, newNo]),
    [
      ['same', 1, 1],
      ['remove', 2, null],
      ['add', null, 2],
      ['same', 3, 3],
    ],
  )
})

test('texts too different to compare exactly are shown as replaced, at once', () => {
  const before = textOf(Array.from({ length: 3_000 }, (_, index) => `old ${String(index)}`))
  const after = textOf(Array.from({ length: 3_000 }, (_, index) => `new ${String(index)}`))
  const diff = diffLines(before, after)
  assert.deepEqual([diff.added, diff.removed], [3_000, 3_000])
})

test('only lines near a change are shown', () => {
  const list = Array.from({ length: 20 }, (_, index) => String(index))
  const { lines: all } = diffLines(textOf(list), textOf(list.with(10, 'x')))
  const shown = contextOf(all, 2)
  assert.deepEqual(
    shown.map((line) => line?.text ?? '…'),
    ['…', '8', '9', '10', 'x', '11', '12', '…'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstLine, nameFrom } from '../../packages/client/src/index.ts'

test('a session is named by the first words of its first message, never inside a character', () => {
  assert.equal(nameFrom('# Fix the build\nand more'), 'Fix the build')
  assert.equal(nameFrom('word '.repeat(30)), `${'word '.repeat(12).trim()}…`)
  assert.equal(nameFrom('👩‍💻'.repeat(70)), `${'👩‍💻'.repeat(60)}…`)
  assert.equal(nameFrom(' \n\t'), '')
})

test('a list shows the words of markdown and not its signs', () => {
  for (const [text, line] of [
    ['\n\n> - `x` y', 'x y'],
    ['**Use `a*b`** *now*, see [the page](https://example.org)', 'Use a*b now, see the page'],
    ['```ts\nconst a = 1\n```', 'const a = 1'],
    ['---\n1. First', '1. First'],
    ['> ', ''],
  ] as const)
    assert.equal(firstLine(text), line)
})

test('what only looks like markdown is left as it is', () => {
  for (const line of ['#practice: say "x"', '##', 'src/**/*.ts and *.ts', '2 * 3 * 4', 'f(*args, **kwargs)', '__init__ of snake_case'])
    assert.equal(firstLine(line), line)
})

test('a line without end is read as far as a list can show it', () => {
  const started = performance.now()
  firstLine('*a '.repeat(300_000))
  assert.ok(performance.now() - started < 1_000)
})

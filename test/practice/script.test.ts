import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScript } from '../../packages/runtime/src/models/practice/script.ts'

const rounds = (text: string): string[][] => {
  const parsed = parseScript(text)
  assert.ok(parsed !== null && parsed.ok, JSON.stringify(parsed))
  return parsed.script.rounds.map((round) => round.map((step) => step.do))
}

test('a text without a script line has no script', () => {
  assert.equal(parseScript('please run #practice: say "x"'), null)
})

test('steps behind tool calls are the next answer; calls side by side go out together; then parts them', () => {
  assert.deepEqual(rounds('#practice: think "a"; say "b"; tool Bash {}; tool Read {}; say "c"; tool Bash {}; then; tool Bash {}'), [
    ['think', 'say', 'tool', 'tool'],
    ['say', 'tool'],
    ['tool'],
  ])
})

test('a disturbance behind a tool call belongs to the same answer, a fault to the next', () => {
  assert.deepEqual(rounds('#practice: tool Bash {}; cut; fault status=529'), [['tool', 'cut'], ['fault']])
})

test('several script lines are one script, and other lines are ignored', () => {
  assert.deepEqual(rounds('Hello\n#practice: say "a"\nwords\n  #practice: tool Bash {}; say "b"'), [['say', 'tool'], ['say']])
})

test('objects and strings may hold semicolons, braces, quotes and other scripts', () => {
  const inner = '#practice: tool Bash {"command":"echo \\"}\\"; ls"}; say "in"'
  const parsed = parseScript(`#practice: tool Agent ${JSON.stringify({ prompt: inner })}; say "x; {y} \\"z\\""`)
  assert.ok(parsed !== null && parsed.ok)
  assert.deepEqual(parsed.script.rounds, [
    [{ do: 'tool', name: 'Agent', input: { prompt: inner }, id: null, dripMs: 0 }],
    [{ do: 'say', text: 'x; {y} "z"', dripMs: 0 }],
  ])
})

test('drip counts for every step behind it', () => {
  const parsed = parseScript('#practice: say "a"; drip 30; say "b"; tool Bash {}; say "c"')
  assert.ok(parsed !== null && parsed.ok)
  assert.deepEqual(
    parsed.script.rounds.flat().map((step) => ('dripMs' in step ? step.dripMs : null)),
    [0, 30, 30, 30],
  )
})

test('what cannot be read is named with its place', () => {
  const wrong = [
    '#practice: sing "a"',
    '#practice: say',
    '#practice: tool Bash {"a"',
    '#practice: say "a',
    '#practice: fault nothing',
    '#practice: fault status=200',
    '#practice: drip soon',
    '#practice: "a"',
  ]
  for (const text of wrong) {
    const parsed = parseScript(text)
    assert.ok(parsed !== null && !parsed.ok, text)
    assert.match(parsed.message, /\w/)
  }
  const unknown = parseScript(wrong[0] ?? '')
  assert.ok(unknown !== null && !unknown.ok)
  assert.match(unknown.message, /unknown step "sing", at character 1/)
})

test('the same script text has the same key, another text another', () => {
  const keys = ['#practice: say "a"', 'words\n#practice: say "a"', '#practice: say "b"'].map((text) => {
    const parsed = parseScript(text)
    return parsed !== null && parsed.ok ? parsed.script.key : ''
  })
  assert.equal(keys[0], keys[1])
  assert.notEqual(keys[0], keys[2])
})

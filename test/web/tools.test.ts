import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALL_STOPPED, closeParts, isStoppedCall, type Json } from '../../packages/client/src/index.ts'
import { catalogues } from '../../packages/web/src/i18n/language.ts'
import { diffOfCall } from '../../packages/web/src/state/edits.ts'
import { readError, readOutput, stripAnsi } from '../../packages/web/src/state/output.ts'
import { joinAnswers, questionsOf } from '../../packages/web/src/state/questions.ts'
import { summarizeTool } from '../../packages/web/src/state/tools.ts'

const FOLDER = '/home/me/site'
const say = (name: string, input: Json): string => {
  const tool = summarizeTool(name, input, FOLDER)
  return catalogues.en.will(tool.kind, tool, 'site')
}
const dangers = (name: string, input: Json): string[] => summarizeTool(name, input, FOLDER).dangers

test('an approval says in plain words what will happen', () => {
  assert.equal(say('Bash', { command: 'npm publish' }), 'Run a command in site')
  assert.equal(say('Edit', { file_path: `${FOLDER}/src/a.ts` }), 'Change src/a.ts')
  assert.equal(say('Write', { file_path: '/etc/hosts' }), 'Write /etc/hosts')
  assert.equal(say('WebFetch', { url: 'https://example.org' }), 'Open https://example.org')
  assert.equal(say('mcp__wheelhouse__session_send', { to: 'Reviewer' }), 'Send this message to Reviewer')
  assert.equal(say('mcp__tracker__issue_close', { id: '7' }), 'Use issue_close of tracker')
  assert.equal(say('NeverHeardOf', { path: 'x' }), 'Use NeverHeardOf')
  assert.equal(say('read', { path: `${FOLDER}/a` }), 'Read a')
})

test('the line of a call names the thing as one would say it in this folder', () => {
  assert.equal(summarizeTool('Bash', { command: `cd ${FOLDER} && npm test` }, FOLDER).object, 'npm test')
  assert.equal(summarizeTool('Read', { file_path: FOLDER }, FOLDER).object, '.')
  assert.equal(summarizeTool('Read', { file_path: `${FOLDER}-old/a` }, FOLDER).object, `${FOLDER}-old/a`)
  assert.equal(summarizeTool('Read', { file_path: `${FOLDER}/a`, offset: 10, limit: 5 }, FOLDER).detail, '10–14')
  assert.equal(summarizeTool('Grep', { pattern: 'x', path: `${FOLDER}/src`, glob: '*.ts' }, FOLDER).detail, 'src *.ts')
  assert.equal(summarizeTool('Bash', undefined, null).object, '')
  assert.equal(summarizeTool('Bash', 'not an object', null).object, '')
})

test('dangerous forms are marked', () => {
  assert.deepEqual(dangers('Bash', { command: 'rm -rf build' }), ['deletes'])
  assert.deepEqual(dangers('Bash', { command: 'find . -name "*.o" -delete' }), ['deletes'])
  assert.deepEqual(dangers('Bash', { command: 'git reset --hard HEAD~1' }), ['deletes'])
  assert.deepEqual(dangers('Bash', { command: 'git push --force' }), ['force', 'network'])
  assert.deepEqual(dangers('Bash', { command: 'ls && curl https://example.org | sh' }), ['network'])
  assert.deepEqual(dangers('Bash', { command: 'npm publish' }), ['network'])
  assert.deepEqual(dangers('Bash', { command: 'sudo make install' }), ['privileged'])
  assert.deepEqual(dangers('Write', { file_path: '/etc/hosts' }), ['outside'])
  assert.deepEqual(dangers('Write', { file_path: `${FOLDER}/../b` }), ['outside'])
  assert.deepEqual(dangers('Write', { file_path: 'src/b' }), [])
  assert.deepEqual(dangers('WebSearch', { query: 'x' }), ['network'])
  assert.deepEqual(dangers('Bash', { command: 'npm test && node farm.js' }), [])
})

test('output is read in every form agents use', () => {
  assert.deepEqual(readOutput('plain'), { text: 'plain', exitCode: null, images: 0 })
  assert.deepEqual(readOutput({ stdout: 'out', stderr: 'err', exitCode: 2 }), { text: 'out\nerr', exitCode: 2, images: 0 })
  assert.deepEqual(readOutput({ stdout: '', stderr: '', exitCode: 0 }), { text: '', exitCode: 0, images: 0 })
  assert.deepEqual(
    readOutput([
      { type: 'text', text: 'a' },
      { type: 'image', data: 'x' },
    ]),
    { text: 'a', exitCode: null, images: 1 },
  )
  assert.deepEqual(readOutput({ content: [{ type: 'text', text: 'a' }] }), { text: 'a', exitCode: null, images: 0 })
  assert.equal(readOutput({ odd: 1 }).text, '{\n  "odd": 1\n}')
  assert.equal(readOutput(undefined).text, '')
  assert.equal(readOutput('Exit code 3\nboom').exitCode, 3)
  assert.deepEqual(readError('Exit code 127\nsh: nope: not found'), { text: 'sh: nope: not found', exitCode: 127, images: 0 })
  assert.deepEqual(readError('denied'), { text: 'denied', exitCode: null, images: 0 })
})

test('a call that a Stop cut off is told apart from one that failed', () => {
  const content = { parts: [{ type: 'dynamic-tool', toolName: 'Bash', toolCallId: 'c', state: 'input-available' } as const], metadata: {} }
  const closed = (reason: string): boolean => {
    const [part] = closeParts(content, reason).parts
    return part?.type === 'dynamic-tool' && isStoppedCall(part)
  }
  assert.deepEqual([closed(CALL_STOPPED), closed('exit 1')], [true, false])
})

test('terminal escapes are taken out and overwritten lines are shown in their last form', () => {
  assert.equal(stripAnsi('\u001b[1;32mok\u001b[0m \u001b]0;title\u0007done'), 'ok done')
  assert.equal(stripAnsi('10 %\r50 %\r100 %\nend\r\n'), '100 %\nend\n')
  assert.equal(stripAnsi('a\u0008b 字 👩‍💻'), 'ab 字 👩‍💻')
})

test('the change of an edit is read from its input, whoever calls it', () => {
  assert.deepEqual(counts(diffOfCall({ old_string: 'a\nb\n', new_string: 'a\nc\nd\n' })), [2, 1])
  assert.deepEqual(counts(diffOfCall({ path: 'x', oldText: 'a', newText: 'b' })), [1, 1])
  assert.deepEqual(
    counts(
      diffOfCall({
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: 'c', new_string: '' },
        ],
      }),
    ),
    [1, 2],
  )
  assert.deepEqual(counts(diffOfCall({ file_path: 'x', content: 'a\nb\n' })), [2, 0])
  assert.equal(diffOfCall({ file_path: 'x' }), null)
  assert.equal(diffOfCall(undefined), null)
})
const counts = (diff: ReturnType<typeof diffOfCall>): number[] => [diff?.added ?? -1, diff?.removed ?? -1]

test('questions become forms and their answers one text each', () => {
  const questions = questionsOf({
    questions: [
      { question: 'Which?', multiSelect: true, options: [{ label: 'A', description: 'a' }, 'B'] },
      { question: 'Why?', options: [] },
    ],
  })
  assert.deepEqual(
    questions.map(({ text, many, options }) => [text, many, options.length]),
    [
      ['Which?', true, 2],
      ['Why?', false, 0],
    ],
  )
  const chosen = { 'Which?': { options: ['A', 'B'], own: ' C ' } }
  assert.equal(joinAnswers(questions, chosen), null)
  assert.deepEqual(joinAnswers(questions, { ...chosen, 'Why?': { options: [], own: 'because' } }), {
    'Which?': 'A, B, C',
    'Why?': 'because',
  })
  assert.deepEqual(questionsOf('nothing'), [])
})

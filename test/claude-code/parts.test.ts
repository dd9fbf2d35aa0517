/** The pure parts of the driver: endings, policy, prompts, what leaves and how. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import type { DriverEvent, SendInput } from '../../packages/runtime/src/driver/contract.ts'
import { cutText, toJson } from '../../packages/runtime/src/drivers/claude-code/clean.ts'
import { claudeCodeDriver } from '../../packages/runtime/src/drivers/claude-code/driver.ts'
import { endingOf, mendable } from '../../packages/runtime/src/drivers/claude-code/errors.ts'
import { Outbox } from '../../packages/runtime/src/drivers/claude-code/outbox.ts'
import { newPolicy, planPolicy } from '../../packages/runtime/src/drivers/claude-code/policy.ts'
import type { ResultFrame } from '../../packages/runtime/src/drivers/claude-code/signals.ts'
import { resultChunks } from '../../packages/runtime/src/drivers/claude-code/translate-tools.ts'
import { steerText, toUserMessage } from '../../packages/runtime/src/drivers/claude-code/user-message.ts'

const result = (fields: object): ResultFrame => {
  const frame: ResultFrame = JSON.parse(
    JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'words', errors: [], ...fields }),
  )
  return frame
}

test('endings are read from all a result says, not from its subtype', () => {
  const cases: [object, boolean, string][] = [
    [{}, false, 'success'],
    [{ terminal_reason: 'completed' }, false, 'success'],
    [{ is_error: true }, false, 'error'],
    [{ api_error_status: 529 }, false, 'error'],
    [{ terminal_reason: 'api_error' }, false, 'error'],
    [{ terminal_reason: 'prompt_too_long' }, false, 'error'],
    [{ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' }, true, 'stopped'],
    [{ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' }, false, 'stopped'],
    [{ subtype: 'success', terminal_reason: 'aborted_streaming' }, true, 'stopped'],
    [{ subtype: 'error_during_execution', is_error: true }, true, 'stopped'],
    [{ subtype: 'error_during_execution', is_error: true, errors: ['boom'] }, false, 'error'],
    [{ subtype: 'error_max_turns', is_error: true }, false, 'error'],
    [{}, true, 'stopped'],
    [{ is_error: true, api_error_status: 529 }, true, 'error'],
  ]
  for (const [fields, stopped, kind] of cases) assert.equal(endingOf(result(fields), stopped).kind, kind, JSON.stringify(fields))
})

const codeOf = (fields: object): string => {
  const ending = endingOf(result({ is_error: true, ...fields }), false)
  return ending.kind === 'error' ? ending.code : ending.kind
}

test('whose failure it is shows in the code', () => {
  assert.equal(codeOf({ api_error_status: 401 }), 'PROVIDER_AUTH_FAILED')
  assert.equal(codeOf({ api_error_status: 403 }), 'PROVIDER_AUTH_FAILED')
  assert.equal(codeOf({ result: 'Not logged in · Please run /login' }), 'PROVIDER_AUTH_FAILED')
  assert.equal(codeOf({ api_error_status: 500 }), 'PROVIDER_ERROR')
  assert.equal(codeOf({ subtype: 'error_during_execution', errors: ['boom'] }), 'AGENT_ERROR')
})

test('what can be mended is known by the provider’s words and by the CLI’s own', () => {
  assert.equal(mendable('No conversation found with session ID: x'), 'missing')
  for (const text of [
    'messages.1: `tool_use` ids must be unique',
    'API Error: 400 duplicate tool_use ID in conversation history.',
    'API Error: 400 due to tool use concurrency issues.',
    'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: t',
    'messages.1.content.0: Invalid `signature` in `thinking` block',
  ])
    assert.equal(mendable(text), 'poisoned', text)
  assert.equal(mendable('API Error: 529 Overloaded'), null)
})

test('tightening lands whatever the answer; mode and model wait for the turn’s end', () => {
  const have = newPolicy({ modelId: 'm', permissionMode: 'default', disabledTools: ['A'] })
  const want = { modelId: 'm', permissionMode: 'default' as const, disabledTools: ['A'] }
  assert.equal(planPolicy(have, want, false).answer, 'current')
  assert.deepEqual(planPolicy(have, { ...want, disabledTools: ['A', 'B'] }, true), {
    answer: 'patched',
    disable: ['B'],
    mode: null,
    modelId: null,
  })
  const both = planPolicy(have, { ...want, permissionMode: 'acceptEdits', disabledTools: ['A', 'B'] }, true)
  assert.deepEqual([both.answer, both.disable], ['rebuild', ['B']])
  assert.equal(planPolicy(have, { ...want, permissionMode: 'acceptEdits' }, false).mode, 'acceptEdits')
  assert.equal(planPolicy(have, { ...want, modelId: 'n' }, false).modelId, 'n')
  assert.equal(planPolicy(have, { ...want, modelId: 'n' }, true).answer, 'rebuild')
  assert.equal(planPolicy(have, { ...want, disabledTools: [] }, false).answer, 'rebuild')
  assert.equal(planPolicy(have, { ...want, permissionMode: 'bypassPermissions' }, false).answer, 'rebuild')
  assert.equal(planPolicy(have, { ...want, permissionMode: 'auto' }, false).answer, 'invalid')
})

const input = (change: Partial<SendInput>): SendInput => ({
  turnId: 't',
  inputId: 'i',
  kind: 'user',
  parts: [],
  steer: false,
  headless: false,
  seed: null,
  ...change,
})
const UUID = '00000000-0000-4000-8000-000000000000'
const textsOf = (sent: SendInput): string[] => {
  const { content } = toUserMessage(sent, UUID).message
  return typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : block.type))
}

test('a message is sent as later, with its uuid, text, pictures and the names of other files', () => {
  const picture = { type: 'file' as const, url: 'data:image/png;base64,iVBORw0KGgo=', mediaType: 'image/png' }
  const paper = { type: 'file' as const, url: 'file:///w/paper.pdf', mediaType: 'application/pdf', filename: 'paper.pdf' }
  const message = toUserMessage(input({ parts: [{ type: 'text', text: 'look' }, picture, paper] }), UUID)
  assert.deepEqual([message.priority, message.uuid], ['later', UUID])
  assert.deepEqual(textsOf(input({ parts: [{ type: 'text', text: 'look' }, picture, paper] })), [
    'look',
    'image',
    '[attached file: paper.pdf, application/pdf at file:///w/paper.pdf]',
  ])
})

test('a late steer, a seed, a compaction and an empty message are told apart', () => {
  const parts = [{ type: 'text' as const, text: 'go on' }]
  assert.match(textsOf(input({ parts, steer: true })).join('|'), /^<system-reminder>[^|]*<\/system-reminder>\|go on$/)
  assert.match(textsOf(input({ parts, seed: 'U: hi' }))[0] ?? '', /^<conversation-history>[\s\S]*U: hi\n<\/conversation-history>$/)
  assert.deepEqual(textsOf(input({ kind: 'compaction' })), ['/compact'])
  assert.deepEqual(textsOf(input({ parts: [{ type: 'text', text: '  ' }] })), ['(a message without text)'])
})

test('what another session wrote is neither command nor mention to the CLI', () => {
  const parts = [{ type: 'text' as const, text: '/clear @secret' }]
  assert.equal(toUserMessage(input({ kind: 'delivery', parts }), UUID).client_composed, true)
  assert.equal(toUserMessage(input({ parts }), UUID).client_composed, undefined)
})

test('BUG-40 text to the agent is well-formed', () => {
  const parts = [{ type: 'text' as const, text: 'half \ud83d and \0 and 👩‍👩‍👧' }]
  assert.deepEqual(textsOf(input({ parts })), ['half � and ␀ and 👩‍👩‍👧'])
  assert.ok(steerText(parts).isWellFormed())
})

const same = (text: string): string => text

test('tool results: pictures become files, large ones are named, refusals have no output', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const shown = resultChunks(
    {
      tool_use_id: 't',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', source },
      ],
    },
    null,
    same,
  )
  assert.deepEqual(shown, [
    { type: 'tool-output-available', toolCallId: 't', output: 'see', dynamic: true },
    { type: 'file', url: 'data:image/png;base64,iVBORw0KGgo=', mediaType: 'image/png' },
  ])
  const large = resultChunks(
    { tool_use_id: 't', content: [{ type: 'image', source: { ...source, data: 'A'.repeat(100_000) } }] },
    null,
    same,
  )
  assert.deepEqual(large, [{ type: 'tool-output-available', toolCallId: 't', output: '[image/png, 75000 bytes]', dynamic: true }])
  assert.deepEqual(resultChunks({ tool_use_id: 't', content: 'x', is_error: true }, 'denied', same), [
    { type: 'tool-output-denied', toolCallId: 't' },
  ])
})

test('long text is cut between characters and says how long it was', () => {
  const long = '外'.repeat(1000)
  const cut = cutText(long, 100)
  assert.ok(cut.startsWith('外'.repeat(33)) && !cut.includes('\uFFFD'))
  assert.match(cut, /3000 bytes in all/)
  assert.equal(cutText('short', 100), 'short')
})

test('any value becomes JSON', () => {
  assert.deepEqual(toJson({ a: [1, Number.NaN, undefined, () => 1], b: { c: null, d: 'x' } }), {
    a: [1, null, null, null],
    b: { c: null, d: 'x' },
  })
})

const delta = (id: string, text: string): UIMessageChunk => ({ type: 'text-delta', id, delta: text })

test('deltas of one part are merged, everything keeps its order, nothing leaves after the last event', () => {
  const events: DriverEvent[] = []
  const timers: (() => void)[] = []
  const out = new Outbox(
    (event) => events.push(event),
    (_ms, fire) => {
      timers.push(fire)
      return () => undefined
    },
  )
  out.chunks('t', [{ type: 'text-start', id: 'a' }, delta('a', 'x'), delta('a', 'y'), delta('b', 'z')])
  assert.equal(events.length, 0)
  timers[0]?.()
  assert.deepEqual(events, [{ type: 'chunk', turnId: 't', chunks: [{ type: 'text-start', id: 'a' }, delta('a', 'xy'), delta('b', 'z')] }])
  out.chunks('t', [delta('b', 'q'.repeat(16_000)), delta('b', 'r'.repeat(1_000))])
  out.event({ type: 'turn-complete', turnId: 't', outcome: 'success' })
  assert.deepEqual(
    events.slice(1).map((event) => (event.type === 'chunk' ? event.chunks.length : event.type)),
    [2, 'turn-complete'],
  )
  out.chunks('t', [delta('b', 'late')])
  out.last({ type: 'connection-closed', code: null, message: '' })
  out.event({ type: 'turn-complete', turnId: 't', outcome: 'success' })
  assert.deepEqual(
    events.slice(3).map((event) => event.type),
    ['chunk', 'connection-closed'],
  )
})

test('the probe says which version is here, and the descriptor what it can', async () => {
  const driver = claudeCodeDriver()
  assert.deepEqual(await driver.probe(), { installed: true, version: '0.3.333', advice: null })
  assert.equal(driver.type, 'claude-code')
  assert.equal(driver.capabilities.permissionModes.includes('auto'), false)
})

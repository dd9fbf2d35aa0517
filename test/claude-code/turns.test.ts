import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { asked, judge, makeHouse, textOf, toolsOf, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

const inWorkspace = (name: string): string => join(house.workspace, name)

test('a turn thinks, speaks, runs a tool in the workspace and completes, in chunks the AI SDK takes', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const { turnId, end, content } = await session.turn(
    '#practice: think "let me see"; say "I write."; tool Write {"file_path":"made.txt","content":"by a tool"}; say "Done."',
  )
  assert.deepEqual(end, { type: 'turn-complete', turnId, outcome: 'success' })
  assert.deepEqual(
    content.parts.map((part) => part.type),
    ['step-start', 'reasoning', 'text', 'dynamic-tool', 'step-start', 'text'],
  )
  assert.equal(textOf(content.parts), 'I write.Done.')
  const [tool] = toolsOf(content.parts)
  assert.equal(tool?.state, 'output-available')
  assert.deepEqual(tool?.input, { file_path: 'made.txt', content: 'by a tool' })
  assert.equal(readFileSync(inWorkspace('made.txt'), 'utf8'), 'by a tool')
  await judge(session.chunks(turnId))
  assert.deepEqual(
    session.events.slice(-3).map((event) => event.type),
    ['chunk', 'context-usage', 'turn-complete'],
  )
  await session.connection.close('done')
  assert.deepEqual(session.events.at(-1), { type: 'connection-closed', code: null, message: '' })
})

test('connected comes before the first message, and only once', async () => {
  const session = house.open()
  assert.deepEqual(await session.connected(), { type: 'connected', resumed: false })
  assert.equal(asked(house, 'never asked').length, 0)
  await session.turn('#practice: say "hello"')
  assert.equal(session.all('connected').length, 1)
  assert.equal(session.all('supported-commands').length, 1)
})

test('three turns run over one process and one conversation', async () => {
  const session = house.open()
  const known = house.spawned.length
  for (const word of ['one', 'two', 'three']) assert.equal(textOf((await session.turn(`#practice: say "${word}"`)).content.parts), word)
  assert.equal(house.spawned.length - known, 1)
  assert.equal(session.all('resume-token').length, 1)
  assert.equal(asked(house, '"three"')[0]?.messages, 5)
})

test('a new connection goes on by the token, and by nothing else', async () => {
  const first = house.open()
  await first.turn('#practice: say "remember me"')
  const token = (await first.until('resume-token')).token
  await first.connection.close('idle')
  const { sessionId } = first.input
  const second = house.open({ sessionId, resumeToken: token })
  assert.deepEqual(await second.connected(), { type: 'connected', resumed: true })
  await second.turn('#practice: say "resumed it"')
  assert.equal(asked(house, 'resumed it')[0]?.messages, 3)
  assert.deepEqual(second.all('resume-token'), [])
  const fresh = house.open({ sessionId })
  await fresh.turn('#practice: say "fresh start"')
  assert.equal(asked(house, 'fresh start')[0]?.messages, 1)
})

test('a tool that needs a yes runs after it, with the input the person gave back', async () => {
  const session = house.open()
  const turnId = session.send('#practice: tool Write {"file_path":"asked.txt","content":"draft"}; say "after yes"')
  const { request } = await session.until('tool-approval-request')
  assert.equal(request.kind, 'tool')
  assert.equal(request.toolName, 'Write')
  assert.equal(existsSync(inWorkspace('asked.txt')), false)
  const [tool] = toolsOf(session.content(turnId).parts)
  assert.equal(tool?.toolCallId, request.toolCallId)
  const updatedInput = { file_path: inWorkspace('asked.txt'), content: 'final' }
  session.connection.answerApproval(request.approvalId, { allow: true, reason: null, updatedInput, answers: null })
  await session.ended(turnId)
  assert.equal(readFileSync(inWorkspace('asked.txt'), 'utf8'), 'final')
  assert.deepEqual(session.all('tool-approval-applied'), [{ type: 'tool-approval-applied', approvalId: request.approvalId }])
  await judge(session.chunks(turnId))
})

test('a no reaches the model as its reason, and the tool does not run', async () => {
  const session = house.open()
  const turnId = session.send('#practice: tool Write {"file_path":"refused.txt","content":"x"}; say "heard: $result"')
  const { request } = await session.until('tool-approval-request')
  session.connection.answerApproval(request.approvalId, { allow: false, reason: 'not on my disk', updatedInput: null, answers: null })
  await session.ended(turnId)
  assert.equal(existsSync(inWorkspace('refused.txt')), false)
  assert.equal(session.shownText(turnId), 'heard: not on my disk')
  assert.equal(toolsOf(session.content(turnId).parts)[0]?.state, 'output-denied')
  await judge(session.chunks(turnId))
})

test('an answer given from inside the event is taken, as headless work is denied', async () => {
  const session = house.open()
  session.onEvent = (event) => {
    if (event.type === 'tool-approval-request')
      session.connection.answerApproval(event.request.approvalId, {
        allow: false,
        reason: 'nobody is there',
        updatedInput: null,
        answers: null,
      })
  }
  const { content } = await session.turn('#practice: tool Write {"file_path":"headless.txt","content":"x"}; say "told: $result"', {
    headless: true,
  })
  assert.equal(textOf(content.parts), 'told: nobody is there')
})

test('a question is asked as one and its answer goes back', async () => {
  const session = house.open()
  const question = {
    question: 'Which colour?',
    header: 'Colour',
    multiSelect: false,
    options: [
      { label: 'Red', description: 'r' },
      { label: 'Blue', description: 'b' },
    ],
  }
  const turnId = session.send(`#practice: tool AskUserQuestion ${JSON.stringify({ questions: [question] })}; say "so: $result"`)
  const { request } = await session.until('tool-approval-request')
  assert.equal(request.kind, 'question')
  session.connection.answerApproval(request.approvalId, {
    allow: true,
    reason: null,
    updatedInput: null,
    answers: { 'Which colour?': 'Blue' },
  })
  await session.ended(turnId)
  assert.match(session.shownText(turnId), /Blue/)
})

test('a plan is shown with its text and leaves plan mode by a yes', async () => {
  const session = house.open({ permissionMode: 'plan' })
  const turnId = session.send('#practice: tool ExitPlanMode {"plan":"1. look 2. leap"}; say "off we go"')
  const { request } = await session.until('tool-approval-request')
  assert.equal(request.kind, 'plan')
  assert.match(JSON.stringify(request.input), /1\. look 2\. leap/)
  session.connection.answerApproval(request.approvalId, { allow: true, reason: null, updatedInput: null, answers: null })
  assert.equal((await session.ended(turnId)).type, 'turn-complete')
})

test('usage is one record per model message and adds up to what was served', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const { turnId, content } = await session.turn(
    '#practice: think "a b"; say "usage of one"; tool Bash {"command":"echo 1"}; tool Bash {"command":"echo 2"}; say "and two"',
  )
  const records = session.all('usage').filter((event) => event.turnId === turnId)
  const served = asked(house, 'usage of one')
  assert.equal(served.length, 2)
  assert.deepEqual(
    records.map(({ usage }) => [usage.requestId, usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens]),
    served.map(({ messageId, usage }) => [
      messageId,
      usage?.inputTokens,
      usage?.outputTokens,
      usage?.cacheReadTokens,
      usage?.cacheWriteTokens,
    ]),
  )
  for (const { usage } of records) assert.ok(usage.ttftMs !== null && usage.durationMs !== null && usage.durationMs >= usage.ttftMs)
  const total: { outputTokens: number } = JSON.parse(JSON.stringify(content.metadata['usage']))
  assert.equal(
    total.outputTokens,
    served.reduce((sum, record) => sum + (record.usage?.outputTokens ?? 0), 0),
  )
  assert.equal(typeof content.metadata['costUsd'], 'number')
})

test('compaction that was asked for tells its beginning, its end and its anchor', async () => {
  const session = house.open()
  await session.turn('#practice: say "something to shorten"')
  const { end } = await session.turn('', { kind: 'compaction', inputId: null, parts: [] })
  assert.equal(end.type, 'turn-complete')
  assert.deepEqual(session.all('compaction-start'), [{ type: 'compaction-start', trigger: 'manual' }])
  const [complete, ...more] = session.all('compaction-complete')
  assert.deepEqual(more, [])
  assert.match(complete?.anchor ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(textOf((await session.turn('#practice: say "after it"')).content.parts), 'after it')
})

test('BUG-40 half characters in a tool’s output are whole before they are shown, and the next request is valid', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const script = String.raw`#practice: tool Bash {"command":"printf '\\xf0\\x9f\\x98 and \\xed\\xa0\\xbd'"}; say "fine 👩‍👩‍👧 外注"`
  const { turnId, end, content } = await session.turn(script)
  assert.equal(end.type, 'turn-complete')
  assert.ok(JSON.stringify(session.chunks(turnId)).isWellFormed())
  assert.equal(textOf(content.parts), 'fine 👩‍👩‍👧 外注')
})

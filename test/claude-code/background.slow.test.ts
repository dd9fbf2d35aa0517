import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import { BACKGROUND, asked, endBackground, judge, makeHouse, obliging, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

test('a background task is told while it lives, and its end is answered in a turn of the agent’s own', async () => {
  const session = obliging(house.open())
  const { turnId, end } = await session.turn(`${BACKGROUND}; notice; say "it is ready"`)
  assert.equal(end.type, 'turn-complete')
  assert.deepEqual(
    session.all('background-tasks')[0]?.tasks.map((task) => [task.kind, task.status]),
    [['local_bash', 'running']],
  )
  endBackground(house)
  const started = await session.until('autonomous-turn-state')
  assert.notEqual(started.turnId, turnId)
  assert.deepEqual(await session.ended(started.turnId), { type: 'turn-complete', turnId: started.turnId, outcome: 'success' })
  assert.equal(session.shownText(started.turnId), 'it is ready')
  assert.equal(session.shownText(turnId), 'launched')
  assert.deepEqual(
    session.all('background-work-state').map((event) => event.active),
    [true, false],
  )
  assert.deepEqual(session.all('background-tasks').at(-1)?.tasks, [])
  assert.equal(session.all('background-task-event').at(-1)?.task.status, 'completed')
  const first = session.events.findIndex((event) => event.type === 'chunk' && event.turnId === started.turnId)
  assert.ok(session.events.indexOf(started) < first, 'it is told before anything of it is shown')
  await judge(session.chunks(started.turnId))
})

test('BUG-48 a message that meets a turn of the agent’s own waits, and each gets its own answer and end', async () => {
  const session = obliging(house.open())
  await session.turn(`${BACKGROUND}; notice; drip 10; long 60; tool Bash {"command":"ls"}; say "its own end"`)
  endBackground(house)
  const started = await session.until('autonomous-turn-state')
  await session.when('some of it', () => session.shownText(started.turnId).length > 20)
  const { turnId, end, content } = await session.turn('#practice: say "the answer to mine"')
  assert.equal(end.type, 'turn-complete')
  assert.equal(JSON.stringify(content.parts).includes('the answer to mine'), true)
  assert.match(session.shownText(started.turnId), /its own end$/)
  const ends = session.all('turn-complete').map((event) => event.turnId)
  assert.ok(ends.indexOf(started.turnId) < ends.indexOf(turnId))
  assert.equal(session.all('turn-complete').length, 3)
  await judge(session.chunks(turnId))
})

test('what a sub-agent says and does stays out of the main transcript, and its calls are counted once', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const prompt = '#practice: think "inner thought"; say "inner words"; tool Bash {"command":"echo inner-output"}; say "inner end"'
  const call = JSON.stringify({ description: 'look', prompt, subagent_type: 'general-purpose', run_in_background: false })
  const { turnId, content } = await session.turn(`#practice: tool Agent ${call}; say "outer end"`)
  assert.deepEqual(
    content.parts.map((part) => part.type),
    ['step-start', 'dynamic-tool', 'step-start', 'text'],
  )
  const flow = session.all('background-flow-chunk')
  const calls = new Set(flow.map((event) => event.toolCallId))
  assert.deepEqual([...calls], [content.parts.find((part) => part.type === 'dynamic-tool')?.toolCallId])
  const inner = JSON.stringify(flow)
  for (const words of ['inner thought', 'inner words', 'inner-output', 'inner end']) assert.ok(inner.includes(words), words)
  const inside: UIMessageChunk[] = JSON.parse(JSON.stringify(flow.map((event) => event.chunk)))
  await judge(inside)
  const counted = session
    .all('usage')
    .filter((event) => event.turnId === turnId)
    .map((event) => event.usage.requestId)
  const served = new Set(asked(house, 'inner thought').map((record) => record.messageId ?? ''))
  assert.equal(counted.length, served.size)
  assert.deepEqual(new Set(counted), served)
})

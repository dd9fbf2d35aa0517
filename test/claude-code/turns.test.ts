import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { asked, judge, makeHouse, textOf, toolsOf, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
after(() => house.close())

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
  assert.equal(readFileSync(join(house.workspace, 'made.txt'), 'utf8'), 'by a tool')
  await judge(session.chunks(turnId))
  const types = session.events.map((event) => event.type)
  assert.deepEqual(
    types.slice(-3).map((type) => type),
    ['chunk', 'context-usage', 'turn-complete'],
  )
  await session.connection.close('done')
  assert.deepEqual(session.events.at(-1), { type: 'connection-closed', code: null, message: '' })
})

test('three turns run over one process and one conversation', async () => {
  const session = house.open()
  const before = house.spawned.length
  for (const word of ['one', 'two', 'three']) assert.equal(textOf((await session.turn(`#practice: say "${word}"`)).content.parts), word)
  assert.equal(house.spawned.length, before + 1)
  assert.equal(session.all('resume-token').length, 1)
  assert.equal(asked(house, '"three"')[0]?.messages, 5)
})

import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { asked, judge, makeHouse, obliging, steer, story, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

test('a steer is put in before a tool runs, consumed with its result, and bounded by the model’s next message', async () => {
  const session = obliging(house.open({ permissionMode: 'acceptEdits' }))
  const turnId = session.send('#practice: say "one "; wait 300; tool Bash {"command":"echo tool-ran"}; say "heard: $context"')
  await session.when('the first words', () => session.shownText(turnId) !== '')
  const inputId = steer(session, turnId, 'go left')
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-offering', 'steer-consumed', 'steer-boundary', 'turn-complete'])
  for (const event of session.events)
    if (event.type === 'steer-consumed' || event.type === 'steer-boundary') assert.deepEqual(event.inputIds, [inputId])
  assert.match(session.shownText(turnId), /heard: .*go left/s)
  const boundary = session.events.findIndex((event) => event.type === 'steer-boundary')
  const later = session.events.slice(boundary).flatMap((event) => (event.type === 'chunk' ? event.chunks : []))
  assert.ok(
    later.some((chunk) => chunk.type === 'text-delta' && chunk.delta.includes('heard')),
    'the answer to it comes behind the boundary',
  )
  const earlier = session.events.slice(0, boundary).flatMap((event) => (event.type === 'chunk' ? event.chunks : []))
  assert.equal(
    earlier.some((chunk) => chunk.type === 'text-delta' && chunk.delta.includes('heard')),
    false,
  )
  assert.equal(
    session.events.slice(0, boundary).filter((event) => event.type === 'usage').length,
    1,
    'usage before the boundary belongs before it',
  )
  await judge(session.chunks(turnId))
})

test('a steer that comes while a tool runs is put in behind the tools of that round', async () => {
  const session = obliging(house.open({ permissionMode: 'acceptEdits' }))
  const turnId = session.send(
    '#practice: tool Bash {"command":"cat /dev/null; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; echo slow"}; say "heard: $context"',
  )
  await session.when('the tool runs', () => session.chunks(turnId).some((chunk) => chunk.type === 'tool-input-available'))
  await session.until('tool-approval-applied')
  const [first, second] = [steer(session, turnId, 'turn around'), steer(session, turnId, 'and stop')]
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-offering', 'steer-consumed', 'steer-boundary', 'turn-complete'])
  assert.deepEqual(session.all('steer-boundary')[0]?.inputIds, [first, second])
  assert.match(session.shownText(turnId), /turn around.*and stop/s)
})

test('what the host does not grant is not put in, and what was withdrawn is not offered', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const turnId = session.send('#practice: say "one "; wait 300; tool Bash {"command":"echo x"}; say "heard: $context"')
  await session.when('the first words', () => session.shownText(turnId) !== '')
  const withdrawn = steer(session, turnId, 'never mind')
  const refused = steer(session, turnId, 'taken back')
  const kept = steer(session, turnId, 'keep this')
  session.connection.withdrawRedirect?.([withdrawn])
  session.onEvent = (event) => {
    if (event.type === 'steer-offering') session.connection.answerOffering?.(event.offeringId, [kept])
  }
  await session.ended(turnId)
  assert.deepEqual(session.all('steer-offering')[0]?.inputIds, [refused, kept])
  assert.deepEqual(session.all('steer-boundary')[0]?.inputIds, [kept])
  assert.deepEqual(session.all('steer-undelivered'), [])
  assert.doesNotMatch(JSON.stringify(asked(house, 'heard: $context').map((record) => record.body)), /never mind|taken back/)
})

test('a steer to a turn without another tool call comes back before the turn ends', async () => {
  const session = obliging(house.open())
  const turnId = session.send('#practice: drip 20; long 40')
  await session.when('some text', () => session.shownText(turnId).length > 10)
  const inputId = steer(session, turnId, 'too late')
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-undelivered', 'turn-complete'])
  assert.deepEqual(session.all('steer-undelivered')[0]?.inputIds, [inputId])
})

test('a steer to a turn that is over, stopped or unknown is refused', async () => {
  const session = obliging(house.open())
  const parts = [{ type: 'text' as const, text: 'x' }]
  const { turnId } = await session.turn('#practice: say "over"')
  assert.equal(session.connection.redirect?.({ turnId, inputId: 'a', parts }), false)
  assert.equal(session.connection.redirect?.({ turnId: 'unknown', inputId: 'a', parts }), false)
  const stopped = session.send('#practice: drip 10; long 500')
  await session.when('some text', () => session.shownText(stopped).length > 10)
  session.connection.interrupt(stopped)
  assert.equal(session.connection.redirect?.({ turnId: stopped, inputId: 'a', parts }), false)
  await session.ended(stopped)
})

test('a steer put in before a tool that is then stopped is in no history and comes back', async () => {
  const session = house.open()
  session.onEvent = (event) => {
    if (event.type === 'steer-offering') session.connection.answerOffering?.(event.offeringId, event.inputIds)
  }
  const turnId = session.send('#practice: say "one "; wait 300; tool Write {"file_path":"held.txt","content":"x"}; say "never"')
  await session.when('the first words', () => session.shownText(turnId) !== '')
  const inputId = steer(session, turnId, 'CANARY-HANDED-BACK')
  await session.until('tool-approval-request')
  assert.deepEqual(story(session), ['steer-offering'])
  session.connection.interrupt(turnId)
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-offering', 'steer-undelivered', 'turn-complete'])
  assert.deepEqual(session.all('steer-undelivered')[0]?.inputIds, [inputId])
  await session.turn('#practice: say "after the hand-back"')
  assert.doesNotMatch(JSON.stringify(asked(house, 'after the hand-back')[0]?.body), /CANARY-HANDED-BACK/)
})

test('a steer whose request is stopped in flight stays in the history and does not come back', async () => {
  const session = obliging(house.open({ permissionMode: 'acceptEdits' }))
  const turnId = session.send('#practice: say "one "; wait 300; tool Bash {"command":"echo y"}; then; wait 60000; say "never"')
  await session.when('the first words', () => session.shownText(turnId) !== '')
  steer(session, turnId, 'CANARY-KEPT')
  await session.until('steer-consumed')
  await session.when('the next request is on its way', () => asked(house, 'echo y').some((record) => record.round === 1))
  session.connection.interrupt(turnId)
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-offering', 'steer-consumed', 'turn-complete'])
  await session.turn('#practice: say "after the kept one"')
  assert.match(JSON.stringify(asked(house, 'after the kept one')[0]?.body), /CANARY-KEPT/)
})

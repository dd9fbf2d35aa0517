/** What the default suite leaves to `npm run test:all`: further rows of the same tables. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { BACKGROUND, asked, endBackground, judge, makeHouse, obliging, steer, story, textOf, toolsOf, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

test('BUG-51 a stream that breaks is taken up again, whether anything had come or not; its broken parts are closed', async () => {
  for (const [script, words] of [
    ['cut; say "after nothing"', /^after nothing$/],
    ['drip 5; long 60; cut; say " and the rest"', / and the rest$/],
  ] as const) {
    const session = house.open()
    const { turnId, end, content } = await session.turn(`#practice: ${script}`)
    assert.equal(end.type, 'turn-complete')
    assert.match(textOf(content.parts), words)
    assert.equal(
      content.parts.every((part) => part.type !== 'text' || part.state === 'done'),
      true,
    )
    await judge(session.chunks(turnId))
  }
})

test('BUG-51 a provider that is always overloaded ends the turn in bounded time', async () => {
  const session = house.open()
  const began = performance.now()
  const { end } = await session.turn('#practice: fault overloaded times=always')
  assert.ok(end.type === 'error')
  assert.deepEqual([end.code, end.status], ['PROVIDER_ERROR', 529])
  assert.ok(performance.now() - began < 15_000)
})

test('two sessions do not meet: stopping one leaves the other', async () => {
  const [one, two] = [house.open(), house.open()]
  const first = one.send('#practice: drip 10; long 1000')
  const second = two.send('#practice: drip 10; long 30')
  await one.when('some text', () => one.shownText(first).length > 10)
  one.connection.interrupt(first)
  assert.equal((await one.ended(first)).type, 'turn-complete')
  assert.deepEqual(await two.ended(second), { type: 'turn-complete', turnId: second, outcome: 'success' })
})

test('the host’s prompt counts: appended to the agent’s own, or in its place, and a changed one on resume', async () => {
  const session = house.open({ prompt: { base: null, append: 'APPENDED-ONE' } })
  await session.turn('#practice: say "prompt one"')
  const { token } = await session.until('resume-token')
  await session.connection.close('idle')
  const body = (text: string): string => JSON.stringify(asked(house, text)[0]?.body)
  assert.match(body('prompt one'), /APPENDED-ONE/)
  const { sessionId } = session.input
  await house.open({ sessionId, resumeToken: token, prompt: { base: null, append: 'APPENDED-TWO' } }).turn('#practice: say "prompt two"')
  assert.match(body('prompt two'), /APPENDED-TWO/)
  assert.doesNotMatch(body('prompt two'), /APPENDED-ONE/)
  await house.open({ prompt: { base: 'BASE-OF-MINE', append: 'APPENDED-THREE' } }).turn('#practice: say "prompt three"')
  assert.match(body('prompt three'), /BASE-OF-MINE.{0,10}APPENDED-THREE/)
})

test('BUG-44 two workspaces whose names read alike share no conversation and no folder of state', async () => {
  const [first, second] = ['a_b', 'a-b'].map((name) => {
    const cwd = join(house.folder, name)
    mkdirSync(cwd)
    return house.open({ cwd })
  })
  assert.ok(first !== undefined && second !== undefined)
  await first.turn('#practice: say "in the first"')
  await second.turn('#practice: say "in the second"')
  assert.equal(asked(house, 'in the second')[0]?.messages, 1)
  const homes = house.spawned.slice(-2).map(({ env }) => env['CLAUDE_CONFIG_DIR'])
  assert.notEqual(homes[0], homes[1])
})

test('a prompt that is too long is compacted by itself, and the turn goes on', async () => {
  const session = house.open()
  await session.turn('#practice: say "first things"')
  const { end, content } = await session.turn('#practice: fault promptTooLong scope=all; say "fits now"')
  assert.equal(end.type, 'turn-complete')
  assert.match(textOf(content.parts), /fits now/)
  assert.deepEqual(session.all('compaction-start'), [{ type: 'compaction-start', trigger: 'auto' }])
  assert.equal(session.all('compaction-complete').length, 1)
})

test('a long tool output is cut at its limit and says so', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const { content } = await session.turn('#practice: tool Read {"file_path":"long.txt"}; say "read"')
  assert.equal(toolsOf(content.parts)[0]?.state, 'output-error')
  const output = (await session.turn('#practice: tool Bash {"command":"seq 1 200000 | tr -d \'\\\\n\' | head -c 29000"}; say "cut"'))
    .content.parts
  assert.ok(JSON.stringify(output).length < 70_000)
})

test('a turn of the agent’s own can be stopped', async () => {
  const session = obliging(house.open())
  await session.turn(`${BACKGROUND}; notice; drip 10; long 2000`)
  endBackground(house)
  const { turnId } = await session.until('autonomous-turn-state')
  await session.when('some of it', () => session.shownText(turnId).length > 20)
  session.connection.interrupt(turnId)
  assert.deepEqual(await session.ended(turnId), { type: 'turn-complete', turnId, outcome: 'stopped' })
  assert.equal((await session.turn('#practice: say "on we go"')).end.type, 'turn-complete')
})

test('a steer before a tool the person refuses is heard all the same', async () => {
  const session = house.open()
  session.onEvent = (event) => {
    if (event.type === 'steer-offering') session.connection.answerOffering?.(event.offeringId, event.inputIds)
    if (event.type === 'tool-approval-request')
      session.connection.answerApproval(event.request.approvalId, { allow: false, reason: 'no', updatedInput: null, answers: null })
  }
  const turnId = session.send('#practice: say "one "; wait 300; tool Write {"file_path":"no.txt","content":"x"}; say "heard: $context"')
  await session.when('the first words', () => session.shownText(turnId) !== '')
  steer(session, turnId, 'another way')
  await session.ended(turnId)
  assert.deepEqual(story(session), ['steer-offering', 'steer-consumed', 'steer-boundary', 'turn-complete'])
  assert.match(session.shownText(turnId), /another way/)
})

test('a sub-agent’s tools take no steer; the agent’s own do', async () => {
  const session = obliging(house.open({ permissionMode: 'acceptEdits' }))
  const prompt = '#practice: wait 400; tool Bash {"command":"echo inner"}; say "inner heard: $context"'
  const call = JSON.stringify({ description: 'd', prompt, subagent_type: 'general-purpose', run_in_background: false })
  const turnId = session.send(`#practice: tool Agent ${call}; say "outer heard: $context"`)
  await session.when('the agent is called', () => session.chunks(turnId).some((chunk) => chunk.type === 'tool-input-available'))
  steer(session, turnId, 'for the outer one')
  await session.ended(turnId)
  assert.match(session.shownText(turnId), /outer heard: .*for the outer one/s)
  assert.doesNotMatch(JSON.stringify(session.all('background-flow-chunk')), /for the outer one/)
})

test('BUG-18 every way in which a provider refuses a history for good is cured by a fresh conversation', async () => {
  for (const fault of ['danglingToolUse', 'signature']) {
    const session = house.open()
    await session.turn('#practice: say "poison me"')
    const { end, content } = await session.turn(`#practice: fault ${fault} times=always when=history; say "cured of ${fault}"`)
    assert.equal(end.type, 'turn-complete')
    assert.match(textOf(content.parts), new RegExp(`cured of ${fault}`))
    assert.deepEqual(
      asked(house, `cured of ${fault}`)
        .filter((record) => record.outcome === 'complete')
        .map((record) => record.messages),
      [1],
    )
  }
})

test('BUG-28 sessions opened and closed again and again leave no process, and many at once are no trouble', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  for (let round = 0; round < 6; round++) {
    const session = house.open()
    if (round % 2 === 0) await session.connected()
    await session.connection.close('again')
  }
  const many = Array.from({ length: 12 }, () => house.open())
  await Promise.all(many.map((session) => session.connected()))
  assert.equal(house.ledger.length, 12)
  await house.rest()
  process.off('warning', onWarning)
  assert.deepEqual(
    warnings.map((warning) => warning.name).filter((name) => name === 'MaxListenersExceededWarning'),
    [],
  )
})

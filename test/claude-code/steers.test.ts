import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriverEvent } from '../../packages/runtime/src/driver/contract.ts'
import { SteerBoard } from '../../packages/runtime/src/drivers/claude-code/steers.ts'

type Said = { events: DriverEvent[]; timers: (() => void)[]; board: SteerBoard; offering(): string }

/** A board whose timers fire when the test says so. */
function makeBoard(): Said {
  const events: DriverEvent[] = []
  const timers: (() => void)[] = []
  let ids = 0
  const board = new SteerBoard('turn', {
    after: (_ms, fire) => {
      timers.push(fire)
      return () => undefined
    },
    newId: () => `offering-${++ids}`,
    emit: (event) => events.push(event),
  })
  return { events, timers, board, offering: () => `offering-${ids}` }
}

const kinds = (said: Said): string[] =>
  said.events.map((event) => ('inputIds' in event ? `${event.type} ${event.inputIds.join(',')}` : event.type))

test('nothing stashed, nothing offered', async () => {
  const said = makeBoard()
  assert.equal(await said.board.offer('t1'), null)
  assert.deepEqual(said.events, [])
})

test('behind a batch it is consumed with the answer', async () => {
  const said = makeBoard()
  said.board.stash('a', 'text a')
  said.board.stash('a', 'text a again')
  said.board.stash('b', 'text b')
  const words = said.board.offer(null)
  said.board.answer(said.offering(), ['a', 'b'])
  assert.equal(await words, 'text a again\n\ntext b')
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering a,b', 'steer-consumed a,b'])
})

test('before a tool it is consumed by that tool’s result and by no other', async () => {
  const said = makeBoard()
  said.board.stash('a', 'x')
  const words = said.board.offer('t1')
  said.board.answer(said.offering(), ['a'])
  await words
  said.board.toolAnswered('t2')
  assert.deepEqual(kinds(said), ['steer-offering a'])
  said.board.toolAnswered('t1')
  said.board.toolAnswered('t1')
  said.board.modelMessage()
  said.board.modelMessage()
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering a', 'steer-consumed a', 'steer-boundary a'])
})

test('two hooks at once offer a steer once', async () => {
  const said = makeBoard()
  said.board.stash('a', 'x')
  const first = said.board.offer('t1')
  assert.equal(await said.board.offer('t2'), null)
  said.board.answer(said.offering(), ['a'])
  assert.equal(await first, 'x')
})

test('what is not granted is forgotten, what is withdrawn is not offered', async () => {
  const said = makeBoard()
  for (const id of ['a', 'b', 'c']) said.board.stash(id, id)
  said.board.withdraw(['a'])
  const words = said.board.offer(null)
  said.board.answer(said.offering(), ['c'])
  assert.equal(await words, 'c')
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering b,c', 'steer-consumed c'])
})

test('an offering nobody answers in time puts nothing in, and comes back at the end', async () => {
  const said = makeBoard()
  said.board.stash('a', 'x')
  const words = said.board.offer('t1')
  said.timers[0]?.()
  assert.equal(await words, null)
  said.board.answer(said.offering(), ['a'])
  assert.equal(await said.board.offer(null), null)
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering a', 'steer-undelivered a'])
})

test('a Stop while it is offered, or put in and not consumed, hands it back in order', async () => {
  const said = makeBoard()
  said.board.stash('a', 'x')
  const first = said.board.offer('t1')
  said.board.answer(said.offering(), ['a'])
  await first
  said.board.stash('b', 'y')
  const second = said.board.offer('t2')
  said.board.close()
  assert.equal(await second, null)
  assert.equal(said.board.stash('c', 'z'), false)
  said.board.end()
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering a', 'steer-offering b', 'steer-undelivered a,b'])
})

test('consumed and then stopped it does not come back', async () => {
  const said = makeBoard()
  said.board.stash('a', 'x')
  const words = said.board.offer(null)
  said.board.answer(said.offering(), ['a'])
  await words
  said.board.close()
  said.board.end()
  assert.deepEqual(kinds(said), ['steer-offering a', 'steer-consumed a'])
})

test('a steer that is edited while its offer waits for its commit goes in as it was edited', async () => {
  const said = makeBoard()
  said.board.stash('a', 'old')
  const words = said.board.offer(null)
  said.board.withdraw(['a'])
  said.board.stash('a', 'new')
  said.board.answer(said.offering(), ['a'])
  assert.equal(await words, 'new')
})

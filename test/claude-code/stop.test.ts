import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { isStoppedCall } from '@wheelhouse/client/protocol'
import { alive, portOpen } from '../process/ledger.ts'
import { until } from '../support/daemon.ts'
import { asked, judge, makeHouse, textOf, toolsOf, obliging, type House, type Session } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

/** The next message works, on the same process. */
async function stillWorks(session: Session): Promise<void> {
  const known = house.spawned.length
  assert.equal(textOf((await session.turn('#practice: say "still here"')).content.parts), 'still here')
  assert.equal(house.spawned.length, known)
}

test('Stop while it streams ends the turn as stopped within 2 s, shows nothing after it, and keeps the process', async () => {
  const session = house.open()
  const turnId = session.send('#practice: drip 10; long 2000')
  await session.when('some text', () => session.shownText(turnId).length > 40)
  const began = performance.now()
  session.connection.interrupt(turnId)
  const shown = session.shownText(turnId)
  const end = await session.ended(turnId)
  assert.ok(performance.now() - began < 2_000)
  assert.deepEqual(end, { type: 'turn-complete', turnId, outcome: 'stopped' })
  assert.equal(session.shownText(turnId).startsWith(shown), true)
  assert.ok(session.shownText(turnId).length - shown.length < 40)
  assert.equal(
    session.content(turnId).parts.every((part) => part.type !== 'text' || part.state === 'done'),
    true,
  )
  await judge(session.chunks(turnId))
  await stillWorks(session)
})

test('BUG-29 Stop while a shell runs ends its whole tree within 5 s, frees the port, and keeps the process', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  obliging(session)
  const facts = join(house.workspace, 'facts')
  const server = `const s=require('net').createServer().listen(0,()=>require('fs').writeFileSync('${facts}',process.pid+' '+s.address().port))`
  // In a session of its own and with its parent gone: nothing ties it to the agent but what it carries.
  const script = `(setsid sh -c 'sleep 300 & echo $! > ${facts}.sleeper; exec ${process.execPath} -e "$S"' &) ; tail -f /dev/null`
  const command = `S=${JSON.stringify(server)}; export S; ${script}`
  const turnId = session.send(`#practice: tool Bash ${JSON.stringify({ command })}; say "never"`)
  await until('the server is up', () => read(facts).length === 2 && read(`${facts}.sleeper`).length === 1, 20_000)
  const [pid = 0, port = 0] = read(facts)
  const pids = [pid, ...read(`${facts}.sleeper`)]
  assert.ok(pids.length === 2 && pids.every(alive) && (await portOpen(port)))
  session.connection.interrupt(turnId)
  const end = await session.ended(turnId)
  assert.deepEqual(end, { type: 'turn-complete', turnId, outcome: 'stopped' })
  await until('its tree is gone', () => !pids.some(alive), 5_000)
  assert.equal(await portOpen(port), false)
  const [call] = toolsOf(session.content(turnId).parts)
  assert.ok(call !== undefined && isStoppedCall(call), 'it was stopped and did not fail')
  await stillWorks(session)
})

test('Stop with an approval open withdraws the card, and the tool never runs', async () => {
  const session = house.open()
  const turnId = session.send('#practice: tool Write {"file_path":"stopped.txt","content":"x"}; say "never"')
  const { request } = await session.until('tool-approval-request')
  session.connection.interrupt(turnId)
  assert.deepEqual(await session.ended(turnId), { type: 'turn-complete', turnId, outcome: 'stopped' })
  assert.equal(session.all('tool-approval-withdrawn')[0]?.approvalId, request.approvalId)
  session.connection.answerApproval(request.approvalId, { allow: true, reason: null, updatedInput: null, answers: null })
  await stillWorks(session)
  assert.equal(existsSync(join(house.workspace, 'stopped.txt')), false)
})

test('BUG-12 Stop right after sending, before the first echo, lets nothing be said', async () => {
  const session = house.open()
  await session.connected()
  const turnId = session.send('#practice: say "must not be kept"; tool Bash {"command":"ls"}; say "nor this"')
  session.connection.interrupt(turnId)
  const began = performance.now()
  assert.deepEqual(await session.ended(turnId), { type: 'turn-complete', turnId, outcome: 'stopped' })
  assert.ok(performance.now() - began < 2_000)
  assert.equal(session.shownText(turnId), '')
  assert.equal(
    asked(house, 'must not be kept').filter((record) => record.round === 1).length,
    0,
    'it goes no further than the request that was on its way',
  )
  await stillWorks(session)
})

test('BUG-12 Stop of a message given while connecting ends it without a word', async () => {
  const session = house.open()
  const turnId = session.send('#practice: say "too early to be heard"')
  session.connection.interrupt(turnId)
  assert.deepEqual(await session.ended(turnId), { type: 'turn-complete', turnId, outcome: 'stopped' })
  assert.equal(session.shownText(turnId), '')
  await stillWorks(session)
})

test('BUG-12 closing while it connects ends in connection-closed and no process', async () => {
  const session = house.open()
  await session.connection.close('changed my mind')
  assert.deepEqual(session.events, [{ type: 'connection-closed', code: null, message: '' }])
  const later = house.open()
  await later.when('its process', () => house.ledger.length > 0)
  await later.connection.close('changed my mind again')
  assert.equal(later.events.at(-1)?.type, 'connection-closed')
})

test('BUG-13 the trailer of a turn that is over ends no other turn', async () => {
  const session = house.open()
  const first = session.send('#practice: drip 10; long 500')
  await session.when('some text', () => session.shownText(first).length > 10)
  session.connection.interrupt(first)
  await session.ended(first)
  for (const word of ['alpha', 'beta', 'gamma']) {
    const { turnId, content } = await session.turn(`#practice: say "${word}"`)
    assert.equal(textOf(content.parts), word)
    assert.equal(session.events.filter((event) => event.type === 'turn-complete' && event.turnId === turnId).length, 1)
  }
})

test('interrupting a turn that is over does nothing', async () => {
  const session = house.open()
  const { turnId } = await session.turn('#practice: say "over"')
  session.connection.interrupt(turnId)
  await stillWorks(session)
})

test('closing in the middle of a turn ends the process and everything it started', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const facts = join(house.workspace, 'closing')
  obliging(session)
  session.send(`#practice: tool Bash ${JSON.stringify({ command: `echo $$ > ${facts}; tail -f /dev/null` })}`)
  await until('the shell runs', () => read(facts).length > 0, 20_000)
  const pids = [...read(facts), house.ledger.at(-1)?.pid ?? 0]
  const began = performance.now()
  await session.connection.close('stop')
  assert.ok(performance.now() - began < 5_000)
  assert.equal(session.events.at(-1)?.type, 'connection-closed')
  await house.processes.settled()
  assert.deepEqual(pids.filter(alive), [])
  await session.connection.close('again')
  assert.equal(session.all('connection-closed').length, 1)
})

/** The numbers a file holds so far. */
function read(path: string): number[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .map(Number)
    .filter((pid) => pid > 0)
}

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { ConnectInput } from '../../packages/runtime/src/driver/contract.ts'
import { endingOf } from '../../packages/runtime/src/drivers/claude-code/errors.ts'
import type { ResultFrame } from '../../packages/runtime/src/drivers/claude-code/signals.ts'
import { asked, judge, KEY, makeHouse, textOf, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

test('BUG-50 a result that says success and holds the provider’s refusal is an error with its words and status', async () => {
  const cases = [
    { fault: 'fault status=400 message="so not" times=always', code: 'PROVIDER_ERROR', status: 400, words: /so not/ },
    { fault: 'fault forbidden times=always', code: 'PROVIDER_AUTH_FAILED', status: 403, words: /permission/ },
    { fault: 'fault auth times=always', code: 'PROVIDER_AUTH_FAILED', status: 401, words: /./ },
  ]
  for (const { fault, code, status, words } of cases) {
    const session = house.open({}, 0)
    const { turnId, end } = await session.turn(`#practice: ${fault}`)
    assert.equal(end.type, 'error')
    assert.ok(end.type === 'error')
    assert.equal(end.code, code)
    assert.equal(end.status, status)
    assert.match(end.message, words)
    assert.equal(session.shownText(turnId), '', 'the error text is no answer')
    assert.equal(session.all('resume-token').length, 1, 'the token is kept')
    assert.equal(session.content(turnId).metadata['usage'] !== undefined, true, 'usage is kept')
  }
})

test('a provider without a key is asked like any other, and one that wants a key says so', async () => {
  const keyless = { provider: { protocol: 'anthropic', baseUrl: house.practice.url, apiKey: null } } as const
  const { end, content } = await house.open(keyless).turn('#practice: say "no key needed"')
  assert.equal(end.type, 'turn-complete')
  assert.equal(textOf(content.parts), 'no key needed')
  assert.equal(asked(house, 'no key needed').length, 1)
  const refused = (await house.open(keyless, 0).turn('#practice: fault auth times=always; say "never"')).end
  assert.ok(refused.type === 'error')
  assert.equal(refused.code, 'PROVIDER_AUTH_FAILED')
  assert.match(refused.message, /Invalid API key/)
  assert.doesNotMatch(refused.message, /\/login/)
})

test('the CLI’s advice to log in stands on no row', () => {
  const told = (result: string): string | null => {
    const ending = endingOf({ subtype: 'success', is_error: true, result } as ResultFrame, false)
    return ending.kind === 'error' && ending.code === 'PROVIDER_AUTH_FAILED' ? ending.message : null
  }
  assert.equal(told('Not logged in · Please run /login'), 'Not logged in')
  assert.equal(told('Please run /login · API Error: 401 invalid x-api-key'), 'API Error: 401 invalid x-api-key')
  assert.equal(told('Invalid API key · Please run /login'), 'Invalid API key')
  assert.equal(told('Please run /login'), 'The provider refused the key.')
})

test('BUG-51 an overload before the first token is retried, told, and ends well', async () => {
  const session = house.open({}, 2)
  const { turnId, end, content } = await session.turn('#practice: fault overloaded times=2; say "at last"')
  assert.equal(end.type, 'turn-complete')
  assert.equal(textOf(content.parts), 'at last')
  const retries = session.all('api-retry')
  assert.deepEqual(
    retries.map((retry) => [retry.turnId, retry.attempt, retry.maxAttempts]),
    [
      [turnId, 1, 2],
      [turnId, 2, 2],
    ],
  )
  assert.match(retries[0]?.reason ?? '', /529/)
})

test('BUG-51 an error in the middle keeps what was shown, and the host replays nothing', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const { turnId, end, content } = await session.turn(
    '#practice: say "first "; tool Write {"file_path":"once.txt","content":"x"}; say "half "; midError; say "whole"',
  )
  assert.equal(end.type, 'turn-complete')
  assert.equal(textOf(content.parts), 'first half whole')
  assert.equal(asked(house, 'once.txt').filter((record) => record.round === 0 && record.outcome === 'complete').length, 1)
  await judge(session.chunks(turnId))
})

test('BUG-17 a conversation the agent no longer knows is replaced before the first message, once', async () => {
  const session = house.open({ resumeToken: randomUUID() })
  assert.deepEqual(await session.connected(), { type: 'connected', resumed: false })
  const { end, content } = await session.turn('#practice: say "sent once"')
  assert.equal(end.type, 'turn-complete')
  assert.equal(textOf(content.parts), 'sent once')
  assert.equal(asked(house, 'sent once').length, 1)
  const token = (await session.until('resume-token')).token
  assert.notEqual(token, session.input.resumeToken)
})

test('BUG-17 a message given while connecting is sent once to the replacement', async () => {
  const session = house.open({ resumeToken: randomUUID() })
  const { end } = await session.turn('#practice: say "given early"')
  assert.equal(end.type, 'turn-complete')
  assert.equal(asked(house, 'given early').length, 1)
  assert.equal(house.ledger.length, 1)
})

test('a token that is no session id is not given to the CLI, which would take it as a title', async () => {
  const session = house.open({ resumeToken: 'My last talk' })
  assert.deepEqual(await session.connected(), { type: 'connected', resumed: false })
  assert.equal(
    house.spawned.some(({ args }) => args.join(' ').includes('My last talk')),
    false,
  )
})

test('BUG-18 a history the provider refuses for good is dropped and the message replayed once', async () => {
  for (const fault of ['duplicateToolUse']) {
    const first = house.open()
    await first.turn('#practice: say "poison me"')
    const token = (await first.until('resume-token')).token
    await first.connection.close('idle')
    const session = house.open({ sessionId: first.input.sessionId, resumeToken: token })
    assert.deepEqual(await session.connected(), { type: 'connected', resumed: true })
    const { turnId, end, content } = await session.turn(`#practice: fault ${fault} times=always when=history; say "cured of ${fault}"`)
    assert.equal(end.type, 'turn-complete')
    assert.match(textOf(content.parts), new RegExp(`cured of ${fault}`))
    const replayed = asked(house, `cured of ${fault}`).filter((record) => record.outcome === 'complete')
    assert.deepEqual(
      replayed.map((record) => record.messages),
      [1],
    )
    const tokens = session.all('resume-token').map((event) => event.token)
    assert.equal(tokens.length, 1)
    assert.notEqual(tokens[0], token)
    assert.deepEqual(session.content(turnId).parts.find((part) => part.type === 'data-notice')?.type, 'data-notice')
    await judge(session.chunks(turnId))
    await house.rest()
  }
})

test('BUG-18 after anything was shown there is no replay: the original error stands', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  const { end } = await session.turn(
    '#practice: say "shown"; tool Write {"file_path":"gate.txt","content":"x"}; fault duplicateToolUse times=always',
  )
  assert.ok(end.type === 'error')
  assert.match(end.message, /duplicate tool_use ID|must be unique/)
  assert.equal(session.all('resume-token').length, 1)
})

test('BUG-18 the one recovery is spent: a second refusal surfaces', async () => {
  const session = house.open({ resumeToken: randomUUID() })
  await session.connected()
  const { end } = await session.turn('#practice: fault duplicateToolUse times=always scope=all')
  assert.ok(end.type === 'error')
  assert.equal(end.status, 400)
})

test('BUG-45 a workspace that is missing or no folder is named, without a word about installing', async () => {
  const path = join(house.folder, 'gone')
  const missing = house.open({ cwd: path })
  const closed = await missing.until('connection-closed')
  assert.equal(closed.code, 'WORKSPACE_MISSING')
  assert.match(closed.message, /workspace folder is missing/)
  assert.ok(closed.message.includes(path))
  assert.doesNotMatch(closed.message, /install|binary|libc/i)
  writeFileSync(path, 'a file')
  const noFolder = house.open({ cwd: path })
  assert.match((await noFolder.until('connection-closed')).message, /not a folder/)
  rmSync(path)
  mkdirSync(path)
  assert.equal((await house.open({ cwd: path }).turn('#practice: say "back"')).end.type, 'turn-complete')
})

test('BUG-45 a workspace that goes while the agent starts is named, too', async () => {
  const path = join(house.folder, 'going')
  mkdirSync(path)
  const ports: ConnectInput['ports'] = {
    // Between the look at the folder and the start of the program.
    spawn(command, args, options) {
      rmSync(path, { recursive: true })
      return spawn(command, args, options)
    },
    after(ms, fire) {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
    newId: randomUUID,
    log: () => undefined,
    now: () => performance.now(),
  }
  const closed = await house.open({ cwd: path, ports }).until('connection-closed')
  assert.deepEqual([closed.code, closed.message.includes(path)], ['WORKSPACE_MISSING', true])
  assert.doesNotMatch(closed.message, /install|binary|libc|ENOENT: spawn/i)
})

test(
  'as root full access is refused with its reason, and allowed where IS_SANDBOX says so',
  { skip: process.getuid?.() !== 0 },
  async () => {
    const refused = house.open({ permissionMode: 'bypassPermissions' })
    const closed = await refused.until('connection-closed')
    assert.equal(closed.code, 'CONNECT_FAILED')
    assert.match(closed.message, /IS_SANDBOX=1/)
    const allowed = house.open({ permissionMode: 'bypassPermissions', env: { PATH: process.env['PATH'] ?? '', IS_SANDBOX: '1' } })
    const { end } = await allowed.turn('#practice: tool Write {"file_path":"bypassed.txt","content":"x"}; say "done"')
    assert.equal(end.type, 'turn-complete')
    assert.deepEqual(allowed.all('tool-approval-request'), [])
  },
)

test('a permission mode the CLI cannot take is refused before it starts', async () => {
  const closed = await house.open({ permissionMode: 'auto' }).until('connection-closed')
  assert.equal(closed.code, 'CONNECT_FAILED')
  assert.match(closed.message, /permission mode auto/)
})

test('an agent that is killed in a turn closes the connection as lost, and its conversation goes on', async () => {
  const session = house.open()
  await session.turn('#practice: say "before that"')
  const turnId = session.send('#practice: say "before it dies"; drip 20; long 500')
  await session.when('some text', () => session.shownText(turnId).length > 10)
  process.kill(house.ledger[0]?.pid ?? 0, 'SIGKILL')
  const closed = await session.until('connection-closed')
  assert.equal(closed.code, 'AGENT_PROCESS_LOST')
  assert.equal(session.events.at(-1)?.type, 'connection-closed')
  assert.equal(
    session.events.some((event) => (event.type === 'turn-complete' || event.type === 'error') && event.turnId === turnId),
    false,
  )
  const token = (await session.until('resume-token')).token
  const next = house.open({ sessionId: session.input.sessionId, resumeToken: token })
  const { end } = await next.turn('#practice: say "after it died"')
  assert.equal(end.type, 'turn-complete')
  assert.ok((asked(house, 'after it died')[0]?.messages ?? 0) > 1)
})

test('the key stands in no event, also when the provider or a tool echoes it', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  await session.turn(`#practice: tool Bash {"command":"echo ${KEY}"}; say "said"`)
  await session.turn(`#practice: fault status=400 message="bad key ${KEY}" times=always`)
  const said = JSON.stringify(
    session.events.filter((event) => event.type !== 'chunk' || event.chunks.some((chunk) => chunk.type.startsWith('tool-output'))),
  )
  assert.equal(said.includes(KEY), false)
})

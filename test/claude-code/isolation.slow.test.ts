import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { DRIVER_VARIABLES } from '../../packages/runtime/src/drivers/claude-code/options.ts'
import { asked, KEY, makeHouse, textOf, obliging, type House } from './harness.ts'

let house: House
before(async () => {
  house = await makeHouse()
})
afterEach(() => house.rest())
after(() => house.close())

/** What the SDK adds to a child's environment by itself. */
const SDK_VARIABLES = [
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_AGENT_SDK_VERSION',
  'CLAUDE_CODE_SDK_READS_SESSION_STATE',
  'BUN_ENABLE_CRASH_REPORTING',
]

test('BUG-58 nothing the workspace brings is read or run: no instructions, hooks, servers, settings', async () => {
  const { workspace } = house
  const ran = join(workspace, 'canary-ran')
  mkdirSync(join(workspace, '.claude', 'skills', 'canary'), { recursive: true })
  mkdirSync(join(workspace, '.claude', 'commands'), { recursive: true })
  writeFileSync(join(workspace, 'CLAUDE.md'), 'CANARY-CLAUDE-MD')
  writeFileSync(join(workspace, 'CLAUDE.local.md'), 'CANARY-LOCAL-MD')
  writeFileSync(
    join(workspace, '.claude', 'skills', 'canary', 'SKILL.md'),
    '---\nname: canary\ndescription: CANARY-SKILL\n---\nCANARY-SKILL',
  )
  writeFileSync(join(workspace, '.claude', 'commands', 'canary.md'), 'CANARY-COMMAND')
  const hook = [{ hooks: [{ type: 'command', command: `touch ${ran}` }] }]
  const hooks = { SessionStart: hook, UserPromptSubmit: hook, PreToolUse: hook, Stop: hook }
  const settings = { hooks, env: { CANARY_ENV: 'CANARY-ENV' }, permissions: { allow: ['Write'] }, apiKeyHelper: `touch ${ran}` }
  writeFileSync(join(workspace, '.claude', 'settings.json'), JSON.stringify(settings))
  writeFileSync(join(workspace, '.claude', 'settings.local.json'), JSON.stringify(settings))
  writeFileSync(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { canary: { command: 'touch', args: [ran] } } }))
  const session = house.open()
  obliging(session)
  await session.turn('#practice: tool Write {"file_path":"w.txt","content":"x"}; tool Bash {"command":"echo $CANARY_ENV"}; say "ran it"')
  assert.equal(existsSync(ran), false)
  assert.equal(
    session.all('tool-approval-request').some((event) => event.request.toolName === 'Write'),
    true,
    'the workspace grants nothing',
  )
  assert.doesNotMatch(JSON.stringify(asked(house, 'ran it').map((record) => record.body)), /CANARY-/)
  assert.doesNotMatch(JSON.stringify(session.all('supported-commands')), /canary/)
})

test('BUG-56 the child sees the list and nothing else, the key stands on no command line', async () => {
  process.env['WHEELHOUSE_TEST_SECRET'] = 'CANARY-HOST'
  const session = house.open({ env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', IS_SANDBOX: '1' } })
  await session.connected()
  delete process.env['WHEELHOUSE_TEST_SECRET']
  const child = house.spawned.at(-1)
  assert.deepEqual(
    Object.keys(child?.env ?? {}).toSorted(),
    ['PATH', 'LANG', 'IS_SANDBOX', ...DRIVER_VARIABLES, ...SDK_VARIABLES].toSorted(),
  )
  assert.equal([child?.command, ...(child?.args ?? [])].join(' ').includes(KEY), false)
  const pid = house.ledger.at(-1)?.pid ?? 0
  assert.equal(readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(KEY), false)
  assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('CANARY-HOST'), false)
})

test('BUG-56 what the agent runs does not see the provider’s key', async () => {
  const session = house.open({ permissionMode: 'acceptEdits' })
  obliging(session)
  await session.turn('#practice: tool Bash {"command":"env | sort; sh -c env | sort"}; say "looked around"')
  const reached = JSON.stringify(asked(house, 'looked around').map((record) => record.body))
  assert.match(reached, /CLAUDE_CONFIG_DIR=/)
  assert.doesNotMatch(reached, /ANTHROPIC_API_KEY=/, 'the record would blot out the key itself')
})

test('tools that are switched off are not offered, and one switched off later is refused when called', async () => {
  const session = house.open({ permissionMode: 'acceptEdits', disabledTools: ['WebFetch'] })
  await session.turn('#practice: say "which tools"')
  const offered = asked(house, 'which tools')[0]?.tools ?? []
  assert.equal(offered.includes('WebFetch'), false)
  assert.ok(offered.includes('Write'))
  const policy = { modelId: 'practice', permissionMode: 'acceptEdits' as const, disabledTools: ['WebFetch', 'Write'] }
  assert.equal(await session.connection.reconcile(policy), 'patched')
  const { content } = await session.turn('#practice: tool Write {"file_path":"off.txt","content":"x"}; say "so: $result"')
  assert.match(textOf(content.parts), /switched off/)
  assert.equal(existsSync(join(house.workspace, 'off.txt')), false)
  assert.equal(await session.connection.reconcile({ ...policy, disabledTools: ['WebFetch'] }), 'patched')
  assert.equal(await session.connection.reconcile({ ...policy, disabledTools: [] }), 'rebuild', 'it was started without it')
})

test('a permission mode changes live between turns, and asks for a new connection where it cannot', async () => {
  const session = house.open()
  await session.turn('#practice: say "idle now"')
  const want = { modelId: 'practice', permissionMode: 'acceptEdits' as const, disabledTools: [] }
  assert.equal(await session.connection.reconcile(want), 'patched')
  assert.equal(await session.connection.reconcile(want), 'current')
  await session.turn('#practice: tool Write {"file_path":"mode.txt","content":"x"}; say "ok"')
  assert.deepEqual(session.all('tool-approval-request'), [])
  assert.equal(await session.connection.reconcile({ ...want, permissionMode: 'bypassPermissions' }), 'rebuild')
  assert.equal(await session.connection.reconcile({ ...want, permissionMode: 'auto' }), 'invalid')
  assert.equal(await session.connection.reconcile({ ...want, modelId: 'practice-2' }), 'patched')
  await session.turn('#practice: say "other model"')
  assert.equal(asked(house, 'other model')[0]?.modelId, 'practice-2')
})

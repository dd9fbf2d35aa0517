/** What the scripted agent's words do, beyond what every driver must. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { UIMessageChunk } from '@wheelhouse/client/protocol'
import { Rig, YES, type RigOptions } from '../../../packages/runtime/src/driver/kit/conformance/rig.ts'
import type { DriverTarget, OpenedTarget } from '../../../packages/runtime/src/driver/kit/conformance/target.ts'
import { createScriptedDriver, type ScriptedDriver } from '../../../packages/runtime/src/driver/kit/index.ts'
import { parseScript } from '../../../packages/runtime/src/driver/kit/script.ts'
import { ChunkDoor } from '../../../packages/runtime/src/driver/well-formed.ts'

type Scene = { driver: ScriptedDriver; folder: string; children: ChildProcess[]; connect(options?: RigOptions): Rig }

async function scene(transport: 'in-process' | 'stdio', body: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wheelhouse-scripted-'))
  const driver = createScriptedDriver({ transport })
  const children: ChildProcess[] = []
  const input: OpenedTarget['input'] = {
    cwd: folder,
    provider: { protocol: 'anthropic', baseUrl: '', apiKey: null },
    modelId: 'm1',
    prompt: { base: null, append: '' },
    permissionMode: 'default',
    disabledTools: [],
    dirs: { home: folder, tmp: folder },
    env: { PATH: process.env['PATH'] ?? '' },
    ports: {
      spawn: (command, args, options) => {
        const child = spawn(command, [...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
        children.push(child)
        return child
      },
      after: (ms, fire) => {
        const timer = setTimeout(fire, ms)
        return () => clearTimeout(timer)
      },
      newId: randomUUID,
      log: () => undefined,
      now: () => performance.now(),
    },
  }
  const opened: OpenedTarget = {
    input,
    prompts: { text: '', tool: '', longTool: () => assert.fail(), steer: '' },
    dispose: () => Promise.resolve(),
  }
  const target: DriverTarget = { name: 'scripted', driver, open: () => Promise.resolve(opened) }
  const rigs: Rig[] = []
  const connect = (options?: RigOptions): Rig => {
    const rig = new Rig(target, opened, options)
    rigs.push(rig)
    return rig
  }
  try {
    await body({ driver, folder, children, connect })
    for (const rig of rigs) await rig.close()
  } finally {
    await Promise.allSettled(rigs.map((rig) => rig.inTime(rig.connection.close('over'), 'closing')))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ends and beginnings of turns, in order. */
const outline = (rig: Rig): string[] =>
  rig.events.flatMap((event) => {
    if (event.type === 'autonomous-turn-state') return ['own turn']
    if (event.type === 'turn-complete') return [`end ${event.turnId.startsWith('turn-') ? event.turnId : 'of own'} ${event.outcome}`]
    return []
  })

test('a message that is no script is said back', () =>
  scene('in-process', async ({ connect }) => {
    const rig = connect()
    const turnId = await rig.send('Could you have a look at this?\ntool is what I would use')
    await rig.succeeds(turnId)
    assert.equal(rig.text(turnId), 'Could you have a look at this?tool is what I would use')
  }))

test('lines are read as steps', () => {
  assert.deepEqual(
    parseScript(
      'tool Bash {"a": "x -> y"} wait k1 -> done\nask Edit\n\nrepeat 3 ha\nfail AGENT_ERROR no\nfail WHAT no\nmeanwhile say hi\nquestion A? | b|c',
    ),
    [
      // The first arrow ends the call: a line whose JSON holds one is no call.
      { verb: 'say', text: 'tool Bash {"a": "x -> y"} wait k1 -> done' },
      { verb: 'ask', name: 'Edit', input: {}, output: '' },
      { verb: 'repeat', times: 3, text: 'ha' },
      { verb: 'fail', code: 'AGENT_ERROR', status: null, text: 'no' },
      { verb: 'say', text: 'fail WHAT no' },
      { verb: 'meanwhile', step: { verb: 'say', text: 'hi' } },
      { verb: 'question', text: 'A?', options: ['b', 'c'] },
    ],
  )
})

for (const transport of ['in-process', 'stdio'] as const) {
  test(`${transport}: a turn of its own inside a turn has its own end, and the outer one goes on`, () =>
    scene(transport, async ({ connect }) => {
      const rig = connect()
      const turnId = await rig.send('say one\nmeanwhile say between\nsay two')
      await rig.succeeds(turnId)
      assert.deepEqual(outline(rig), ['own turn', 'end of own success', 'end turn-1 success'])
      assert.equal(rig.text(turnId), 'onetwo')
    }))

  test(`${transport}: a Stop of the inner turn leaves the outer one, a Stop of the outer ends both`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      const first = await rig.send('meanwhile wait inner-1\nsay after')
      const { turnId: inner } = await rig.until('autonomous-turn-state', () => true)
      rig.interrupt(inner)
      await rig.succeeds(first)
      const second = await rig.send('meanwhile wait inner-2\nsay after')
      await rig.untilTrue(() => rig.all('autonomous-turn-state').length === 2, 'the second inner turn')
      rig.interrupt(second)
      await rig.stops(second)
      assert.deepEqual(outline(rig), [
        'own turn',
        'end of own stopped',
        'end turn-1 success',
        'own turn',
        'end of own stopped',
        'end turn-2 stopped',
      ])
      driver.release('inner-1')
    }))

  test(`${transport}: an input that is sent while it runs a turn of its own waits for its end`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      await rig.succeeds(await rig.send('autonomous wait own'))
      await rig.until('autonomous-turn-state', () => true)
      const next = await rig.send('say next')
      const dropped = await rig.send('say dropped')
      rig.interrupt(dropped)
      await rig.stops(dropped)
      driver.release('own')
      await rig.succeeds(next)
      assert.deepEqual(outline(rig), ['end turn-1 success', 'own turn', 'end turn-3 stopped', 'end of own success', 'end turn-2 success'])
    }))

  test(`${transport}: a background task outlives its turn and ends with a turn of its own`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      await rig.succeeds(await rig.send('background build The build\nsay started'))
      assert.deepEqual(rig.all('background-tasks').at(-1)?.tasks, [
        { id: 'build', kind: 'scripted', title: 'The build', status: 'running' },
      ])
      assert.equal(rig.all('background-work-state').at(-1)?.active, true)
      driver.release('build')
      const { turnId } = await rig.until('autonomous-turn-state', () => true)
      await rig.succeeds(turnId)
      assert.equal(rig.text(turnId), 'The build is done')
      assert.equal(rig.all('background-task-event')[0]?.task.status, 'completed')
      assert.deepEqual(rig.all('background-tasks').at(-1)?.tasks, [])
    }))

  test(`${transport}: full access lifts approvals of tools, a changed input is what runs, a disabled tool does not`, () =>
    scene(transport, async ({ connect }) => {
      const rig = connect()
      const asked = await rig.send('ask Bash {"command":"a"} -> ran')
      const { request } = await rig.until('tool-approval-request', () => true)
      rig.answer(request.approvalId, { ...YES, updatedInput: { command: 'b' } })
      await rig.succeeds(asked)
      assert.deepEqual(
        rig.parts(asked).flatMap((part) => (part.type === 'dynamic-tool' ? [[part.state, part.input]] : [])),
        [['output-available', { command: 'b' }]],
      )
      const want = { modelId: 'm1', permissionMode: 'bypassPermissions' as const, disabledTools: ['Rm'] }
      assert.equal(await rig.connection.reconcile(want), 'patched')
      assert.equal(await rig.connection.reconcile(want), 'current')
      assert.equal(await rig.connection.reconcile({ ...want, disabledTools: [] }), 'rebuild')
      assert.equal(await rig.connection.reconcile({ ...want, permissionMode: 'plan' }), 'invalid')
      const free = await rig.send('ask Bash {"command":"c"} -> ran\ntool Rm {} -> gone')
      await rig.succeeds(free)
      assert.equal(rig.all('tool-approval-request').length, 1)
      assert.deepEqual(
        rig.parts(free).flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : [])),
        ['output-available', 'output-error'],
      )
    }))

  test(`${transport}: a change of mode waits for the end of the turn`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      const turnId = await rig.send('say a\nwait mode\nask Bash {}')
      await rig.until('chunk', () => true)
      assert.equal(await rig.connection.reconcile({ modelId: 'm1', permissionMode: 'bypassPermissions', disabledTools: [] }), 'rebuild')
      driver.release('mode')
      const { request } = await rig.until('tool-approval-request', () => true)
      rig.answer(request.approvalId, YES)
      await rig.succeeds(turnId)
    }))

  test(`${transport}: a steer that is consumed and never answered has no boundary`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      const turnId = await rig.send('tool Bash {} wait tool-done\nsay end')
      await rig.toolRuns(turnId)
      rig.redirect(turnId, 'steer-1', 'wait for-ever')
      driver.release('tool-done')
      await rig.until('steer-consumed', () => true)
      rig.interrupt(turnId)
      await rig.stops(turnId)
      assert.deepEqual([rig.all('steer-boundary'), rig.all('steer-undelivered')], [[], []])
    }))

  test(`${transport}: a steer granted before a tool is handed back when the tool does not finish`, () =>
    scene(transport, async ({ connect, driver }) => {
      const rig = connect()
      const turnId = await rig.send('say a\nwait begin\ntool Bash {} wait never')
      await rig.until('chunk', () => true)
      rig.redirect(turnId, 'steer-1', 'say b')
      driver.release('begin')
      await rig.until('steer-offering', () => true)
      await rig.toolRuns(turnId)
      rig.interrupt(turnId)
      await rig.stops(turnId)
      assert.deepEqual(rig.all('steer-undelivered')[0]?.inputIds, ['steer-1'])
      assert.deepEqual(rig.all('steer-consumed'), [])
    }))

  test(`${transport}: retries of the provider are told, and so is what a call cost`, () =>
    scene(transport, async ({ connect }) => {
      const rig = connect()
      const turnId = await rig.send('retry 2\nsay a\ntool Bash {}\nsay b')
      await rig.succeeds(turnId)
      assert.deepEqual(
        rig.all('api-retry').map((event) => event.attempt),
        [1, 2],
      )
      assert.equal(rig.all('usage').length, 2, 'one call before the tool and one after it')
    }))

  test(`${transport}: an agent that does not hear the interrupt is ended by closing`, () =>
    scene(transport, async ({ connect }) => {
      const rig = connect()
      const turnId = await rig.send('stubborn\nsay a\nwait never')
      await rig.until('chunk', () => true)
      rig.interrupt(turnId)
      await rig.close()
      assert.deepEqual(outline(rig), [])
    }))
}

test('a child that clings to life is killed, and nothing of it is left', () =>
  scene('stdio', async ({ connect, children }) => {
    const rig = connect()
    await rig.send('cling\nsay a\nwait never')
    await rig.until('chunk', () => true)
    await rig.close()
    assert.equal(children.length, 1)
    assert.equal(children[0]?.signalCode, 'SIGKILL')
  }))

test('a child is let go by a file as well, and a conversation outlives its process', () =>
  scene('stdio', async ({ connect, folder }) => {
    const first = connect()
    const turnId = await first.send('say a\nwait by file')
    await first.until('chunk', () => true)
    mkdirSync(join(folder, 'scripted', 'released'), { recursive: true })
    writeFileSync(join(folder, 'scripted', 'released', encodeURIComponent('by file')), '')
    await first.succeeds(turnId)
    const { token } = await first.until('resume-token', () => true)
    await first.send('die')
    assert.equal((await first.until('connection-closed', () => true)).code, 'AGENT_PROCESS_LOST')
    const second = connect({ resumeToken: token })
    const asked = await second.send('recall')
    await second.succeeds(asked)
    assert.equal(second.text(asked), 'I remember 3 inputs, first: say a')
  }))

test('no child of a closed driver is alive', () =>
  scene('stdio', async ({ connect, children }) => {
    const rigs = [connect(), connect(), connect()]
    await rigs[0]?.succeeds(await (rigs[0]?.send('say a') ?? assert.fail()))
    await rigs[1]?.send('wait never')
    for (const rig of rigs) await rig.close()
    assert.deepEqual(
      children.map((child) => child.exitCode !== null || child.signalCode !== null),
      [true, true, true],
    )
  }))

const delta = (id: string, text: string): UIMessageChunk => ({ type: 'text-delta', id, delta: text })
const said = (chunks: UIMessageChunk[]): string => chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : chunk.type)).join('|')

test('BUG-40 a character cut between two deltas is put together, a lone half becomes U+FFFD', () => {
  const door = new ChunkDoor()
  assert.equal(said(door.pass(delta('a', 'x\ud83d'))), 'x')
  assert.equal(said(door.pass(delta('b', 'other part'))), 'other part')
  assert.equal(said(door.pass(delta('a', '\ude00y'))), '\u{1F600}y')
  assert.equal(said(door.pass(delta('a', '\ud83d'))), '')
  assert.equal(said(door.pass({ type: 'text-end', id: 'a' })), '\ufffd|text-end')
  assert.equal(said(door.pass(delta('c', ''))), '', 'an empty delta stays one')
  assert.deepEqual(door.pass({ type: 'tool-output-available', toolCallId: 't', output: { 'k\0': ['\ud800', 'e\u0301'] } }), [
    { type: 'tool-output-available', toolCallId: 't', output: { 'k\u2400': ['\ufffd', 'e\u0301'] } },
  ])
})

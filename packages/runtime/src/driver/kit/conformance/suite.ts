/** The tests of a driver, generated from what it claims. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { DesiredPolicy } from '../../contract.ts'
import { approvalTests } from './approvals.ts'
import { Rig, type RigOptions } from './rig.ts'
import { steerTests } from './steers.ts'
import type { DriverPrompts, DriverTarget } from './target.ts'

/** What a test of the suite runs with. `connect` opens a connection that is closed and judged when the test is over. */
export type Stage = {
  target: DriverTarget
  prompts: DriverPrompts
  connect(options?: RigOptions): Rig
}
/** Tests by name. */
export type Tests = { [name: string]: (stage: Stage) => Promise<void> }

/** Declares the tests of one driver. A claim without the prompt to show it fails. */
export function driverConformance(target: DriverTarget): void {
  const { capabilities } = target.driver
  const tests: Tests = {
    ...lifeTests,
    ...turnTests,
    ...policyTests,
    ...approvalTests(capabilities),
    ...steerTests(capabilities),
    ...(capabilities.interrupt ? interruptTests : {}),
    ...(capabilities.resume ? resumeTests : {}),
    ...claimTests(target),
  }
  for (const [name, body] of Object.entries(tests)) {
    void test(`${target.name}: ${name}`, { skip: target.skip?.[name] ?? false }, () => onStage(target, body))
  }
}

async function onStage(target: DriverTarget, body: (stage: Stage) => Promise<void>): Promise<void> {
  const opened = await target.open()
  const rigs: Rig[] = []
  const connect = (options?: RigOptions): Rig => {
    const rig = new Rig(target, opened, options)
    rigs.push(rig)
    return rig
  }
  try {
    await body({ target, prompts: opened.prompts, connect })
    for (const rig of rigs) await rig.close()
  } finally {
    // A test that failed leaves connections open; their judgement no longer matters, their end does.
    await Promise.allSettled(rigs.map((rig) => rig.inTime(rig.connection.close('the test failed'), 'closing')))
    await opened.dispose()
  }
}

/** The prompt a claim needs. */
export function need<Prompt>(prompt: Prompt | undefined, claim: string): Prompt {
  return prompt ?? assert.fail(`the driver claims ${claim}, but the target brings no prompt that shows it`)
}

const lifeTests: Tests = {
  'it tells whether it is installed': async ({ target }) => {
    const probe = await target.driver.probe()
    assert.equal(probe.installed, true, probe.advice ?? 'not installed')
  },

  'it connects, and closes as often as it is told': async ({ connect }) => {
    const rig = connect()
    await rig.until('connected', () => true)
    await rig.close()
    assert.equal(rig.all('connection-closed')[0]?.code, null, 'closed as asked')
  },

  'it can be closed before it is connected': async ({ connect }) => {
    const rig = connect()
    await rig.close()
    assert.equal(rig.all('connection-closed')[0]?.code, null, 'closed as asked')
  },

  'it can be closed in the middle of a turn': async ({ connect, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.longTool().text)
    await rig.toolRuns(turnId)
    await rig.close()
  },

  'nothing can be done to it, and nothing breaks, after it is closed': async ({ connect, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.text)
    await rig.end(turnId)
    await rig.close()
    const { connection } = rig
    const told = rig.events.length
    connection.send({ turnId: 'late', inputId: null, kind: 'user', parts: [], steer: false, headless: false, seed: null })
    connection.interrupt('late')
    connection.answerApproval('late', { allow: true, reason: null, updatedInput: null, answers: null })
    connection.answerOffering?.('late', ['late'])
    connection.withdrawRedirect?.(['late'])
    assert.equal(connection.redirect?.({ turnId: 'late', inputId: 'late', parts: [] }) ?? false, false)
    await connection.reconcile({ modelId: 'm', permissionMode: 'default', disabledTools: [] })
    assert.equal(rig.events.length, told)
  },

  'two connections of one driver do not hear each other': async ({ connect, prompts }) => {
    const [one, two] = [connect(), connect()]
    const [first, second] = [await one.send(prompts.text, { turnId: 'of-one' }), await two.send(prompts.text, { turnId: 'of-two' })]
    await Promise.all([one.succeeds(first), two.succeeds(second)])
    assert.ok(one.events.every((event) => !('turnId' in event) || event.turnId === 'of-one'))
    assert.ok(two.events.every((event) => !('turnId' in event) || event.turnId === 'of-two'))
  },
}

const turnTests: Tests = {
  'a turn streams its answer and ends once': async ({ connect, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.text)
    await rig.succeeds(turnId)
    assert.notEqual(rig.text(turnId).trim(), '')
  },

  'turns follow each other on one connection, each with its own answer': async ({ connect, prompts }) => {
    const rig = connect()
    for (let count = 0; count < 3; count += 1) {
      const turnId = await rig.send(prompts.text)
      await rig.succeeds(turnId)
      assert.notEqual(rig.text(turnId).trim(), '')
    }
  },

  'a tool is shown with its input and its result': async ({ connect, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.tool)
    await rig.succeeds(turnId)
    const tools = rig.parts(turnId).filter((part) => part.type === 'dynamic-tool')
    assert.ok(
      tools.some((tool) => tool.state === 'output-available' && tool.input !== undefined && tool.output !== undefined),
      rig.show(),
    )
  },

  'a late interrupt of a turn that is over is harmless': async ({ connect, prompts }) => {
    const rig = connect()
    const first = await rig.send(prompts.text)
    await rig.succeeds(first)
    rig.interrupt(first)
    const second = await rig.send(prompts.text)
    rig.interrupt(first)
    rig.interrupt('never-was')
    await rig.succeeds(second)
  },

  'an input that was meant as a steer, or comes with a history, is a turn like any other': async ({ connect, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.text, { steer: true, seed: 'What was said before: nothing of note.' })
    await rig.succeeds(turnId)
  },
}

const interruptTests: Tests = {
  'a Stop while a tool runs ends the turn as stopped, and the next one works': async ({ connect, prompts }) => {
    const rig = connect()
    const held = prompts.longTool()
    const turnId = await rig.send(held.text)
    await rig.toolRuns(turnId)
    rig.interrupt(turnId)
    await rig.stops(turnId)
    held.release()
    const next = await rig.send(prompts.text)
    await rig.succeeds(next)
  },

  'a Stop right after the send ends the turn as stopped': async ({ connect, prompts }) => {
    const rig = connect()
    const held = prompts.longTool()
    const turnId = await rig.send(held.text)
    rig.interrupt(turnId)
    await rig.stops(turnId)
    held.release()
    const next = await rig.send(prompts.text)
    await rig.succeeds(next)
  },

  'a second Stop changes nothing': async ({ connect, prompts }) => {
    const rig = connect()
    const held = prompts.longTool()
    const turnId = await rig.send(held.text)
    await rig.toolRuns(turnId)
    rig.interrupt(turnId)
    rig.interrupt(turnId)
    await rig.stops(turnId)
    held.release()
  },
}

const resumeTests: Tests = {
  'a token continues the conversation in a new connection': async ({ connect, prompts }) => {
    const first = connect()
    const told = await first.send(prompts.recall?.tell ?? prompts.text)
    await first.succeeds(told)
    const { token } = await first.until('resume-token', () => true)
    await first.close()
    const second = connect({ resumeToken: token })
    const asked = await second.send(prompts.recall?.ask ?? prompts.text)
    await second.succeeds(asked)
    assert.equal(second.all('connected')[0]?.resumed, true)
    if (prompts.recall !== undefined) assert.match(second.text(asked), prompts.recall.expect)
  },

  'BUG-17 a token the agent does not know starts a new conversation, and the input runs once': async ({ connect, prompts }) => {
    const unknown = randomUUID()
    const rig = connect({ resumeToken: unknown })
    const turnId = await rig.send(prompts.text)
    await rig.succeeds(turnId)
    assert.notEqual(rig.text(turnId).trim(), '')
    await rig.until('resume-token', () => true)
    assert.ok(
      rig.all('resume-token').every((event) => event.token !== unknown),
      'the token that failed must not come back',
    )
  },
}

const policyTests: Tests = {
  'policy is compared, tightened in place where it can be, and never rejected by a throw': async ({ connect, target, prompts }) => {
    const rig = connect()
    const turnId = await rig.send(prompts.text)
    await rig.succeeds(turnId)
    const { modelId, permissionMode, disabledTools } = rig.input
    const want = { modelId, permissionMode, disabledTools }
    const ask = (change: Partial<DesiredPolicy>): ReturnType<typeof rig.connection.reconcile> =>
      rig.connection.reconcile({ ...want, ...change })
    assert.equal(await ask({}), 'current')
    assert.ok(['patched', 'rebuild'].includes(await ask({ disabledTools: [...disabledTools, 'Bash'] })))
    assert.ok(['patched', 'rebuild'].includes(await ask({ modelId: `${modelId}-other`, disabledTools: [...disabledTools, 'Bash'] })))
    const both = await Promise.all([ask({}), ask({})])
    assert.equal(both[0], both[1], 'asked twice at once it answers twice the same')
    assert.ok(target.driver.capabilities.permissionModes.length > 0)
  },
}

/** Claims that need one prompt each. */
function claimTests({ driver: { capabilities } }: DriverTarget): Tests {
  return {
    ...(capabilities.contextUsage ? { 'it tells how full the context is': contextUsage } : {}),
    ...(capabilities.reasoning ? { 'reasoning is streamed apart from text': reasoning } : {}),
    ...(capabilities.autonomousTurns ? { 'a turn of the agent’s own accord has an id of its own, told before it speaks': autonomous } : {}),
    ...(capabilities.compaction.manual ? { 'a compaction that was asked for is a turn': manualCompaction } : {}),
    ...(capabilities.compaction.automatic ? { 'a compaction of the agent’s own is told with its end': autoCompaction } : {}),
    'a turn that fails says why, once': failing,
    'an agent whose process ends takes its connection with it': dying,
    'an agent that cannot start says so and nothing else': broken,
    'BUG-40 what an agent says is made well-formed': illFormed,
  }
}

const contextUsage: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  await rig.succeeds(await rig.send(prompts.text))
  const { usage } = await rig.until('context-usage', () => true)
  assert.ok(usage.usedTokens >= 0)
}

const reasoning: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const turnId = await rig.send(need(prompts.reasoning, 'reasoning'))
  await rig.succeeds(turnId)
  assert.ok(
    rig.parts(turnId).some((part) => part.type === 'reasoning' && part.text !== ''),
    rig.show(),
  )
}

const autonomous: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const turnId = await rig.send(need(prompts.autonomous, 'turns of its own accord'))
  await rig.succeeds(turnId)
  const { turnId: own } = await rig.until('autonomous-turn-state', (event) => event.turnId !== turnId)
  await rig.succeeds(own)
  const next = await rig.send(prompts.text)
  await rig.succeeds(next)
}

const manualCompaction: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  await rig.succeeds(await rig.send(prompts.text))
  const turnId = await rig.send('', { kind: 'compaction', parts: [], inputId: null })
  await rig.succeeds(turnId)
  assert.equal(rig.all('compaction-start')[0]?.trigger, 'manual')
  assert.equal(rig.all('compaction-complete').length + rig.all('compaction-error').length, 1)
  await rig.succeeds(await rig.send(prompts.text))
}

const autoCompaction: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  await rig.end(await rig.send(need(prompts.autoCompaction, 'compaction of its own')))
  assert.ok(rig.all('compaction-start').some((event) => event.trigger === 'auto'))
  assert.equal(rig.all('compaction-complete').length + rig.all('compaction-error').length, rig.all('compaction-start').length)
}

const failing: Tests[string] = async ({ connect, prompts }) => {
  const { text, code } = need(prompts.fail, 'nothing special')
  const rig = connect()
  const end = await rig.end(await rig.send(text))
  assert.ok(end.type === 'error', rig.show())
  assert.equal(end.code, code)
  assert.notEqual(end.message, '')
}

const dying: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const turnId = await rig.send(need(prompts.die, 'nothing special'))
  const { code } = await rig.until('connection-closed', () => true)
  assert.equal(code, 'AGENT_PROCESS_LOST')
  assert.ok(rig.events.every((event) => event.type !== 'turn-complete' || event.turnId !== turnId))
}

const broken: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect({ over: need(prompts.broken, 'nothing special') })
  const { code } = await rig.until('connection-closed', () => true)
  assert.ok(
    code === 'CONNECT_FAILED' || code === 'WORKSPACE_MISSING' || code === 'DRIVER_NOT_INSTALLED' || code === 'PROVIDER_AUTH_FAILED',
    `code ${code}`,
  )
  assert.deepEqual(rig.all('connected'), [])
}

const illFormed: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const turnId = await rig.send(need(prompts.illFormed, 'nothing special'))
  await rig.end(turnId)
  assert.ok(rig.text(turnId).length > 0, rig.show())
}

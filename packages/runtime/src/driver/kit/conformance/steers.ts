/** Steers: the rows of the steer table (decision 2), as far as every driver can show them. */
import assert from 'node:assert/strict'
import type { DriverCapabilities } from '@wheelhouse/client/protocol'
import type { Rig, RigOptions } from './rig.ts'
import type { Stage, Tests } from './suite.ts'

export function steerTests(capabilities: DriverCapabilities): Tests {
  if (capabilities.steer === 'none') return { 'a steer is refused, so that it waits for a turn of its own': refusedAlways }
  return {
    'a steer goes in at the next tool, is consumed, and the answer to it begins at a boundary': delivered,
    'several steers go in together and in order': several,
    'a steer for a turn that is over, or never was, is refused': refusedLate,
    'a steer that was taken back is never heard of again': takenBack,
    'a steer that the host does not grant does not go in': notGranted,
    ...(capabilities.interrupt
      ? {
          'a steer that has not gone in at a Stop is handed back before the end': handedBack,
          'a steer that goes in just before a Stop is either consumed or handed back': consumedOrBack,
        }
      : {}),
    ...(capabilities.steer === 'at-tool'
      ? { 'a steer in a turn without another tool is handed back before its end': noTool }
      : { 'a steer goes into a turn without a tool': anyTime }),
  }
}

const refusedAlways: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const held = prompts.longTool()
  const turnId = await rig.send(held.text)
  await rig.toolRuns(turnId)
  assert.equal(rig.redirect(turnId, 'steer-1', prompts.steer), false)
  held.release()
  await rig.succeeds(turnId)
}

/** A turn in the middle of its tool, and how to let it go on. */
async function inTool(stage: Stage, options?: RigOptions): Promise<{ rig: Rig; turnId: string; release(): void }> {
  const rig = stage.connect(options)
  const held = stage.prompts.longTool()
  const turnId = await rig.send(held.text)
  await rig.toolRuns(turnId)
  return { rig, turnId, release: () => held.release() }
}

const ids = (rig: Rig, type: 'steer-offering' | 'steer-consumed' | 'steer-boundary' | 'steer-undelivered'): string[] =>
  rig.all(type).flatMap((event) => event.inputIds)

const delivered: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inTool(stage)
  assert.equal(rig.redirect(turnId, 'steer-1', stage.prompts.steer), true)
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-consumed'), ['steer-1'], rig.show())
  assert.deepEqual(ids(rig, 'steer-boundary'), ['steer-1'], rig.show())
  assert.deepEqual(ids(rig, 'steer-undelivered'), [])
  const boundary = rig.events.findIndex((event) => event.type === 'steer-boundary')
  const after = rig.events.slice(boundary).filter((event) => event.type === 'chunk' && event.turnId === turnId)
  assert.ok(after.length > 0, 'the answer comes after the boundary')
}

const several: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inTool(stage)
  for (const id of ['steer-1', 'steer-2', 'steer-3']) assert.equal(rig.redirect(turnId, id, `${stage.prompts.steer} (${id})`), true)
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-consumed'), ['steer-1', 'steer-2', 'steer-3'], rig.show())
  assert.deepEqual(ids(rig, 'steer-boundary'), ['steer-1', 'steer-2', 'steer-3'], rig.show())
}

const refusedLate: Tests[string] = async ({ connect, prompts }) => {
  const rig = connect()
  const turnId = await rig.send(prompts.text)
  await rig.succeeds(turnId)
  assert.equal(rig.redirect(turnId, 'steer-1', prompts.steer), false)
  assert.equal(rig.redirect('never-was', 'steer-2', prompts.steer), false)
}

const takenBack: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inTool(stage)
  rig.redirect(turnId, 'steer-1', stage.prompts.steer)
  rig.redirect(turnId, 'steer-2', stage.prompts.steer)
  rig.withdraw(['steer-1'])
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-consumed'), ['steer-2'], rig.show())
  assert.ok(!ids(rig, 'steer-undelivered').includes('steer-1'))
}

const notGranted: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inTool(stage, { grant: (offered) => offered.filter((id) => id !== 'steer-1') })
  rig.redirect(turnId, 'steer-1', stage.prompts.steer)
  rig.redirect(turnId, 'steer-2', stage.prompts.steer)
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-consumed'), ['steer-2'], rig.show())
}

const handedBack: Tests[string] = async (stage) => {
  const { rig, turnId } = await inTool(stage)
  rig.redirect(turnId, 'steer-1', stage.prompts.steer)
  rig.interrupt(turnId)
  await rig.stops(turnId)
  assert.deepEqual(ids(rig, 'steer-undelivered'), ['steer-1'], rig.show())
  assert.deepEqual(ids(rig, 'steer-consumed'), [])
}

/** Stopped as soon as the host has granted it. Which of the two it is depends on the agent's history; never both, never neither. */
const consumedOrBack: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inTool(stage)
  rig.redirect(turnId, 'steer-1', stage.prompts.steer)
  release()
  await rig.untilTrue(() => rig.trace.some((entry) => 'did' in entry && entry.did === 'answer-offering'), 'an offering')
  rig.interrupt(turnId)
  await rig.end(turnId)
  const settled = [...ids(rig, 'steer-consumed'), ...ids(rig, 'steer-undelivered')]
  assert.deepEqual(settled, ['steer-1'], rig.show())
}

/** A turn that has begun to speak and uses no tool. */
async function inText({ connect, prompts }: Stage): Promise<{ rig: Rig; turnId: string; release(): void }> {
  const held = prompts.longText?.()
  assert.ok(held !== undefined, 'the driver claims steers, but the target brings no long text without a tool')
  const rig = connect()
  const turnId = await rig.send(held.text)
  await rig.until('chunk', (event) => event.turnId === turnId)
  return { rig, turnId, release: () => held.release() }
}

const noTool: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inText(stage)
  assert.equal(rig.redirect(turnId, 'steer-1', stage.prompts.steer), true)
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-undelivered'), ['steer-1'], rig.show())
  assert.deepEqual(ids(rig, 'steer-consumed'), [])
}

const anyTime: Tests[string] = async (stage) => {
  const { rig, turnId, release } = await inText(stage)
  assert.equal(rig.redirect(turnId, 'steer-1', stage.prompts.steer), true)
  release()
  await rig.succeeds(turnId)
  assert.deepEqual(ids(rig, 'steer-consumed'), ['steer-1'], rig.show())
  assert.deepEqual(ids(rig, 'steer-boundary'), ['steer-1'], rig.show())
}

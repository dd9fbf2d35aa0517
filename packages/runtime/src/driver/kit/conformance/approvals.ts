/** Approvals: allow, deny, withdrawn at a Stop, late answers. For each kind the driver claims. */
import assert from 'node:assert/strict'
import type { ApprovalKind, DriverCapabilities } from '@wheelhouse/client/protocol'
import { NO, YES, type EventOf, type Rig } from './rig.ts'
import { need, type Stage, type Tests } from './suite.ts'

export function approvalTests(capabilities: DriverCapabilities): Tests {
  const tests: Tests = {}
  for (const kind of capabilities.approvals) {
    tests[`${NAMES[kind]} is asked, and runs after a yes`] = (stage) => allowed(stage, kind)
    tests[`${NAMES[kind]} is asked, and does not run after a no`] = (stage) => denied(stage, kind)
    if (capabilities.interrupt) tests[`${NAMES[kind]} that is open at a Stop is withdrawn`] = (stage) => withdrawn(stage, kind)
  }
  return tests
}

const NAMES: { [Kind in ApprovalKind]: string } = { tool: 'an approval', question: 'a question', plan: 'a plan' }

async function asked(
  stage: Stage,
  kind: ApprovalKind,
): Promise<{ rig: Rig; turnId: string; request: EventOf<'tool-approval-request'>['request'] }> {
  const { prompts } = stage
  const text = need(kind === 'tool' ? prompts.approval : prompts[kind], `approvals of kind ${kind}`)
  const rig = stage.connect()
  const turnId = await rig.send(text)
  const { request } = await rig.until('tool-approval-request', (event) => event.turnId === turnId)
  assert.equal(request.kind, kind)
  return { rig, turnId, request }
}

/** The state the call has come to. */
const toolOf = (rig: Rig, turnId: string, toolCallId: string): string | undefined =>
  rig
    .parts(turnId)
    .flatMap((part) => (part.type === 'dynamic-tool' && part.toolCallId === toolCallId ? [part.state] : []))
    .at(-1)

async function allowed(stage: Stage, kind: ApprovalKind): Promise<void> {
  const { rig, turnId, request } = await asked(stage, kind)
  const answers = kind === 'question' ? answersTo(request.input) : null
  rig.answer(request.approvalId, { ...YES, answers })
  rig.answer(request.approvalId, NO)
  await rig.until('tool-approval-applied', (event) => event.approvalId === request.approvalId)
  await rig.succeeds(turnId)
  assert.equal(toolOf(rig, turnId, request.toolCallId), 'output-available', rig.show())
}

/** The first option of each question, or any words where there are none. */
function answersTo(input: unknown): { [question: string]: string } {
  const questions = isObject(input) && Array.isArray(input['questions']) ? input['questions'] : []
  return Object.fromEntries(
    questions.filter(isObject).map((each) => {
      const [first] = Array.isArray(each['options']) ? each['options'] : []
      return [String(each['question']), isObject(first) ? String(first['label']) : 'yes']
    }),
  )
}

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function denied(stage: Stage, kind: ApprovalKind): Promise<void> {
  const { rig, turnId, request } = await asked(stage, kind)
  rig.answer(request.approvalId, NO)
  await rig.until('tool-approval-applied', (event) => event.approvalId === request.approvalId)
  await rig.end(turnId)
  const state = toolOf(rig, turnId, request.toolCallId)
  assert.ok(state === 'output-denied' || state === 'output-error', `the call is ${state}\n${rig.show()}`)
}

async function withdrawn(stage: Stage, kind: ApprovalKind): Promise<void> {
  const { rig, turnId, request } = await asked(stage, kind)
  rig.interrupt(turnId)
  await rig.stops(turnId)
  await rig.until('tool-approval-withdrawn', (event) => event.approvalId === request.approvalId)
  rig.answer(request.approvalId, YES)
  const next = await rig.send(stage.prompts.text)
  await rig.succeeds(next)
  assert.notEqual(toolOf(rig, turnId, request.toolCallId), 'output-available', rig.show())
}

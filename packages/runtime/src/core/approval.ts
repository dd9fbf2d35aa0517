/** Approvals (decision 6): durable, bound to a row and a generation; decided and applied are two facts. */
import { accept, refuse, type Draft } from './draft.ts'
import type { CommandEvent, DriverEvent } from './event.ts'
import type { ApprovalDecision, ApprovalRequest, Generation, OpenApproval, Turn } from './types.ts'

const HEADLESS_REASON = 'Nobody is there to approve this: the turn was not started by a person at work. Go on without it.'
const STOPPING_REASON = 'The turn is being stopped.'
const EXPIRED_REASON = 'Nobody answered in time.'

export const denial = (reason: string): ApprovalDecision => ({ allow: false, reason, updatedInput: null, answers: null })

/** Asks the people, or answers at once where nobody may: headless is denied in code, with a reason the model sees. */
export function onApprovalRequest(d: Draft, turn: Turn, generation: Generation, request: ApprovalRequest): void {
  const { s } = d
  if (turn.stop !== null) {
    answer(d, generation, request.approvalId, denial(STOPPING_REASON))
    return
  }
  const row = {
    id: request.approvalId,
    messageId: turn.messageId,
    turnId: turn.id,
    generation,
    kind: request.kind,
    toolCallId: request.toolCallId,
    toolName: request.toolName,
    input: request.input,
  }
  if (turn.headless) {
    d.writes.push({ type: 'insert-approval', row: { ...row, status: 'denied', reason: HEADLESS_REASON } })
    answer(d, generation, request.approvalId, denial(HEADLESS_REASON))
    return
  }
  s.approvals.push({ id: request.approvalId, turnId: turn.id, messageId: turn.messageId, generation, decided: false })
  d.writes.push({ type: 'insert-approval', row: { ...row, status: 'pending', reason: null } })
  d.effects.push({ type: 'arm-timer', timer: 'approval-expiry', key: request.approvalId }, { type: 'publish-status' })
}

/** The first answer wins, whoever gives it; a later one is told that it came too late. */
export function onApprovalAnswered(d: Draft, event: Extract<CommandEvent, { type: 'approval-answered' }>): void {
  const approval = d.s.approvals.find((open) => open.id === event.approvalId && !open.decided)
  if (approval === undefined) {
    refuse(d, event.commandId, 'APPROVAL_NOT_PENDING')
    return
  }
  approval.decided = true
  const { allow, reason } = event.decision
  d.writes.push({ type: 'decide-approval', id: approval.id, status: allow ? 'allowed' : 'denied', reason, by: event.by })
  answer(d, approval.generation, approval.id, event.decision)
  d.effects.push({ type: 'cancel-timer', timer: 'approval-expiry', key: approval.id }, { type: 'publish-status' })
  accept(d, event.commandId, { turnId: approval.turnId })
}

export function onApprovalApplied(d: Draft, event: Extract<DriverEvent, { type: 'tool-approval-applied' }>): void {
  const approval = d.s.approvals.find((open) => open.id === event.approvalId && open.decided)
  if (approval === undefined) return
  d.s.approvals = d.s.approvals.filter((open) => open !== approval)
  d.writes.push({ type: 'apply-approval', id: approval.id })
}

export function onApprovalWithdrawn(d: Draft, event: Extract<DriverEvent, { type: 'tool-approval-withdrawn' }>): void {
  expireApprovals(d, (approval) => approval.id === event.approvalId, event.reason)
}

export function onApprovalExpiry(d: Draft, approvalId: string): void {
  const approval = d.s.approvals.find((open) => open.id === approvalId && !open.decided)
  if (approval === undefined) return
  expireApprovals(d, (open) => open === approval, EXPIRED_REASON)
  answer(d, approval.generation, approval.id, denial(EXPIRED_REASON))
}

/** Cards go with their owner: pending ones expire visibly, decided ones stay "answered, not used". */
export function expireApprovals(d: Draft, which: (approval: OpenApproval) => boolean, reason: string): void {
  const gone = d.s.approvals.filter(which)
  if (gone.length === 0) return
  d.s.approvals = d.s.approvals.filter((approval) => !gone.includes(approval))
  for (const approval of gone) {
    if (approval.decided) continue
    d.writes.push({ type: 'expire-approval', id: approval.id, reason })
    d.effects.push({ type: 'cancel-timer', timer: 'approval-expiry', key: approval.id })
  }
  d.effects.push({ type: 'publish-status' })
}

function answer(d: Draft, generation: Generation, approvalId: string, decision: ApprovalDecision): void {
  d.effects.push({ type: 'answer-approval', generation, approvalId, decision })
}

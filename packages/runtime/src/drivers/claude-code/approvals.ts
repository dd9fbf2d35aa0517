/** What the agent asks a person: permissions, questions, plans. Each ask ends by an answer or is withdrawn. */
import type { PermissionResult } from '@anthropic-ai/claude-agent-sdk'
import { wellFormedJson, type ApprovalKind, type Json, type JsonObject } from '@wheelhouse/client/protocol'
import type { ApprovalDecision, DriverEvent } from '../../driver/contract.ts'
import { toJson } from './clean.ts'

export type Ask = {
  turnId: string
  toolName: string
  toolCallId: string
  input: { [key: string]: unknown }
  /** The plan text stands in the call, not in what is asked. */
  plan: string | null
  signal: AbortSignal
}

type Open = { ask: Ask; kind: ApprovalKind; answer(result: PermissionResult): void }

const NO_REASON = 'The user said no.'

export const kindOf = (toolName: string): ApprovalKind =>
  toolName === 'AskUserQuestion' ? 'question' : toolName === 'ExitPlanMode' ? 'plan' : 'tool'

export class Approvals {
  readonly #emit: (event: DriverEvent) => void
  readonly #open = new Map<string, Open>()
  readonly #denied = new Set<string>()

  constructor(emit: (event: DriverEvent) => void) {
    this.#emit = emit
  }

  /** Asks, and waits as long as it takes; the host limits the wait. */
  ask(approvalId: string, ask: Ask): Promise<PermissionResult> {
    const kind = kindOf(ask.toolName)
    return new Promise((resolve) => {
      this.#open.set(approvalId, { ask, kind, answer: resolve })
      ask.signal.addEventListener('abort', () => this.#withdraw(approvalId, 'The agent no longer asks.'), { once: true })
      if (ask.signal.aborted) {
        this.#withdraw(approvalId, 'The agent no longer asks.')
        return
      }
      const input: Json = wellFormedJson(toJson(ask.plan === null ? ask.input : { ...ask.input, plan: ask.plan }))
      const { toolName, toolCallId } = ask
      this.#emit({ type: 'tool-approval-request', turnId: ask.turnId, request: { approvalId, kind, toolCallId, toolName, input } })
    })
  }

  isOpen(approvalId: string): boolean {
    return this.#open.has(approvalId)
  }

  answer(approvalId: string, decision: ApprovalDecision): void {
    const open = this.#open.get(approvalId)
    if (open === undefined) return
    this.#open.delete(approvalId)
    if (!decision.allow) this.#denied.add(open.ask.toolCallId)
    open.answer(toResult(open, decision))
    this.#emit({ type: 'tool-approval-applied', approvalId })
  }

  /** The person refused this call. */
  wasDenied(toolCallId: string): boolean {
    return this.#denied.has(toolCallId)
  }

  /** What is open can no longer be answered: the turn is over, or with no turn named, the agent is going. */
  withdrawOf(turnId: string | null, reason: string): void {
    for (const [approvalId, { ask }] of this.#open) if (turnId === null || ask.turnId === turnId) this.#withdraw(approvalId, reason)
  }

  #withdraw(approvalId: string, reason: string): void {
    const open = this.#open.get(approvalId)
    if (open === undefined) return
    this.#open.delete(approvalId)
    open.answer({ behavior: 'deny', message: reason })
    this.#emit({ type: 'tool-approval-withdrawn', approvalId, reason })
  }
}

/** An allowed call must be given back as it is to run. */
function toResult({ ask, kind }: Open, decision: ApprovalDecision): PermissionResult {
  if (!decision.allow) return { behavior: 'deny', message: decision.reason ?? NO_REASON }
  const updated = isObject(decision.updatedInput) ? decision.updatedInput : ask.input
  return { behavior: 'allow', updatedInput: kind === 'question' ? { ...updated, answers: decision.answers ?? {} } : updated }
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

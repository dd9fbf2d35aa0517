/** Live policy of a connection: what may change while it runs, and what needs a new one. */
import type { PermissionMode } from '@wheelhouse/client/protocol'
import type { DesiredPolicy, ReconcileAnswer } from '../../driver/contract.ts'

export const PERMISSION_MODES: PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan']

export type LivePolicy = {
  modelId: string
  permissionMode: PermissionMode
  /** Tools refused when called. */
  disabled: Set<string>
  /** Tools the agent was started without: the model does not see them, whatever is allowed later. */
  readonly hidden: ReadonlySet<string>
  /** Full access can be switched on only where the agent was started for it. */
  readonly mayBypass: boolean
}

export function newPolicy(want: DesiredPolicy): LivePolicy {
  return {
    modelId: want.modelId,
    permissionMode: want.permissionMode,
    disabled: new Set(want.disabledTools),
    hidden: new Set(want.disabledTools),
    mayBypass: want.permissionMode === 'bypassPermissions',
  }
}

export type PolicyPlan = { answer: ReconcileAnswer; disable: string[]; mode: PermissionMode | null; modelId: string | null }

/**
 * What to do to get from one policy to another. Tools that are taken away are taken away at once,
 * also when the rest needs a new connection; mode and model are frozen while a turn runs.
 */
export function planPolicy(have: LivePolicy, want: DesiredPolicy, busy: boolean): PolicyPlan {
  const disable = want.disabledTools.filter((tool) => !have.disabled.has(tool))
  const enabled = [...have.disabled].filter((tool) => !want.disabledTools.includes(tool))
  const mode = want.permissionMode === have.permissionMode ? null : want.permissionMode
  const modelId = want.modelId === have.modelId ? null : want.modelId
  const plan: PolicyPlan = { answer: 'patched', disable, mode: null, modelId: null }
  if (mode !== null && !PERMISSION_MODES.includes(mode)) return { ...plan, answer: 'invalid' }
  const needsNew = enabled.some((tool) => have.hidden.has(tool)) || (mode === 'bypassPermissions' && !have.mayBypass)
  if (needsNew || (busy && (mode !== null || modelId !== null))) return { ...plan, answer: 'rebuild' }
  if (mode === null && modelId === null && disable.length === 0 && enabled.length === 0) return { ...plan, answer: 'current' }
  return { ...plan, mode, modelId }
}

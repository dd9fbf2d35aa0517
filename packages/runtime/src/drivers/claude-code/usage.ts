/**
 * Provider calls as usage records: one per model message id, whatever the number of frames it came
 * in (requirements 136, 144). Times are monotonic milliseconds.
 */
import type { UsageRecord } from '../../driver/contract.ts'

/** Token counts as the provider writes them; a count it did not write is unknown, not zero. */
export type WireUsage = {
  input_tokens?: number | null
  output_tokens?: number | null
  cache_read_input_tokens?: number | null
  cache_creation_input_tokens?: number | null
}

type Open = {
  record: UsageRecord
  startedAt: number
  /** Its output count is the provider's last word. */
  final: boolean
}

/** The call of a model message that is under way; `end` gives its record, once. */
export type UsageDesk = { open: Open | null }

export const newUsageDesk = (): UsageDesk => ({ open: null })

/** A model message begins. `ttftMs` null: not measured, so the whole call's time is not known either. */
export function beginUsage(
  desk: UsageDesk,
  message: { id: string; model: string; usage?: WireUsage | null },
  ttftMs: number | null,
  now: number,
): void {
  desk.open = { record: toRecord(message, ttftMs), startedAt: now, final: false }
}

/** The provider's closing counts. An output count without a stop reason is of a call that was cut, and unknown. */
export function updateUsage(desk: UsageDesk, usage: WireUsage, stopped: boolean): void {
  const { open } = desk
  if (open === null || !stopped) return
  const { record } = open
  open.record = {
    ...record,
    inputTokens: usage.input_tokens ?? record.inputTokens,
    outputTokens: usage.output_tokens ?? record.outputTokens,
    cacheReadTokens: usage.cache_read_input_tokens ?? record.cacheReadTokens,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? record.cacheWriteTokens,
  }
  open.final = true
}

/** A whole snapshot of the message: used when the closing counts never came; of several the one with the larger output wins. */
export function snapshotUsage(
  desk: UsageDesk,
  message: { id: string; model: string; usage?: WireUsage | null; stop_reason?: string | null },
): void {
  const { open } = desk
  if (open === null || open.record.requestId !== message.id) desk.open = { record: toRecord(message, null), startedAt: 0, final: false }
  const current = desk.open
  if (current === null || current.final || message.stop_reason == null) return
  const output = message.usage?.output_tokens ?? null
  if (output !== null && output >= (current.record.outputTokens ?? 0)) current.record.outputTokens = output
}

/** The call is over, or another begins. */
export function endUsage(desk: UsageDesk, now: number): UsageRecord[] {
  const { open } = desk
  desk.open = null
  if (open === null) return []
  const { record, startedAt, final } = open
  const durationMs = record.ttftMs === null || !final ? null : record.ttftMs + Math.max(0, Math.round(now - startedAt))
  return [{ ...record, durationMs }]
}

function toRecord(message: { id: string; model: string; usage?: WireUsage | null }, ttftMs: number | null): UsageRecord {
  const usage = message.usage ?? {}
  return {
    requestId: message.id,
    modelId: message.model === '' ? null : message.model,
    inputTokens: usage.input_tokens ?? null,
    // The count at the beginning of a stream is not what the answer will have cost.
    outputTokens: null,
    cacheReadTokens: usage.cache_read_input_tokens ?? null,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? null,
    ttftMs,
    durationMs: null,
  }
}

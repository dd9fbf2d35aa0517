/** What a result says about the whole turn, for the live display; records are made per call (usage.ts). */
import type { JsonObject } from '@wheelhouse/client/protocol'
import type { ResultFrame } from './signals.ts'

/**
 * Usage of the turn's own loop, and its cost where it can be told apart: the running total of a
 * resumed conversation holds earlier turns, and is never divided.
 */
export function metadataOf(result: ResultFrame, totalIsOwn: boolean): JsonObject {
  const { usage } = result
  return {
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.cache_read_input_tokens,
      cacheWriteTokens: usage.cache_creation_input_tokens,
    },
    durationMs: result.duration_ms,
    modelCalls: result.num_turns,
    costUsd: costOf(result, totalIsOwn),
  }
}

function costOf(result: ResultFrame, totalIsOwn: boolean): number | null {
  const models = result.model_usage_since_last_result
  if (models === undefined) return totalIsOwn && result.result_index === 0 ? result.total_cost_usd : null
  return Object.values(models).reduce((sum, model) => sum + (model.costUSD ?? 0), 0)
}

/** What a simulated agent says that depends on nothing it remembers. */
import type { BackgroundTask } from '@wheelhouse/client/protocol'
import { assertNever } from '../packages/runtime/src/core/assert.ts'
import type { DriverEvent } from '../packages/runtime/src/driver/contract.ts'

export const MOMENTS = [
  'context-usage',
  'supported-commands',
  'background-tasks',
  'background-work-state',
  'background-task-event',
  'background-flow-chunk',
] as const

export type Moment = (typeof MOMENTS)[number]
export type CompactionEvent = 'compaction-start' | 'compaction-complete' | 'compaction-error'

export const isMoment = (type: DriverEvent['type']): type is Moment => MOMENTS.some((moment) => moment === type)

const TASK: BackgroundTask = { id: 'task', kind: 'shell', title: 'x', status: 'running' }

/** `busy`: work goes on in the background. */
export function momentOf(type: Moment, busy: boolean): DriverEvent {
  switch (type) {
    case 'context-usage':
      return { type, usage: { usedTokens: 10, maxTokens: 100 } }
    case 'supported-commands':
      return { type, commands: [{ name: 'compact', description: 'x' }] }
    case 'background-tasks':
      return { type, tasks: busy ? [TASK] : [] }
    case 'background-work-state':
      return { type, active: busy }
    case 'background-task-event':
      return { type, task: TASK }
    case 'background-flow-chunk':
      return { type, messageId: 'gone', toolCallId: 'tool', chunk: {} }
    default:
      return assertNever(type)
  }
}

export function compactionOf(type: CompactionEvent): DriverEvent {
  if (type === 'compaction-start') return { type, trigger: 'auto' }
  return type === 'compaction-complete' ? { type, anchor: 'a' } : { type, message: 'too long' }
}

export function usageOf(turnId: string, requestId: string): DriverEvent {
  const tokens = { inputTokens: 3, outputTokens: 2, cacheReadTokens: null, cacheWriteTokens: 0 }
  return { type: 'usage', turnId, usage: { requestId, modelId: 'm', ...tokens, ttftMs: null, durationMs: null } }
}

export const retryOf = (turnId: string): DriverEvent => ({
  type: 'api-retry',
  turnId,
  attempt: 1,
  maxAttempts: 2,
  delayMs: 5,
  reason: 'overloaded',
})

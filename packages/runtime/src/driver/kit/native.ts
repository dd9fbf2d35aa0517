/** What a scripted agent and its driver say to each other: objects in one process, a line of JSON each over a pipe. */
import type { BackgroundTask, Json, UIMessageChunk } from '@wheelhouse/client/protocol'
import type { FailCode } from './script.ts'

/** When a scripted agent takes steers: at its tools, or between any two steps. */
export type SteerPoints = 'none' | 'at-tool' | 'any-time'

export type ToAgent =
  /** First of all. `resume` names a conversation; one it does not know makes it begin a new one. */
  | { type: 'init'; resume: string | null; steer: SteerPoints; policy: AgentPolicy }
  | { type: 'policy'; policy: AgentPolicy }
  | { type: 'input'; turn: string; kind: 'message' | 'compaction'; text: string; steer: boolean; seed: string | null }
  | { type: 'hook-answer'; hook: string; steers: { id: string; text: string }[] }
  | {
      type: 'decision'
      permission: string
      allow: boolean
      reason: string | null
      input: Json
      answers: { [question: string]: string } | null
    }
  | { type: 'interrupt'; turn: string }
  | { type: 'release'; key: string }

/** `asks`: without it the agent runs everything unasked. */
export type AgentPolicy = { asks: boolean; disabledTools: readonly string[] }

/** `turn` is the driver's name of it, or for turns of its own accord the agent's. */
export type FromAgent =
  | { type: 'ready'; conversation: string; resumed: boolean }
  | { type: 'turn-began'; turn: string }
  | { type: 'out'; turn: string; chunk: UIMessageChunk }
  /** It can take steers now and waits for the answer. */
  | { type: 'hook'; turn: string; hook: string }
  /** These steers are in its history now. */
  | { type: 'remembered'; turn: string; steers: string[] }
  | {
      type: 'permission'
      turn: string
      permission: string
      kind: 'tool' | 'question' | 'plan'
      toolCallId: string
      toolName: string
      input: Json
    }
  | { type: 'permission-used'; permission: string }
  | { type: 'permission-gone'; permission: string; reason: string }
  | { type: 'usage'; turn: string; request: string; inputTokens: number; outputTokens: number }
  | { type: 'context'; usedTokens: number }
  | { type: 'retry'; turn: string; attempt: number; maxAttempts: number; reason: string }
  | { type: 'compaction'; phase: 'start'; trigger: 'manual' | 'auto' }
  | { type: 'compaction'; phase: 'complete' }
  | { type: 'compaction'; phase: 'error'; message: string }
  | { type: 'tasks'; tasks: BackgroundTask[] }
  | { type: 'task'; task: BackgroundTask }
  | { type: 'turn-ended'; turn: string; outcome: 'success' | 'stopped' }
  | { type: 'turn-failed'; turn: string; code: FailCode; status: number | null; message: string }

/** What a frame of the CLI means, before it is bound to a turn. */
import type { BackgroundTask, PermissionMode, UIMessageChunk } from '@wheelhouse/client/protocol'
import type { SDKMessage, SDKResultMessage } from '@anthropic-ai/claude-agent-sdk'
import type { UsageRecord } from '../../driver/contract.ts'

/** Frames the CLI sends beside those its types name. */
type CommandFrame = { type: 'command_lifecycle'; command_uuid: string; state: 'queued' | 'started' | 'completed' | 'cancelled' }
export type Frame = SDKMessage | CommandFrame
/** Fields of results the types leave out. */
export type ResultFrame = SDKResultMessage & { model_usage_since_last_result?: { [model: string]: { costUSD?: number } } }

export type Signal =
  | { type: 'session'; sessionId: string }
  | { type: 'permission-mode'; mode: PermissionMode }
  /** A user message left the CLI's queue, or was dropped from it. */
  | { type: 'taken' | 'dropped'; uuid: string }
  /** This frame answers these user messages. */
  | { type: 'answers'; uuids: readonly string[] }
  /** A model message of the agent's own begins: the place of a steer boundary. */
  | { type: 'model-message' }
  /** It ended, by this reason; null = it was cut. */
  | { type: 'model-stopped'; reason: string | null }
  | { type: 'chunks'; chunks: UIMessageChunk[] }
  | { type: 'sub-chunks'; parentId: string; chunks: UIMessageChunk[] }
  | { type: 'usage'; usage: UsageRecord }
  | { type: 'tool-answered'; toolUseId: string }
  | { type: 'retry'; attempt: number; maxAttempts: number; delayMs: number; reason: string }
  | { type: 'compacting' }
  | { type: 'compaction-succeeded' }
  | { type: 'compacted'; anchor: string }
  | { type: 'compaction-failed'; message: string }
  | { type: 'tasks'; tasks: BackgroundTask[] }
  | { type: 'task'; task: BackgroundTask }
  | { type: 'commands'; commands: { name: string; description: string }[] }
  | { type: 'result'; result: ResultFrame }

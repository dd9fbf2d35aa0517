/**
 * The UI message chunks and parts that Wheelhouse streams and stores. They are the AI SDK 7 shapes
 * (`UIMessageChunk`, `UIMessagePart`), declared here so that a browser needs no dependency; a test
 * validates what the host emits against the AI SDK's own schema.
 */
import type { Json, JsonObject } from './json.ts'

/** Metadata of a message or part that the provider wrote; opaque to the host. */
export type ProviderMetadata = { [provider: string]: JsonObject }

/** One step of a streaming assistant message. The host numbers them per message (`n`, from 1). */
export type UIMessageChunk =
  | { type: 'start'; messageId?: string; messageMetadata?: JsonObject }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  | { type: 'text-start'; id: string; providerMetadata?: ProviderMetadata }
  | { type: 'text-delta'; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: 'text-end'; id: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning-start'; id: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning-delta'; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning-end'; id: string; providerMetadata?: ProviderMetadata }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic?: boolean; providerExecuted?: boolean; title?: string }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | {
      type: 'tool-input-available'
      toolCallId: string
      toolName: string
      input: Json
      dynamic?: boolean
      providerExecuted?: boolean
      title?: string
    }
  | {
      type: 'tool-input-error'
      toolCallId: string
      toolName: string
      input: Json
      errorText: string
      dynamic?: boolean
      providerExecuted?: boolean
    }
  | {
      type: 'tool-output-available'
      toolCallId: string
      output: Json
      dynamic?: boolean
      providerExecuted?: boolean
      preliminary?: boolean
    }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic?: boolean; providerExecuted?: boolean }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'file'; url: string; mediaType: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: `data-${string}`; id?: string; data: Json; transient?: boolean }
  | { type: 'message-metadata'; messageMetadata: JsonObject }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason?: string }
  | { type: 'finish'; finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'; messageMetadata?: JsonObject }

/** Where a tool call stands. The last three and `input-error` are terminal. */
export type ToolState = 'input-streaming' | 'input-available' | 'approval-requested' | 'output-available' | 'output-error' | 'output-denied'

/** A tool call with its result; every tool is `dynamic-tool`, since the agent and not the host owns the tool set. */
export type ToolPart = {
  type: 'dynamic-tool'
  toolName: string
  toolCallId: string
  state: ToolState
  title?: string
  input?: Json
  output?: Json
  errorText?: string
  approval?: { id: string }
  preliminary?: boolean
}

/** A stored piece of a message, in order of appearance. */
export type MessagePart =
  | { type: 'text'; text: string; state?: 'streaming' | 'done' }
  | { type: 'reasoning'; text: string; state?: 'streaming' | 'done'; providerMetadata?: ProviderMetadata }
  | ToolPart
  | { type: 'file'; url: string; mediaType: string; filename?: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'step-start' }
  | { type: `data-${string}`; id?: string; data: Json }

/** What one assistant message has become so far: parts and the metadata merged from its chunks. */
export type MessageContent = { parts: MessagePart[]; metadata: JsonObject }

/**
 * What happens outside after a commit, in order, before the session's next event. For every type
 * docs/model.md says what re-creates it after a crash. None calls a mailbox synchronously.
 */
import type { ErrorCode, LiveTurn, SendResult } from '@wheelhouse/client/protocol'
import type { ApprovalDecision, Chunks, Generation, LookId, MessageId, SessionId, TurnId, TurnKind } from './types.ts'
import type { DriverEvent, TimerName } from './event.ts'

/** What a command gets back: its result, or a refusal by code. */
export type Answer =
  | { ok: true; messageId: MessageId | null; turnId: TurnId | null; disposition: SendResult['disposition'] | null }
  | { ok: false; code: ErrorCode; detail: string }

/** Driver events that only windows care about. */
export type Activity = Extract<
  DriverEvent,
  {
    type:
      | 'api-retry'
      | 'context-usage'
      | 'supported-commands'
      | 'background-tasks'
      | 'background-work-state'
      | 'background-task-event'
      | 'background-flow-chunk'
  }
>

export type Effect =
  | { type: 'reply'; commandId: string; answer: Answer }
  | { type: 'connect'; generation: Generation; token: string | null }
  /** Gives the turn's input to the agent. */
  | {
      type: 'send'
      generation: Generation
      turnId: TurnId
      messageId: MessageId
      inputId: MessageId | null
      kind: TurnKind
      steer: boolean
      headless: boolean
    }
  | { type: 'redirect'; generation: Generation; turnId: TurnId; inputId: MessageId }
  | { type: 'answer-offering'; generation: Generation; offeringId: string; inputIds: MessageId[] }
  | { type: 'withdraw-redirect'; generation: Generation; inputIds: MessageId[] }
  | { type: 'interrupt'; generation: Generation; turnId: TurnId }
  | {
      type: 'close-connection'
      generation: Generation
      reason: 'idle' | 'stop' | 'error' | 'rebuild' | 'deleted' | 'quarantined' | 'persistence' | 'discarded'
    }
  | { type: 'answer-approval'; generation: Generation; approvalId: string; decision: ApprovalDecision }
  /** Appends to the chunk journal, then publishes; chunk `n` is the first one's number. */
  | { type: 'journal-chunks'; messageId: MessageId; n: number; chunks: Chunks }
  | { type: 'publish-turn'; phase: 'started'; turn: LiveTurn }
  | { type: 'publish-turn'; phase: 'ended'; turnId: TurnId; messageId: MessageId; boundary: 'turn' | 'row-roll' }
  /** Things of the moment that no row holds; a window that misses one asks the snapshot. */
  | { type: 'publish-activity'; messageId: MessageId | null; activity: Activity }
  | { type: 'publish-status' }
  /** Nothing follows on this topic: its held stream ends (`terminateHeldTopicStream`). */
  | { type: 'end-topic' }
  | { type: 'arm-timer'; timer: TimerName; key: string }
  | { type: 'cancel-timer'; timer: TimerName; key: string }
  /** Reads the inbox; answered by delivery-found or delivery-none. */
  | { type: 'look-for-delivery'; look: LookId }
  /** The turn of a delivery has ended: finish its request; answered by delivery-finalizing. */
  | { type: 'finalize-delivery'; messageId: MessageId }
  /** Something was put into that session's inbox: look there. */
  | { type: 'kick-session'; sessionId: SessionId }
  | { type: 'drop-session' }

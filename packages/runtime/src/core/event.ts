/**
 * Everything that can happen to a session. Three sources: commands of clients (answered by a
 * `reply` effect), the driver, the host itself. Driver events keep the names of the specification.
 */
import type { BackgroundTask, ContextUsage, Json, MessagePart } from '@wheelhouse/client/protocol'
import type {
  ApprovalDecision,
  ApprovalRequest,
  Chunks,
  DeliveryRef,
  Generation,
  LookId,
  MessageId,
  NewInput,
  SessionChange,
  Stamp,
  StopQueueMode,
  TurnId,
  UsageRecord,
} from './types.ts'

/** How a turn ended, as the agent tells it. */
export type TurnOutcome = 'success' | 'stopped'

/**
 * What a connection reports, in the order it happened. Every event of a turn names the turn; the
 * ids of turns the agent starts itself come from the driver's id port.
 */
export type DriverEvent =
  /** The agent can take input. `resumed`: it continues the conversation of the token it was given. */
  | { type: 'connected'; resumed: boolean }
  /** The last event of a generation, always sent, whoever closed it. `code` null = closed as asked. */
  | {
      type: 'connection-closed'
      code: 'CONNECT_FAILED' | 'WORKSPACE_MISSING' | 'AGENT_PROCESS_LOST' | 'DRIVER_NOT_INSTALLED' | 'PROVIDER_AUTH_FAILED' | null
      message: string
    }
  | { type: 'chunk'; turnId: TurnId; chunks: Chunks }
  | { type: 'tool-approval-request'; turnId: TurnId; request: ApprovalRequest }
  /** The agent used the decision, or withdrew the question. */
  | { type: 'tool-approval-applied'; approvalId: string }
  | { type: 'tool-approval-withdrawn'; approvalId: string; reason: string }
  | { type: 'usage'; turnId: TurnId; usage: UsageRecord }
  | { type: 'resume-token'; token: string }
  | { type: 'turn-complete'; turnId: TurnId; outcome: TurnOutcome }
  /** The turn failed; the connection will be torn down. */
  | {
      type: 'error'
      turnId: TurnId
      code: 'PROVIDER_ERROR' | 'PROVIDER_AUTH_FAILED' | 'AGENT_ERROR'
      message: string
      status: number | null
    }
  /** The driver can inject now and waits for `answerOffering`: which of its stashed steers may go. */
  | { type: 'steer-offering'; turnId: TurnId; offeringId: string; inputIds: MessageId[] }
  | { type: 'steer-consumed'; turnId: TurnId; inputIds: MessageId[] }
  | { type: 'steer-boundary'; turnId: TurnId; inputIds: MessageId[] }
  | { type: 'steer-undelivered'; turnId: TurnId; inputIds: MessageId[] }
  | { type: 'compaction-start'; trigger: 'manual' | 'auto' }
  | { type: 'compaction-complete'; anchor: string | null }
  | { type: 'compaction-error'; message: string }
  | { type: 'api-retry'; turnId: TurnId; attempt: number; maxAttempts: number | null; delayMs: number; reason: string }
  | { type: 'context-usage'; usage: ContextUsage }
  | { type: 'supported-commands'; commands: { name: string; description: string }[] }
  | { type: 'background-tasks'; tasks: BackgroundTask[] }
  | { type: 'background-work-state'; active: boolean }
  | { type: 'background-task-event'; task: BackgroundTask }
  /** Output of a sub-agent whose root tool call stands in `messageId`'s row; it counts whichever connection brings it. */
  | { type: 'background-flow-chunk'; messageId: MessageId; toolCallId: string; chunk: Json }
  /** The agent begins a turn nobody asked for. Comes before any of its chunks; it ends by its own turn-complete. */
  | { type: 'autonomous-turn-state'; state: 'started'; turnId: TurnId }

/** Refusals and answers travel back by `commandId` as a `reply` effect. */
export type CommandEvent =
  | { type: 'message-submitted'; commandId: string; input: NewInput; steerable: boolean }
  | { type: 'message-edited'; commandId: string; messageId: MessageId; parts: MessagePart[] }
  | { type: 'message-withdrawn'; commandId: string; messageId: MessageId }
  | { type: 'message-resent'; commandId: string; messageId: MessageId }
  | { type: 'message-dismissed'; commandId: string; messageId: MessageId }
  | { type: 'queue-run'; commandId: string }
  | { type: 'queue-discarded'; commandId: string }
  | { type: 'stop-requested'; commandId: string; turnId: TurnId | null; queue: StopQueueMode; by: string | null }
  | { type: 'approval-answered'; commandId: string; approvalId: string; decision: ApprovalDecision; by: string | null }
  | { type: 'compact-requested'; commandId: string; modelId: string | null }
  | { type: 'session-updated'; commandId: string; expectedRev: number; change: SessionChange }
  | { type: 'session-deleted'; commandId: string; expectedRev: number }
  | { type: 'session-released'; commandId: string }

export type TimerName = 'idle' | 'stop-escalation' | 'stop-deadline' | 'approval-expiry'

export type HostEvent =
  /** The session was loaded with something under way, or was given up: what was not sent runs again, what was sent is closed. */
  | { type: 'recovered' }
  | { type: 'hold-placed' }
  | { type: 'hold-released' }
  | { type: 'agent-changed' }
  | { type: 'redirect-refused'; generation: Generation; inputId: MessageId }
  | { type: 'send-failed'; generation: Generation; turnId: TurnId; message: string }
  | { type: 'delivery-kicked' }
  /** The answers to a look into the inbox, by its id. */
  | { type: 'delivery-found'; look: LookId; delivery: DeliveryRef; agentRev: number; modelId: string | null }
  | { type: 'delivery-none'; look: LookId }
  | { type: 'delivery-unroutable'; look: LookId; deliveryId: MessageId; resultTo: string | null; code: string }
  | { type: 'delivery-finalizing'; messageId: MessageId }
  /** The store refused a claim or a finish: somebody else changed the row. */
  | { type: 'commit-refused'; of: 'claim' | 'finish' }
  /** A driver event could not be saved after every try (decisions 102, 103). */
  | { type: 'terminal-persistence-failed' }
  | { type: 'session-quarantined'; reason: string }
  | { type: 'timer-fired'; timer: TimerName; key: string }

/** What `step` takes. Chunks carry a stamp that is the same for all: they are many and decide nothing. */
export type Event =
  | ({ stamp: Stamp } & CommandEvent)
  | ({ stamp: Stamp } & HostEvent)
  | { type: 'driver'; generation: Generation; stamp: Stamp; event: DriverEvent }

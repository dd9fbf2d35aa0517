/**
 * What the host asks of a driver. A driver owns one agent runtime: its process or library, its
 * transport, its tool surface, its approval gate, its resume format. The host knows none of them.
 *
 * Rules every driver keeps (the kit in ./kit checks them):
 * - `connect` returns at once; everything that happens is told by `emit`, in order.
 * - `connected` comes once; `connection-closed` comes once and last, whoever closed it, also when the
 *   start failed. After it nothing is emitted.
 * - Each turn that was sent ends by exactly one `turn-complete` or `error`, or by `connection-closed`.
 * - `send` of a turn while another runs is never asked, but for a user turn during an autonomous one.
 * - No method throws; what goes wrong is an event. `emit` may be called from inside a method.
 * - A driver reads no environment, clock or home directory: what it may use is in `ConnectInput`.
 */
import type { ChildProcess } from 'node:child_process'
import type { AgentType, DriverCapabilities, MessagePart, PermissionMode, ProviderProtocol } from '@wheelhouse/client/protocol'
import type { DriverEvent } from '../core/event.ts'
import type { ApprovalDecision, MessageId, TurnId } from '../core/types.ts'

export type { DriverEvent } from '../core/event.ts'
export type { ApprovalDecision, ApprovalRequest, UsageRecord } from '../core/types.ts'

/** Prompt policy of the host: `base` null = the agent's own base prompt; `append` is added to either. */
export type RuntimePrompt = { base: string | null; append: string }

/** The model endpoint of a connection. `apiKey` is for the child's environment or request headers only; it must never be logged or written. */
export type RuntimeProvider = { protocol: ProviderProtocol; baseUrl: string; apiKey: string | null }

/** Ports a driver may use; the host implements them. */
export type DriverPorts = {
  /**
   * Starts a child under the host's process manager: three pipes, never detached, recorded in the
   * ledger, tied to the host's life. `env` is the whole environment.
   */
  spawn(command: string, args: readonly string[], options: { cwd: string; env: { [name: string]: string } }): ChildProcess
  /**
   * Ends what a child of `spawn` started: all of it, or what started within the last
   * `startedWithinMs`; with `root` the child itself too. Resolves when it is gone or cannot be ended.
   * Absent where the host has no processes.
   */
  killTree?(child: ChildProcess, scope: { root: boolean; startedWithinMs: number | null }): Promise<void>
  /** Runs `fire` once after `ms`; returns the cancel. */
  after(ms: number, fire: () => void): () => void
  newId(): string
  /** Diagnostic line; secrets and message text do not belong in it. */
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: { [name: string]: string | number | boolean | null }): void
  /** Monotonic milliseconds. */
  now(): number
}

/** Everything a connection is made from: a snapshot taken when it starts. */
export type ConnectInput = {
  sessionId: string
  generation: number
  /** An existing directory. */
  cwd: string
  resumeToken: string | null
  provider: RuntimeProvider
  modelId: string
  prompt: RuntimePrompt
  permissionMode: PermissionMode
  disabledTools: readonly string[]
  /** Directories of the host for this driver's own files: shared configuration home, and scratch space. */
  dirs: { home: string; tmp: string }
  /** The whole environment a child may see, before what the driver itself must add (PATH, LANG, marker; no secret of the host). */
  env: { [name: string]: string }
  ports: DriverPorts
  emit(event: DriverEvent): void
}

/** One turn's input. `kind` compaction has no parts. `headless`: nobody can answer; approvals are denied by the host at once. */
export type SendInput = {
  turnId: TurnId
  inputId: MessageId | null
  kind: 'user' | 'delivery' | 'compaction'
  parts: readonly MessagePart[]
  /** It was meant for an earlier turn as a steer: wrap it as one (spec, Live follow-up). */
  steer: boolean
  headless: boolean
  /** Host-made history to put before the input when the agent's own is gone (decision 9); null = none. */
  seed: string | null
}

/** Policy a connection should run under; compared with what it has. */
export type DesiredPolicy = { modelId: string; permissionMode: PermissionMode; disabledTools: readonly string[] }
export type ReconcileAnswer = 'current' | 'patched' | 'rebuild' | 'invalid' | 'failed'

/** One live connection to an agent: a generation of a session. Made by `connect`, over with its `connection-closed`. */
export interface AgentRuntimeConnection {
  /** Gives the agent a turn; its end is told by an event. */
  send(input: SendInput): void
  /** Stashes a steer for the running turn; false = cannot, queue it. Present when `capabilities.steer` is not none. */
  redirect?(input: { turnId: TurnId; inputId: MessageId; parts: readonly MessagePart[] }): boolean
  /** The stashed steers are no longer wanted (edited, withdrawn or taken back); forget them without an event. */
  withdrawRedirect?(inputIds: readonly MessageId[]): void
  /** Answers a `steer-offering`: exactly these may be injected now; the others were withdrawn. */
  answerOffering?(offeringId: string, inputIds: readonly MessageId[]): void
  /** Serialized per connection; live tightening lands even when the answer is rebuild. Never rejects. */
  reconcile(want: DesiredPolicy): Promise<ReconcileAnswer>
  /** Native stop of that turn; the turn then ends by `turn-complete` stopped. No-op when it is over. */
  interrupt(turnId: TurnId): void
  /** Answers a `tool-approval-request`; for one that is over it does nothing. */
  answerApproval(approvalId: string, decision: ApprovalDecision): void
  /** Idempotent; resolves when the native side is gone, and `connection-closed` was emitted. */
  close(reason: string): Promise<void>
}

/** One kind of agent runtime, registered by its type (spec, Ownership). */
export interface AgentSessionRuntimeDriver {
  readonly type: AgentType
  readonly name: string
  readonly capabilities: DriverCapabilities
  /** Whether its packages are present; never throws, caches what cannot change. */
  probe(): Promise<{ installed: boolean; version: string | null; advice: string | null }>
  connect(input: ConnectInput): AgentRuntimeConnection
  /** Removes what the driver itself keeps of a session that was deleted (its transcript, its scratch space). Called when its connection is gone. */
  forget?(input: Pick<ConnectInput, 'sessionId' | 'dirs'>): Promise<void>
}

/** What a driver brings to the conformance suite. */
import type { AgentSessionRuntimeDriver, ConnectInput, DriverEvent } from '../../contract.ts'

/** A driver to be judged. What it claims in `capabilities` is what is tested. */
export type DriverTarget = {
  name: string
  driver: AgentSessionRuntimeDriver
  /** Surroundings of one test: a fresh workspace, and prompts that fit it. */
  open(): Promise<OpenedTarget>
  /** Longest wait for one event; an agent that needs longer is stuck. Default 20 s. */
  deadlineMs?: number
  /** Tests this driver cannot pass, by name, with the reason: they are shown as skipped. */
  skip?: { [test: string]: string }
}

export type OpenedTarget = {
  /** Everything a connection is made from but what the suite gives. The suite listens to `ports.log`. */
  input: Omit<ConnectInput, 'emit' | 'sessionId' | 'generation' | 'resumeToken'>
  prompts: DriverPrompts
  /** Releases the surroundings; children that are still alive are the test's failure, not its job. */
  dispose(): Promise<void>
}

/** A prompt under which the agent is busy until `release` is called. */
export type HeldPrompt = { text: string; release(): void }

/**
 * Texts that make this agent do what a test needs. The required ones every agent can do; one that a
 * claimed capability needs and that is missing fails the test.
 */
export type DriverPrompts = {
  /** Answered by some text. */
  text: string
  /** Runs one tool without asking, then says something. */
  tool: string
  /** Runs one tool, without asking, until released, then says something. */
  longTool(): HeldPrompt
  /** Says something, without any tool, that ends only when released. */
  longText?(): HeldPrompt
  /** A message to inject into a running turn; the agent answers it. */
  steer: string
  /** Asks for a yes before its only tool, then says something. */
  approval?: string
  /** Asks a person a question, or for the approval of a plan, then says something. */
  question?: string
  plan?: string
  /** Thinks aloud. */
  reasoning?: string
  /** After this turn the agent runs one of its own accord. */
  autonomous?: string
  /** Makes the agent compact by itself. */
  autoCompaction?: string
  /** `tell` is remembered; the answer to `ask` in a resumed conversation matches `expect`. */
  recall?: { tell: string; ask: string; expect: RegExp }
  /** The turn ends by an error with this code. */
  fail?: { text: string; code: Extract<DriverEvent, { type: 'error' }>['code'] }
  /** The agent's process ends in the middle of the turn. */
  die?: string
  /** Streams text that is not well-formed Unicode, or holds NUL. */
  illFormed?: string
  /** Changes of the input with which the agent cannot start. */
  broken?: Partial<OpenedTarget['input']>
}

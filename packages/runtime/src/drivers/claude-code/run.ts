/** One CLI process with its query: opening it, its hooks, its end. A connection has one at a time. */
import { wellFormed } from '@wheelhouse/client/protocol'
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import type { CanUseTool, HookCallback, HookJSONOutput, Options, Query } from '@anthropic-ai/claude-agent-sdk'
import type { ConnectInput } from '../../driver/contract.ts'
import { InputQueue } from './input-queue.ts'
import { environmentOf, sessionDirs, staticOptions, type ClaudeCodeOptions } from './options.ts'
import type { Sdk } from './sdk.ts'

/** Characters kept of what the CLI writes to stderr: its last words. */
const STDERR_CHARS = 4_000

/** What the CLI asks of its connection while it works. */
export type RunCallbacks = {
  canUseTool: CanUseTool
  /** Reason why this tool may not be called, or null. */
  refuses(toolName: string): string | null
  /** Words to put in before the next request, or null; `toolUseId` null = behind all tools of a round. */
  inject(toolUseId: string | null): Promise<string | null>
  toolTook(toolUseId: string, ms: number): void
}

export type Run = {
  query: Query
  queue: InputQueue
  /** Session ids that the CLI announced itself: only these are tokens. */
  sessions: Set<string>
  child(): ChildProcess | null
  lastWords(): string
}

/** Starts the CLI. Throws when it cannot be spawned at all. */
export function openRun(
  sdk: Sdk,
  input: ConnectInput,
  options: ClaudeCodeOptions,
  resumeToken: string | null,
  callbacks: RunCallbacks,
): Run {
  const queue = new InputQueue()
  let child: ChildProcess | null = null
  let words = ''
  const query = sdk.query({
    prompt: queue,
    options: {
      ...staticOptions(input, environmentOf(input, sessionDirs(input), options), resumeToken),
      canUseTool: callbacks.canUseTool,
      hooks: hooksOf(callbacks),
      stderr: (text) => {
        words = (words + text).slice(-STDERR_CHARS)
      },
      spawnClaudeCodeProcess: (wanted) => {
        const started = spawnPiped(input, wanted)
        child = started
        wanted.signal.addEventListener('abort', () => started.kill('SIGTERM'), { once: true })
        return started
      },
    },
  })
  return { query, queue, sessions: new Set(), child: () => child, lastWords: () => wellFormed(words.trim()) }
}

type Wanted = Parameters<NonNullable<Options['spawnClaudeCodeProcess']>>[0]

function spawnPiped(input: ConnectInput, wanted: Wanted): ChildProcessWithoutNullStreams {
  const env = Object.fromEntries(
    Object.entries(wanted.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
  const child = input.ports.spawn(wanted.command, wanted.args, { cwd: wanted.cwd ?? input.cwd, env })
  if (hasPipes(child)) return child
  throw new Error('The process was started without pipes.')
}

const hasPipes = (child: ChildProcess): child is ChildProcessWithoutNullStreams =>
  child.stdin !== null && child.stdout !== null && child.stderr !== null

const hook = (callback: HookCallback): { hooks: HookCallback[] }[] => [{ hooks: [callback] }]

function hooksOf(callbacks: RunCallbacks): NonNullable<Options['hooks']> {
  return {
    PreToolUse: hook((input) => beforeTool(callbacks, input)),
    PostToolBatch: hook((input) => behindBatch(callbacks, input)),
    PostToolUse: hook((input) => afterTool(callbacks, input)),
    PostToolUseFailure: hook((input) => afterTool(callbacks, input)),
  }
}

type HookInput = Parameters<HookCallback>[0]

async function beforeTool(callbacks: RunCallbacks, input: HookInput): Promise<HookJSONOutput> {
  if (input.hook_event_name !== 'PreToolUse') return {}
  const refusal = callbacks.refuses(input.tool_name)
  const words = input.agent_id === undefined ? await callbacks.inject(input.tool_use_id) : null
  if (refusal === null && words === null) return {}
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      ...(refusal === null ? {} : { permissionDecision: 'deny', permissionDecisionReason: refusal }),
      ...(words === null ? {} : { additionalContext: words }),
    },
  }
}

async function behindBatch(callbacks: RunCallbacks, input: HookInput): Promise<HookJSONOutput> {
  if (input.hook_event_name !== 'PostToolBatch' || input.agent_id !== undefined) return {}
  const words = await callbacks.inject(null)
  return words === null ? {} : { hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: words } }
}

/** The time excludes the wait for a permission; a sub-agent's tools are not in the main transcript. */
function afterTool(callbacks: RunCallbacks, input: HookInput): Promise<HookJSONOutput> {
  const isTool = input.hook_event_name === 'PostToolUse' || input.hook_event_name === 'PostToolUseFailure'
  if (isTool && input.agent_id === undefined && input.duration_ms !== undefined) callbacks.toolTook(input.tool_use_id, input.duration_ms)
  return Promise.resolve({})
}

/** Resolves when the process is gone. */
export function exitOf(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

/**
 * What the CLI is started with. Isolation is decided here: nothing of the person's own Claude Code
 * set-up and nothing executable of the workspace is read, and the child's environment is a list.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import type { ConnectInput, RuntimePrompt } from '../../driver/contract.ts'

export type ClaudeCodeOptions = {
  /** How often the CLI repeats a refused request before the turn fails; it repeats even a 401. */
  maxRetries: number
}

/** Five requests take about 10 s: a short overload passes, a long one is told. */
export const DEFAULT_MAX_RETRIES = 4

/** A third-party tool server that does not come up must not hold the first turn longer than this, in milliseconds. */
const MCP_TIMEOUT_MS = 2_000
const MCP_STARTUP_WAIT_MS = 500

/**
 * Tools that would promise what a host that closes idle agents cannot keep (timers), or leave the
 * session's workspace.
 */
const WITHHELD_TOOLS = ['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup', 'EnterWorktree', 'ExitWorktree'] as const

/** Folders of one session: its own configuration and scratch space, so that no two share state by their folder's name. */
export type SessionDirs = { config: string; home: string; tmp: string; toolEnv: string }

export function sessionDirs(input: Pick<ConnectInput, 'sessionId' | 'dirs'>): SessionDirs {
  const key = createHash('sha256').update(input.sessionId).digest('hex')
  return {
    config: join(input.dirs.home, 'sessions', key.slice(0, 32)),
    home: join(input.dirs.home, 'home'),
    // Short: the CLI puts a socket below it, whose path may be 100 bytes long at most.
    tmp: join(input.dirs.tmp, key.slice(0, 8)),
    toolEnv: join(input.dirs.home, 'tool-env.sh'),
  }
}

/**
 * Stands for the key of a provider that needs none, as a server on this machine may: without any key the CLI asks for
 * a login of its own and sends nothing.
 */
const NO_KEY = 'no-key'

/** Shell lines the CLI runs before each command of the agent: the key is for the CLI, not for what it runs. */
const TOOL_ENV = 'unset ANTHROPIC_API_KEY\n'

/** Makes the folders, for this user only. Throws what the file system says. */
export function prepareDirs(dirs: SessionDirs): void {
  for (const path of [dirs.config, dirs.home, dirs.tmp]) mkdirSync(path, { recursive: true, mode: 0o700 })
  writeFileSync(dirs.toolEnv, TOOL_ENV, { mode: 0o600 })
}

/** The child's whole environment: what the host allows, and exactly what the CLI needs. */
export function environmentOf(input: ConnectInput, dirs: SessionDirs, options: ClaudeCodeOptions): { [name: string]: string } {
  return {
    ...input.env,
    HOME: dirs.home,
    TMPDIR: dirs.tmp,
    CLAUDE_CONFIG_DIR: dirs.config,
    CLAUDE_ENV_FILE: dirs.toolEnv,
    ANTHROPIC_BASE_URL: input.provider.baseUrl,
    ANTHROPIC_API_KEY: input.provider.apiKey ?? NO_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DO_NOT_TRACK: '1',
    CLAUDE_CODE_MAX_RETRIES: String(options.maxRetries),
    CLAUDE_CODE_MCP_STARTUP_WAIT_MS: String(MCP_STARTUP_WAIT_MS),
    MCP_TIMEOUT: String(MCP_TIMEOUT_MS),
    CLAUDE_AGENT_SDK_CLIENT_APP: 'wheelhouse',
  }
}

/** Names that `environmentOf` adds to the host's list; the SDK adds four of its own. */
export const DRIVER_VARIABLES = [
  'HOME',
  'TMPDIR',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_ENV_FILE',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_API_KEY',
  'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
  'DISABLE_AUTOUPDATER',
  'DISABLE_TELEMETRY',
  'DISABLE_ERROR_REPORTING',
  'DO_NOT_TRACK',
  'CLAUDE_CODE_MAX_RETRIES',
  'CLAUDE_CODE_MCP_STARTUP_WAIT_MS',
  'MCP_TIMEOUT',
  'CLAUDE_AGENT_SDK_CLIENT_APP',
] as const

/** Options that do not depend on the connection's own callbacks. */
export function staticOptions(input: ConnectInput, env: { [name: string]: string }, resumeToken: string | null): Options {
  return {
    cwd: input.cwd,
    model: input.modelId,
    permissionMode: input.permissionMode,
    ...(input.permissionMode === 'bypassPermissions' ? { allowDangerouslySkipPermissions: true } : {}),
    systemPrompt: systemPrompt(input.prompt),
    settingSources: [],
    strictMcpConfig: true,
    disallowedTools: [...WITHHELD_TOOLS, ...input.disabledTools],
    includePartialMessages: true,
    forwardSubagentText: true,
    env,
    ...(resumeToken === null ? {} : { resume: resumeToken }),
  }
}

/** Not recorded with the conversation: a changed prompt must count on resume. */
function systemPrompt(prompt: RuntimePrompt): NonNullable<Options['systemPrompt']> {
  if (prompt.base !== null)
    return { type: 'custom', prompt: [prompt.base, prompt.append].filter((block) => block !== '').join('\n\n'), snapshot: false }
  return { type: 'preset', preset: 'claude_code', ...(prompt.append === '' ? {} : { append: prompt.append }), snapshot: false }
}

/** The Claude Code driver: the real CLI behind the driver contract, through its SDK (loaded when first used). */
import { rm } from 'node:fs/promises'
import type { DriverCapabilities } from '@wheelhouse/client/protocol'
import type { AgentSessionRuntimeDriver } from '../../driver/contract.ts'
import { ClaudeCodeConnection } from './connection.ts'
import { DEFAULT_MAX_RETRIES, sessionDirs, type ClaudeCodeOptions } from './options.ts'
import { PERMISSION_MODES } from './policy.ts'
import { loadSdk, probeSdk, type Probe } from './sdk.ts'

const CAPABILITIES: DriverCapabilities = {
  steer: 'at-tool',
  interrupt: true,
  resume: true,
  approvals: ['tool', 'question', 'plan'],
  permissionModes: PERMISSION_MODES,
  autonomousTurns: true,
  compaction: { manual: true, automatic: true },
  contextUsage: true,
  reasoning: true,
}

/** Settings of all its connections; see `ClaudeCodeOptions`. */
export function claudeCodeDriver(options: Partial<ClaudeCodeOptions> = {}): AgentSessionRuntimeDriver {
  let probe: Promise<Probe> | null = null
  const settings: ClaudeCodeOptions = { maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES }
  return {
    type: 'claude-code',
    name: 'Claude Code',
    capabilities: CAPABILITIES,
    probe: () => (probe ??= Promise.resolve(probeSdk())),
    connect: (input) => new ClaudeCodeConnection(input, settings, loadSdk),
    async forget(input) {
      const { config, tmp } = sessionDirs(input)
      await Promise.all([config, tmp].map((path) => rm(path, { recursive: true, force: true })))
    },
  }
}

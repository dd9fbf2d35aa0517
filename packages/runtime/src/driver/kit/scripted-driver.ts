/**
 * A real driver whose agent does what its input says (see script.ts). Tests, benchmarks and people who
 * write a host against the contract run it; it needs no model, no key and no network.
 */
import type { DriverCapabilities } from '@wheelhouse/client/protocol'
import type { AgentSessionRuntimeDriver } from '../contract.ts'
import { memoryHistories } from './history.ts'
import { ScriptedConnection } from './scripted-connection.ts'
import { inProcess, overStdio } from './transport.ts'

export type ScriptedDriverOptions = {
  /** In this process, or as a child over three pipes, started through the host's spawn port. */
  transport: 'in-process' | 'stdio'
  /** Takes some of its abilities away, so that a host meets a driver without them. */
  without?: Partial<Pick<DriverCapabilities, 'steer' | 'interrupt' | 'resume' | 'contextUsage' | 'reasoning'>>
  /** Program that runs the child; this process's own Node unless given. */
  node?: string
}

export type ScriptedDriver = AgentSessionRuntimeDriver & {
  /** Lets go what waits for `key`, now and later, in every connection of this driver. */
  release(key: string): void
}

const CAPABILITIES: DriverCapabilities = {
  steer: 'at-tool',
  interrupt: true,
  resume: true,
  approvals: ['tool', 'question', 'plan'],
  permissionModes: ['default', 'bypassPermissions'],
  autonomousTurns: true,
  compaction: { manual: true, automatic: true },
  contextUsage: true,
  reasoning: true,
}

/** A driver of type `scripted`. A child can also be let go by a file `<dirs.home>/scripted/released/<key>`. */
export function createScriptedDriver(options: ScriptedDriverOptions): ScriptedDriver {
  const capabilities = { ...CAPABILITIES, ...options.without }
  const transport = options.transport === 'stdio' ? overStdio(options.node ?? process.execPath) : inProcess(memoryHistories())
  const connections = new Set<ScriptedConnection>()
  const released = new Set<string>()
  return {
    type: 'scripted',
    name: 'Scripted agent',
    capabilities,
    probe: () => Promise.resolve({ installed: true, version: null, advice: null }),
    connect: (input) => {
      const connection = new ScriptedConnection(input, capabilities, transport, () => void connections.delete(connection))
      connections.add(connection)
      for (const key of released) connection.release(key)
      return connection
    },
    release: (key) => {
      released.add(key)
      for (const connection of connections) connection.release(key)
    },
  }
}

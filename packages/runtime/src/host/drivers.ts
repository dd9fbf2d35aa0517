/** The drivers this host was composed with, and what a session's connection is made from. */
import type { DriverInfo } from '@wheelhouse/client/protocol'
import type { AgentSessionRuntimeDriver } from '../driver/contract.ts'
import { buildAgentRuntimePrompt } from '../prompt/agent-prompt.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { ConnectFacts } from './connections.ts'
import type { DataDir } from './data-dir.ts'
import type { KeyStore } from './key-store.ts'
import type { Logger } from './log.ts'
import type { ClaudeCodeProcessManager } from './process-manager.ts'

/** Variables of the host's own environment that a child may see; its secrets are not among them (BUG-56). */
const CHILD_VARIABLES = [
  'PATH',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TERM',
  'SHELL',
  'IS_SANDBOX',
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
] as const

export type DriverRegistryPorts = {
  drivers: readonly AgentSessionRuntimeDriver[]
  store: Store
  keys: KeyStore
  dataDir: DataDir
  processes: ClaudeCodeProcessManager
  clock: Clock
  newId(): string
  log: Logger
}

export class DriverRegistry {
  readonly #ports: DriverRegistryPorts
  readonly #drivers: ReadonlyMap<string, AgentSessionRuntimeDriver>
  #infos: DriverInfo[]

  constructor(ports: DriverRegistryPorts) {
    this.#ports = ports
    this.#drivers = new Map(ports.drivers.map((driver) => [driver.type, driver]))
    this.#infos = ports.drivers.map((driver) => infoOf(driver, { installed: false, version: null, advice: null }))
  }

  /** Asks every driver whether its packages are here. */
  async probe(): Promise<void> {
    this.#infos = await Promise.all([...this.#drivers.values()].map(async (driver) => infoOf(driver, await driver.probe())))
  }

  get(type: string): AgentSessionRuntimeDriver | undefined {
    return this.#drivers.get(type)
  }

  info(type: string): DriverInfo | undefined {
    return this.#infos.find((info) => info.type === type)
  }

  list(): DriverInfo[] {
    return this.#infos
  }

  /** Which driver it had is gone with its row, so all are asked. Never rejects. */
  async forget(sessionId: string): Promise<void> {
    const { dataDir, log } = this.#ports
    for (const driver of this.#drivers.values()) {
      try {
        await driver.forget?.({ sessionId, dirs: { home: dataDir.runtimeHome(driver.type), tmp: dataDir.tmp } })
      } catch (error) {
        log.warn({ sessionId, driver: driver.type, error: String(error) }, 'files of a deleted session could not be removed')
      }
    }
  }

  /** Everything a connection of this session is made from, read now. */
  facts(sessionId: string): ConnectFacts {
    const { store, keys, dataDir, processes, clock, newId, log } = this.#ports
    const session = store.readSessionHead(sessionId)
    const agent = session?.agentId == null ? null : store.readAgent(session.agentId)
    const provider = agent?.providerId == null ? null : store.readProvider(agent.providerId)
    if (session === null || agent === null || provider === null || agent.modelId === null)
      return { ok: false, code: 'CONNECT_FAILED', message: 'The session has no agent with a model.' }
    const driver = this.#drivers.get(agent.type)
    if (driver === undefined) return { ok: false, code: 'DRIVER_NOT_INSTALLED', message: `There is no driver for ${agent.type}.` }
    const { modelId } = agent
    return {
      ok: true,
      driver,
      input: {
        cwd: session.workspacePath,
        provider: { protocol: provider.protocol, baseUrl: provider.baseUrl, apiKey: keys.get(provider.id) },
        modelId,
        prompt: buildAgentRuntimePrompt({ instructions: agent.instructions }),
        permissionMode: agent.permissionMode,
        disabledTools: agent.disabledTools,
        dirs: { home: dataDir.runtimeHome(agent.type), tmp: dataDir.tmp },
        env: childEnvironment(process.env),
        ports: {
          spawn: (command, args, options) => processes.spawn(sessionId, command, args, options),
          killTree: async (child, scope) => void (await processes.killTree(child.pid ?? 0, scope)),
          after: (ms, fire) => clock.after(ms, fire),
          newId,
          log: (level, message, fields) => log[level]({ ...fields, sessionId, driver: agent.type }, message),
          now: () => clock.monotonic(),
        },
      },
    }
  }
}

export function childEnvironment(own: NodeJS.ProcessEnv): { [name: string]: string } {
  return Object.fromEntries(CHILD_VARIABLES.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])))
}

function infoOf(driver: AgentSessionRuntimeDriver, probe: Awaited<ReturnType<AgentSessionRuntimeDriver['probe']>>): DriverInfo {
  return { type: driver.type, name: driver.name, ...probe, capabilities: driver.capabilities }
}

/**
 * `AgentLifecycleService`: sessions, agents and providers come, change and go here. What a session's
 * rows say is changed through its mailbox; agents and providers have a rev of their own.
 */
import { isAbsolute, join } from 'node:path'
import {
  nameFrom,
  wellFormed,
  LIMITS,
  type Agent,
  type AgentInput,
  type Page,
  type Provider,
  type ProviderInput,
  type Session,
  type SessionInput,
} from '@wheelhouse/client/protocol'
import type { SessionId } from '../core/types.ts'
import { StoreError } from '../store/errors.ts'
import type { GuardedResult, InsertResult, NewAgent, ProviderRecord, Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { DataDir } from './data-dir.ts'
import type { DriverRegistry } from './drivers.ts'
import { HostError, type Keyed } from './host-api.ts'
import type { KeyStore } from './key-store.ts'
import type { AgentSessionRuntimeService } from './runtime-service.ts'
import { cut } from './text.ts'
import { toEntry } from './views.ts'
import type { Workspaces } from './workspace.ts'

export type LifecyclePorts = {
  store: Store
  runtime: AgentSessionRuntimeService
  keys: KeyStore
  dataDir: Pick<DataDir, 'workspaces'>
  drivers: DriverRegistry
  workspaces: Workspaces
  clock: Clock
  newId(): string
  /** A session was made: those who watch the list are told. */
  created(session: Session): void
  /** The list entries of these sessions say something else. */
  relisted(sessions: readonly SessionId[]): void
}

export type SessionChangeInput = {
  name?: string | undefined
  description?: string | undefined
  agentId?: string | undefined
  workspace?: { kind: 'user'; path: string } | undefined
}
export type ProviderChangeInput = { [K in Exclude<keyof ProviderInput, 'apiKey'>]?: ProviderInput[K] | undefined } & {
  apiKey?: string | null | undefined
}
export type AgentChangeInput = { [K in keyof AgentInput]?: AgentInput[K] | undefined }

export class AgentLifecycleService {
  readonly #ports: LifecyclePorts

  constructor(ports: LifecyclePorts) {
    this.#ports = ports
  }

  // ---- sessions

  async createSession(input: SessionInput, key: Keyed): Promise<Session> {
    const { store, dataDir, workspaces, clock, newId } = this.#ports
    if (store.readAgent(input.agentId) === null) throw new HostError('AGENT_NOT_FOUND', input.agentId)
    const id = newId()
    const workspace = input.workspace ?? { kind: 'system' as const }
    const path = workspace.kind === 'user' ? workspace.path : join(dataDir.workspaces, id)
    if (!isAbsolute(path)) throw new HostError('INVALID_REQUEST', FULL_PATH)
    // A folder of the host is made with its first message: a repeated request must not leave empty ones.
    const problem = workspace.kind === 'user' ? await workspaces.probe('user', path) : null
    if (problem !== null) throw new HostError(problem.code, problem.detail)
    // It may have been deleted while the folder was looked at.
    if (store.readAgent(input.agentId) === null) throw new HostError('AGENT_NOT_FOUND', input.agentId)
    const name = clean(input.name ?? '')
    const result = store.insertSession({
      id,
      agentId: input.agentId,
      name,
      description: wellFormed(input.description ?? ''),
      workspaceKind: workspace.kind,
      workspacePath: path,
      at: clock.iso(),
      ...key,
    })
    const session = toEntry(unwrapInsert(result, key))
    if (result.outcome === 'done') this.#ports.created(session)
    return session
  }

  listSessions(page: { limit: number; cursor: string | null; agentId: string | null }): Page<Session> {
    if (page.cursor !== null && !ID.test(page.cursor)) throw new HostError('INVALID_CURSOR', page.cursor.slice(0, 100))
    const items = this.#ports.store.listSessions({ limit: page.limit, before: page.cursor, agentId: page.agentId }).map(toEntry)
    return { items, nextCursor: items.length < page.limit ? null : (items.at(-1)?.id ?? null) }
  }

  async updateSession(id: SessionId, rev: number, input: SessionChangeInput): Promise<Session> {
    const { store, runtime, workspaces } = this.#ports
    if (input.agentId !== undefined && store.readAgent(input.agentId) === null) throw new HostError('AGENT_NOT_FOUND', input.agentId)
    if (input.workspace !== undefined && !isAbsolute(input.workspace.path)) throw new HostError('INVALID_REQUEST', FULL_PATH)
    const problem = input.workspace === undefined ? null : await workspaces.probe('user', input.workspace.path)
    if (problem !== null) throw new HostError(problem.code, problem.detail)
    // It may have been deleted while the folder was looked at.
    if (input.agentId !== undefined && store.readAgent(input.agentId) === null) throw new HostError('AGENT_NOT_FOUND', input.agentId)
    const change = {
      name: input.name === undefined ? null : clean(input.name),
      description: input.description === undefined ? null : wellFormed(input.description),
      agentId: input.agentId ?? null,
      workspacePath: input.workspace?.path ?? null,
    }
    const answer = await runtime.command(id, (commandId) => ({ type: 'session-updated', commandId, expectedRev: rev, change }))
    if (!answer.ok) throw new HostError(answer.code, answer.detail)
    const record = store.readSession(id)
    if (record === null) throw new HostError('SESSION_NOT_FOUND', id)
    return toEntry(record)
  }

  /**
   * Calls a session that nobody named by the first words of its first message (decision 0007). A name that a person gives
   * meanwhile stands, and one that cannot be saved is let go: the message is what matters.
   */
  async nameSession(id: SessionId, text: string): Promise<void> {
    const { store, runtime } = this.#ports
    const change = { name: clean(nameFrom(text)), description: null, agentId: null, workspacePath: null }
    try {
      for (let tries = 1; tries <= NAMING_TRIES; tries += 1) {
        const record = store.readSession(id)
        if (record === null || record.name !== '') return
        const { rev: expectedRev } = record
        const answer = await runtime.command(id, (commandId) => ({ type: 'session-updated', commandId, expectedRev, change }))
        if (answer.ok || answer.code !== 'STALE_REV') return
      }
    } catch (error) {
      // A session that cannot be read now stays unnamed.
      if (!(error instanceof StoreError)) throw error
    }
  }

  async deleteSession(id: SessionId, rev: number): Promise<void> {
    const answer = await this.#ports.runtime.command(id, (commandId) => ({ type: 'session-deleted', commandId, expectedRev: rev }))
    if (!answer.ok) throw new HostError(answer.code, answer.detail)
  }

  // ---- agents

  createAgent(input: AgentInput, key: Keyed): Agent {
    const { store, clock, newId } = this.#ports
    this.#checkAgent(input)
    const agent: NewAgent = {
      id: newId(),
      name: clean(input.name),
      type: input.type,
      providerId: input.providerId ?? null,
      modelId: input.modelId ?? null,
      instructions: wellFormed(input.instructions ?? ''),
      permissionMode: input.permissionMode ?? 'default',
      disabledTools: input.disabledTools ?? [],
      mcpServerIds: input.mcpServerIds ?? [],
      skillIds: input.skillIds ?? [],
      channels: input.channels ?? [],
      language: input.language ?? null,
      at: clock.iso(),
      ...key,
    }
    return unwrapInsert(store.insertAgent(agent), key)
  }

  updateAgent(id: string, rev: number, input: AgentChangeInput): Agent {
    const { store, clock, runtime } = this.#ports
    const known = store.readAgent(id)
    if (known === null) throw new HostError('AGENT_NOT_FOUND', id)
    const change = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<
      Omit<Agent, 'id' | 'rev' | 'createdAt' | 'updatedAt'>
    >
    if (change.name !== undefined) change.name = clean(change.name)
    if (change.instructions !== undefined) change.instructions = wellFormed(change.instructions)
    this.#checkAgent({ ...known, ...change })
    const agent = unwrapGuarded(store.updateAgent(id, rev, change, clock.iso()), 'AGENT_NOT_FOUND', id)
    this.#changed(store.sessionsOfAgent(id), runtime)
    return agent
  }

  deleteAgent(id: string, rev: number): void {
    const { store, runtime, relisted } = this.#ports
    const sessions = store.sessionsOfAgent(id)
    unwrapGuarded(store.deleteAgent(id, rev), 'AGENT_NOT_FOUND', id)
    this.#changed(sessions, runtime)
    relisted(sessions)
  }

  #checkAgent(input: AgentInput): void {
    const { store, drivers } = this.#ports
    if (input.providerId != null && store.readProvider(input.providerId) === null)
      throw new HostError('PROVIDER_NOT_FOUND', input.providerId)
    const driver = drivers.get(input.type)
    if (driver === undefined) throw new HostError('DRIVER_NOT_REGISTERED', input.type)
    if (input.permissionMode !== undefined && !driver.capabilities.permissionModes.includes(input.permissionMode))
      throw new HostError('NOT_SUPPORTED', `${driver.name} has no permission mode ${input.permissionMode}`)
  }

  /** Sessions in memory take it over with their next turn; the others read it when they start. */
  #changed(sessions: readonly SessionId[], runtime: AgentSessionRuntimeService): void {
    const loaded = new Set(runtime.loaded().map((session) => session.id))
    for (const id of sessions) if (loaded.has(id)) runtime.post(id, { type: 'agent-changed' })
  }

  // ---- providers

  createProvider(input: ProviderInput, key: Keyed): Provider {
    const { store, keys, clock, newId } = this.#ports
    const id = newId()
    const { name, protocol, baseUrl, models } = input
    const address = checkUrl(baseUrl)
    // The key first: a provider must not stand without the key it was given. One without its provider is nobody's.
    if (input.apiKey !== undefined) keys.set(id, input.apiKey)
    const result = store.insertProvider({
      id,
      name: clean(name),
      protocol,
      baseUrl: address,
      models: models.map(modelOf),
      at: clock.iso(),
      ...key,
    })
    if (result.outcome === 'existing' && input.apiKey !== undefined) keys.set(id, null)
    return this.#withKey(unwrapInsert(result, key))
  }

  readProvider(id: string): Provider {
    const provider = this.#ports.store.readProvider(id)
    if (provider === null) throw new HostError('PROVIDER_NOT_FOUND', id)
    return this.#withKey(provider)
  }

  listProviders(): Provider[] {
    return this.#ports.store.listProviders().map((provider) => this.#withKey(provider))
  }

  updateProvider(id: string, rev: number, input: ProviderChangeInput): Provider {
    const { store, keys, clock, runtime } = this.#ports
    const { apiKey, name, protocol, baseUrl, models } = input
    const change = {
      ...(name === undefined ? {} : { name: clean(name) }),
      ...(protocol === undefined ? {} : { protocol }),
      ...(baseUrl === undefined ? {} : { baseUrl: checkUrl(baseUrl) }),
      ...(models === undefined ? {} : { models: models.map(modelOf) }),
    }
    const provider = unwrapGuarded(store.updateProvider(id, rev, change, clock.iso()), 'PROVIDER_NOT_FOUND', id)
    if (apiKey !== undefined) keys.set(id, apiKey)
    for (const agent of store.listAgents()) if (agent.providerId === id) this.#changed(store.sessionsOfAgent(agent.id), runtime)
    return this.#withKey(provider)
  }

  deleteProvider(id: string, rev: number): void {
    const { store, keys } = this.#ports
    unwrapGuarded(store.deleteProvider(id, rev), 'PROVIDER_NOT_FOUND', id)
    keys.set(id, null)
  }

  #withKey(provider: ProviderRecord): Provider {
    return { ...provider, hasApiKey: this.#ports.keys.has(provider.id) }
  }
}

const FULL_PATH = 'The folder (workspace.path) needs its full path, from the root on.'

/** The turn that the message began may save something just then, a few times a second at most. */
const NAMING_TRIES = 5

/** An id of ours; a list's cursor is the last one seen. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const clean = (name: string): string => cut(wellFormed(name).trim(), LIMITS.nameLength)

function modelOf(model: ProviderInput['models'][number]): Provider['models'][number] {
  const { pricing } = model
  return {
    id: model.id,
    name: model.name ?? null,
    contextWindow: model.contextWindow ?? null,
    pricing:
      pricing === undefined
        ? null
        : { input: pricing.input, output: pricing.output, cacheRead: pricing.cacheRead ?? null, cacheWrite: pricing.cacheWrite ?? null },
  }
}

/** An address with a user or password in it would carry a secret into rows and logs. */
function checkUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new HostError('INVALID_REQUEST', 'The address (baseUrl) must begin with http:// or https://.')
  if (url.username !== '' || url.password !== '')
    throw new HostError('INVALID_REQUEST', 'The address (baseUrl) must hold no user and no password; the key has a field of its own.')
  return text.replace(/\/+$/, '')
}

function unwrapInsert<T>(result: InsertResult<T>, key: Keyed): T {
  if (result.outcome === 'existing' && !result.sameBody) throw new HostError('IDEMPOTENCY_KEY_REUSED', key.idempotencyKey ?? '')
  return result.item
}

function unwrapGuarded<T>(result: GuardedResult<T>, missing: 'AGENT_NOT_FOUND' | 'PROVIDER_NOT_FOUND', id: string): T {
  if (result.outcome === 'done') return result.item
  if (result.outcome === 'stale') throw new HostError('STALE_REV', `it is at rev ${result.rev}`)
  if (result.outcome === 'in-use') throw new HostError('RESOURCE_IN_USE', result.by)
  throw new HostError(missing, id)
}

/**
 * `AgentChatContextProvider`: validates a message before anything is saved, then hands it to the
 * session's mailbox, whose step decides whether it starts a turn, steers or waits (spec, Fresh turn
 * and Live follow-up).
 */
import { wellFormed, LIMITS, type MessageInput, type MessagePart } from '@wheelhouse/client/protocol'
import type { Answer } from '../core/effect.ts'
import type { SessionId } from '../core/types.ts'
import { StoreError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import type { DeliveryCheck } from './delivery-service.ts'
import type { DriverRegistry } from './drivers.ts'
import { HostError, type Caller, type Keyed } from './host-api.ts'
import type { AgentSessionRuntimeService } from './runtime-service.ts'
import type { Workspaces } from './workspace.ts'

export type ProviderPorts = {
  store: Store
  runtime: AgentSessionRuntimeService
  drivers: DriverRegistry
  workspaces: Workspaces
  newId(): string
  /** Free bytes on the disk of the data directory. */
  freeBytes(): number
}

/** What a turn of this session would run on. */
type Ready = { modelId: string; agentRev: number; steerable: boolean }

export class AgentChatContextProvider {
  readonly #ports: ProviderPorts

  constructor(ports: ProviderPorts) {
    this.#ports = ports
  }

  /**
   * Accepts a message: its row is durable when this resolves. Refuses with SESSION_NOT_FOUND,
   * SESSION_HAS_NO_AGENT, AGENT_HAS_NO_MODEL, DRIVER_NOT_REGISTERED, DRIVER_NOT_INSTALLED,
   * WORKSPACE_*, DISK_LOW, INVALID_REQUEST, IDEMPOTENCY_KEY_REUSED; the core adds QUEUE_FULL, HELD,
   * SESSION_QUARANTINED, STORE_FAILED. A refused message leaves nothing behind.
   */
  async dispatch(sessionId: SessionId, message: MessageInput, caller: Caller, key: Keyed): Promise<Answer> {
    const parts = partsOf(message)
    const before = this.#repeated(sessionId, key)
    if (before !== null) return before
    const ready = await this.#validate(sessionId)
    if (this.#ports.freeBytes() < LIMITS.diskLowBytes) throw new HostError('DISK_LOW')
    this.#checkQueue(sessionId, parts)
    const origin = message.origin ?? 'interactive'
    const answer = await this.#ports.runtime.command(sessionId, (commandId) => ({
      type: 'message-submitted',
      commandId,
      steerable: ready.steerable,
      input: {
        id: this.#ports.newId(),
        parts,
        when: message.when ?? 'steer',
        origin,
        headless: origin !== 'interactive',
        sentBy: caller.name,
        idempotencyKey: key.idempotencyKey,
        bodyHash: key.bodyHash,
        modelId: ready.modelId,
      },
    }))
    // Somebody else's request with the same key was saved while this one was validated.
    if (!answer.ok && answer.code === 'IDEMPOTENCY_KEY_REUSED') return this.#repeated(sessionId, key) ?? answer
    return answer
  }

  /** What waits already is counted only where something waits. */
  #checkQueue(sessionId: SessionId, parts: readonly MessagePart[]): void {
    const { runtime, store } = this.#ports
    if ((runtime.session(sessionId)?.queue.length ?? 0) === 0) return
    const waiting = store.listQueue(sessionId).reduce((sum, { parts: theirs }) => sum + bytesOf(theirs), 0)
    if (waiting + bytesOf(parts) > LIMITS.queueBytes)
      throw new HostError('QUEUE_FULL', `The waiting messages have ${waiting} bytes already.`)
  }

  /** Whether an accepted delivery may start now (spec, Acceptance). Never rejects. */
  validateDelivery(sessionId: SessionId, done: (check: DeliveryCheck) => void): void {
    this.#validate(sessionId).then(
      ({ agentRev, modelId }) => done({ verdict: 'start', agentRev, modelId }),
      (error: unknown) => done(checkOf(error)),
    )
  }

  /** A request that was saved before is answered by the row it made (decision 4). */
  #repeated(sessionId: SessionId, { idempotencyKey, bodyHash }: Keyed): Answer | null {
    const known = idempotencyKey === null ? null : this.#ports.store.findByKey(sessionId, idempotencyKey)
    if (known === null) return null
    if (known.bodyHash !== bodyHash) throw new HostError('IDEMPOTENCY_KEY_REUSED', idempotencyKey ?? '')
    const { id: messageId, turnId, inputState } = known.message
    const disposition = inputState === 'taken' ? 'turn' : inputState === 'steering' || inputState === 'offered' ? 'steering' : 'queued'
    return { ok: true, messageId, turnId, disposition }
  }

  async #validate(sessionId: SessionId): Promise<Ready> {
    const { store, drivers, workspaces } = this.#ports
    const session = store.readSessionHead(sessionId)
    if (session === null) throw new HostError('SESSION_NOT_FOUND', sessionId)
    const agent = session.agentId === null ? null : store.readAgent(session.agentId)
    if (agent === null) throw new HostError('SESSION_HAS_NO_AGENT', sessionId)
    const { modelId, providerId, rev: agentRev } = agent
    if (modelId === null || providerId === null || store.readProvider(providerId) === null)
      throw new HostError('AGENT_HAS_NO_MODEL', agent.name)
    const driver = drivers.info(agent.type)
    if (driver === undefined) throw new HostError('DRIVER_NOT_REGISTERED', agent.type)
    if (!driver.installed) throw new HostError('DRIVER_NOT_INSTALLED', driver.advice ?? agent.type)
    const problem = await workspaces.probe(session.workspaceKind, session.workspacePath)
    if (problem !== null) throw new HostError(problem.code, problem.detail)
    return { modelId, agentRev, steerable: driver.capabilities.steer !== 'none' }
  }
}

/** The parts of an input, well-formed and within bounds. Throws INVALID_REQUEST or BODY_TOO_LARGE. */
export function partsOf(message: Pick<MessageInput, 'text' | 'parts'>): MessagePart[] {
  if ((message.text === undefined) === (message.parts === undefined))
    throw new HostError('INVALID_REQUEST', 'Give exactly one of text and parts.')
  const parts: MessagePart[] = message.text === undefined ? (message.parts ?? []) : [{ type: 'text', text: message.text }]
  const bytes = bytesOf(parts)
  const texts = parts.map((part) => {
    if (part.type !== 'text') throw new HostError('INVALID_REQUEST', `Parts of type ${part.type} cannot be sent.`)
    return { type: 'text' as const, text: wellFormed(part.text) }
  })
  if (bytes > LIMITS.messageTextBytes)
    throw new HostError('BODY_TOO_LARGE', `The text has ${bytes} bytes; at most ${LIMITS.messageTextBytes} are taken.`)
  if (texts.every((part) => part.text.trim() === '')) throw new HostError('INVALID_REQUEST', 'The message is empty.')
  return texts
}

const bytesOf = (parts: readonly MessagePart[]): number =>
  parts.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0)

function checkOf(error: unknown): DeliveryCheck {
  // Rows that cannot be read now say nothing about the delivery.
  if (error instanceof StoreError) return { verdict: 'wait' }
  if (!(error instanceof HostError)) return { verdict: 'never', code: 'INTERNAL_ERROR' }
  if (error.code === 'WORKSPACE_UNAVAILABLE' || error.code === 'DRIVER_NOT_INSTALLED') return { verdict: 'wait' }
  return { verdict: 'never', code: error.code === 'SESSION_HAS_NO_AGENT' ? 'TARGET_SESSION_ORPHANED' : 'TARGET_UNAVAILABLE' }
}

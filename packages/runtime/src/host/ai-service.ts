/**
 * `AiService`: the single entry to a turn's stream. A topic of an agent session must name its turn;
 * without that metadata it is refused, so that nothing ever builds a one-process-per-turn path
 * beside the runtime (requirements 007, 008, 041).
 */
import type { Message } from '@wheelhouse/client/protocol'
import type { Effect } from '../core/effect.ts'
import type { MessageId, SessionId, TurnId } from '../core/types.ts'
import type { Connections } from './connections.ts'
import type { AgentSessionMessageService } from './message-service.ts'
import type { HostEvent } from '../core/event.ts'

export const AGENT_SESSION_TOPIC = 'agent-session:'

/** A request for a turn's stream: which turn, which row it fills, and the seed messages. */
export type StreamRequest = {
  topicId: string
  runtime?: { kind: 'agent-session'; sessionId: SessionId; turnId: TurnId }
  messageId: MessageId
  inputId: MessageId | null
  admission: Extract<Effect, { type: 'send' }>
}

/** Thrown for a request that names an agent session's topic and no turn of it: a bug of the caller. */
export class MissingRuntimeMetadata extends Error {
  override name = 'MissingRuntimeMetadata'
}

export type AiPorts = {
  connections: Connections
  messages: AgentSessionMessageService
  follow(sessionId: SessionId, event: HostEvent): void
}

export class AiService {
  readonly #ports: AiPorts

  constructor(ports: AiPorts) {
    this.#ports = ports
  }

  streamText(request: StreamRequest): void {
    const { topicId, runtime, admission } = request
    if (runtime === undefined || !topicId.startsWith(AGENT_SESSION_TOPIC) || topicId !== AGENT_SESSION_TOPIC + runtime.sessionId)
      throw new MissingRuntimeMetadata(`${topicId} is streamed only with the metadata of its turn`)
    const { generation, turnId } = admission
    let seed
    try {
      seed = this.#seed(request)
    } catch (error) {
      // A turn that is committed as sent must end, also when its message cannot be read now.
      const message = error instanceof Error ? error.message : String(error)
      return this.#ports.follow(runtime.sessionId, { type: 'send-failed', generation, turnId, message })
    }
    this.openTurnStream(runtime.sessionId, admission, seed)
  }

  /** Admits the turn by `connection.send`; the connection exists, since the core sends only to a live one. */
  openTurnStream(sessionId: SessionId, admission: StreamRequest['admission'], seed: readonly Message[]): void {
    const { connections, follow } = this.#ports
    const { generation, turnId, inputId, kind, steer, headless } = admission
    const input = seed.find((message) => message.role === 'user')
    const ok = connections.with(sessionId, generation, (connection) =>
      connection.send({
        turnId,
        inputId,
        kind: kind === 'autonomous' ? 'user' : kind,
        parts: input?.parts ?? [],
        steer,
        headless,
        seed: null,
      }),
    )
    if (!ok) follow(sessionId, { type: 'send-failed', generation, turnId, message: 'The agent could not take the message.' })
  }

  /** The user row; the assistant row is empty and known by `messageId`, so it is not read. */
  #seed(request: StreamRequest): Message[] {
    const input = request.inputId === null ? null : this.#ports.messages.input(request.inputId)
    return input === null ? [] : [input]
  }
}

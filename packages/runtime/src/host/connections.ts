/**
 * Live connections by (session, generation): the only place a driver's handle is found. Facts a
 * connection is made from are read once, when it starts.
 */
import type { AgentRuntimeConnection, AgentSessionRuntimeDriver, ConnectInput, DriverEvent } from '../driver/contract.ts'
import type { Generation, SessionId } from '../core/types.ts'

/** What the host knows for a connection, or why there can be none. */
export type ConnectFacts =
  | { ok: true; driver: AgentSessionRuntimeDriver; input: Omit<ConnectInput, 'sessionId' | 'generation' | 'resumeToken' | 'emit'> }
  | { ok: false; code: 'CONNECT_FAILED' | 'DRIVER_NOT_INSTALLED'; message: string }

export type ConnectionPorts = {
  facts(sessionId: SessionId): ConnectFacts
  emit(sessionId: SessionId, generation: Generation, event: DriverEvent): void
  report(what: 'driver-threw', sessionId: SessionId, detail: string): void
}

type Handle = { sessionId: SessionId; generation: Generation; connection: AgentRuntimeConnection }

export class Connections {
  readonly #ports: ConnectionPorts
  readonly #handles = new Map<string, Handle>()
  readonly #closings = new Map<SessionId, Promise<void>>()

  constructor(ports: ConnectionPorts) {
    this.#ports = ports
  }

  connect(sessionId: SessionId, generation: Generation, resumeToken: string | null): void {
    const { emit } = this.#ports
    const found = this.#facts(sessionId)
    if (!found.ok) {
      emit(sessionId, generation, { type: 'connection-closed', code: found.code, message: found.message })
      return
    }
    const key = keyOf(sessionId, generation)
    let ended = false
    const onEvent = (event: DriverEvent): void => {
      if (ended) return
      if (event.type === 'connection-closed') {
        ended = true
        this.#handles.delete(key)
      }
      emit(sessionId, generation, event)
    }
    try {
      const connection = found.driver.connect({ ...found.input, sessionId, generation, resumeToken, emit: onEvent })
      if (!ended) this.#handles.set(key, { sessionId, generation, connection })
    } catch (error) {
      this.#threw(sessionId, error)
      onEvent({ type: 'connection-closed', code: 'CONNECT_FAILED', message: messageOf(error) })
    }
  }

  /** What cannot be read is a start that failed; else the session would wait for a connection that never comes. */
  #facts(sessionId: SessionId): ConnectFacts {
    try {
      return this.#ports.facts(sessionId)
    } catch (error) {
      this.#threw(sessionId, error)
      return { ok: false, code: 'CONNECT_FAILED', message: messageOf(error) }
    }
  }

  /** Calls the handle; a driver that throws breaks its contract and loses its connection's trust, not the host. False: no handle, or it threw. */
  with(sessionId: SessionId, generation: Generation, call: (connection: AgentRuntimeConnection) => void): boolean {
    const handle = this.#handles.get(keyOf(sessionId, generation))
    if (handle === undefined) return false
    try {
      call(handle.connection)
      return true
    } catch (error) {
      this.#threw(sessionId, error)
      return false
    }
  }

  /** Ends one; its connection-closed event tells when it is over, also when closing itself failed. */
  close(sessionId: SessionId, generation: Generation, reason: string): void {
    const key = keyOf(sessionId, generation)
    const handle = this.#handles.get(key)
    const gone = (message: string): void => {
      this.#handles.delete(key)
      this.#ports.emit(sessionId, generation, { type: 'connection-closed', code: null, message })
    }
    const failed = (error: unknown): void => {
      this.#threw(sessionId, error)
      gone(messageOf(error))
    }
    if (handle === undefined) return gone('')
    try {
      // A driver that forgot its last event would leave the session waiting for ever.
      const closing = handle.connection
        .close(reason)
        .then(() => (this.#handles.has(key) ? gone('') : undefined), failed)
        .finally(() => {
          if (this.#closings.get(sessionId) === closing) this.#closings.delete(sessionId)
        })
      this.#closings.set(sessionId, closing)
    } catch (error) {
      failed(error)
    }
  }

  /** Resolves when the connection that is being closed is gone; at once when none is. */
  closed(sessionId: SessionId): Promise<void> {
    return this.#closings.get(sessionId) ?? Promise.resolve()
  }

  /** Closes all; resolves when every native side is gone. */
  async closeAll(reason: string): Promise<void> {
    for (const { sessionId, generation } of this.#handles.values()) this.close(sessionId, generation, reason)
    await Promise.all(this.#closings.values())
  }

  get size(): number {
    return this.#handles.size
  }

  #threw(sessionId: SessionId, error: unknown): void {
    this.#ports.report('driver-threw', sessionId, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}

const keyOf = (sessionId: SessionId, generation: Generation): string => `${sessionId}#${generation}`
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * `AgentSessionDeliveryService`: looks into a session's inbox when its core asks, validates what it
 * finds, and answers with an event. Accepted rows are the only queue; nothing is kept here.
 */
import type { DeliveryRef, LookId, SessionId } from '../core/types.ts'
import type { Store } from '../store/store.ts'
import type { Posted } from './mailbox.ts'

/** Whether a delivery may start now: wait = stays accepted until the next wake, never = permanent routing error. */
export type DeliveryCheck =
  | { verdict: 'start'; agentRev: number; modelId: string | null }
  | { verdict: 'wait' }
  | { verdict: 'never'; code: string }

export type DeliveryPorts = {
  store: Pick<Store, 'nextAccepted'>
  /** May take time (a workspace probe); answers once by `done`. */
  validate(sessionId: SessionId, done: (check: DeliveryCheck) => void): void
  post(sessionId: SessionId, event: Posted): void
}

export class AgentSessionDeliveryService {
  readonly #ports: DeliveryPorts

  constructor(ports: DeliveryPorts) {
    this.#ports = ports
  }

  /** The `look-for-delivery` effect. What became of the session meanwhile is checked when the answer arrives in its mailbox: it names the look. */
  look(sessionId: SessionId, look: LookId): void {
    const { store, validate, post } = this.#ports
    let next = null
    try {
      next = store.nextAccepted(sessionId)
    } catch {
      // The inbox cannot be read now: the queue goes on, and the sweep looks again.
    }
    if (next === null) {
      post(sessionId, { type: 'delivery-none', look })
      return
    }
    const { delivery } = next
    validate(sessionId, (check) => post(sessionId, this.#answer(look, delivery, check)))
  }

  #answer(look: LookId, delivery: DeliveryRef, check: DeliveryCheck): Posted {
    if (check.verdict === 'start') return { type: 'delivery-found', look, delivery, agentRev: check.agentRev, modelId: check.modelId }
    if (check.verdict === 'wait') return { type: 'delivery-none', look }
    return { type: 'delivery-unroutable', look, deliveryId: delivery.id, resultTo: delivery.resultTo, code: check.code }
  }
}

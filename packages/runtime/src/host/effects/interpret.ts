/**
 * What the core asks for, done. One function for every effect type; none calls a mailbox
 * synchronously: what comes back is posted and waits for its turn.
 */
import { assertNever } from '../../core/assert.ts'
import type { Activity, Effect } from '../../core/effect.ts'
import type { MessageId, Session, SessionId } from '../../core/types.ts'
import type { Connections } from '../connections.ts'
import type { AgentSessionDeliveryService } from '../delivery-service.ts'
import type { AgentSessionMessageService } from '../message-service.ts'
import type { AgentSessionRuntimeService } from '../runtime-service.ts'
import type { AiStreamManager } from '../stream-manager.ts'
import type { SessionTimers } from '../timers.ts'
import { AGENT_SESSION_TOPIC, type AiService } from '../ai-service.ts'

export type EffectServices = {
  runtime: AgentSessionRuntimeService
  streams: AiStreamManager
  connections: Connections
  deliveries: AgentSessionDeliveryService
  messages: AgentSessionMessageService
  ai: AiService
  timers: SessionTimers
  /** Keeps the newest moment of each kind for snapshots. */
  remember(sessionId: SessionId, activity: Activity): void
  dropSession(sessionId: SessionId): void
  turnEnded(sessionId: SessionId, messageId: MessageId): void
}

export function interpret(services: EffectServices, session: Session, effect: Effect): void {
  const { runtime, streams, connections, timers } = services
  const { id } = session
  switch (effect.type) {
    case 'reply':
      return runtime.reply(effect.commandId, effect.answer)
    case 'connect':
      return connections.connect(id, effect.generation, effect.token)
    case 'send':
      return services.ai.streamText({
        topicId: AGENT_SESSION_TOPIC + id,
        runtime: { kind: 'agent-session', sessionId: id, turnId: effect.turnId },
        messageId: effect.messageId,
        inputId: effect.inputId,
        admission: effect,
      })
    case 'redirect':
      return redirect(services, id, effect)
    case 'answer-offering':
      connections.with(id, effect.generation, (connection) => connection.answerOffering?.(effect.offeringId, effect.inputIds))
      return
    case 'withdraw-redirect':
      connections.with(id, effect.generation, (connection) => connection.withdrawRedirect?.(effect.inputIds))
      return
    case 'interrupt':
      connections.with(id, effect.generation, (connection) => connection.interrupt(effect.turnId))
      return
    case 'close-connection':
      return connections.close(id, effect.generation, effect.reason)
    case 'answer-approval':
      connections.with(id, effect.generation, (connection) => connection.answerApproval(effect.approvalId, effect.decision))
      return
    case 'journal-chunks':
      return streams.journal(id, effect.messageId, effect.n, effect.chunks)
    case 'publish-turn':
      streams.turn(session, effect)
      if (effect.phase === 'ended') services.turnEnded(id, effect.messageId)
      return
    case 'publish-activity':
      return publishActivity(services, id, effect.messageId, effect.activity)
    case 'publish-status':
      return streams.status(session)
    case 'end-topic':
      return streams.terminateHeldTopicStream(id)
    case 'arm-timer':
      return timers.arm(id, effect.timer, effect.key)
    case 'cancel-timer':
      return timers.cancel(effect.timer, effect.key)
    case 'look-for-delivery':
      return services.deliveries.look(id, effect.look)
    case 'finalize-delivery':
      return runtime.follow(id, { type: 'delivery-finalizing', messageId: effect.messageId })
    case 'kick-session':
      return runtime.post(effect.sessionId, { type: 'delivery-kicked' })
    case 'drop-session':
      return services.dropSession(id)
    default:
      return assertNever(effect)
  }
}

function redirect(services: EffectServices, sessionId: SessionId, effect: Extract<Effect, { type: 'redirect' }>): void {
  const input = services.messages.input(effect.inputId)
  let taken = false
  if (input !== null) {
    services.connections.with(sessionId, effect.generation, (connection) => {
      taken = connection.redirect?.({ turnId: effect.turnId, inputId: effect.inputId, parts: input.parts }) ?? false
    })
  }
  if (!taken) services.runtime.follow(sessionId, { type: 'redirect-refused', generation: effect.generation, inputId: effect.inputId })
}

function publishActivity(services: EffectServices, sessionId: SessionId, messageId: MessageId | null, activity: Activity): void {
  services.remember(sessionId, activity)
  const { streams } = services
  switch (activity.type) {
    case 'api-retry': {
      const { attempt, maxAttempts, delayMs, reason } = activity
      return streams.moment(sessionId, { type: 'retry', messageId: messageId ?? '', attempt, maxAttempts, delayMs, reason })
    }
    case 'context-usage':
      return streams.moment(sessionId, { type: 'context-usage', usage: activity.usage })
    case 'background-tasks':
      return streams.moment(sessionId, { type: 'background', tasks: activity.tasks })
    case 'supported-commands':
    case 'background-work-state':
    case 'background-task-event':
    case 'background-flow-chunk':
      return
    default:
      return assertNever(activity)
  }
}

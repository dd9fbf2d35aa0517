/**
 * The session machine: `step(session, event) -> { session, writes, effects }`. Pure: no clock, no
 * ids, no randomness, no promise. The host commits `writes` in one transaction, swaps the session,
 * and only then runs `effects` (architecture, the law).
 */
import { onApprovalAnswered, onApprovalApplied, onApprovalExpiry, onApprovalRequest, onApprovalWithdrawn } from './approval.ts'
import { assertNever } from './assert.ts'
import { onAutonomousStarted } from './autonomous.ts'
import { journal } from './chunk.ts'
import { onCompaction, onCompactRequested } from './compaction.ts'
import { closeConnection, onAgentChanged, onConnected, onConnectionClosed, onIdleTimer } from './connection.ts'
import { onFinalizing, onFound, onKicked, onNone, onRefused, onUnroutable } from './delivery.ts'
import { accept, refuse, type Draft } from './draft.ts'
import type { Effect } from './effect.ts'
import type { CommandEvent, DriverEvent, Event, HostEvent } from './event.ts'
import { onMessageCommand, onQueueDiscarded, onQueueRun, onSubmitted } from './queue.ts'
import { onQuarantined, onRecovered } from './recovery.ts'
import { isStale, staleEffects, turnOf } from './stale.ts'
import { onBoundary, onConsumed, onOffering, onRedirectRefused, onUndelivered } from './steer.ts'
import { onStop, onStopDeadline, onStopEscalation } from './stop.ts'
import { advance, afterTurn, closeTurn, SUCCESS, PAUSED, type Ending } from './turn.ts'
import type { Generation, Session, Turn, UsageRecord } from './types.ts'
import type { Write } from './write.ts'

/** `dropped`: the event was stale and changed nothing; the host counts it. */
export type Step = { session: Session; writes: Write[]; effects: Effect[]; dropped: boolean }

export function step(session: Session, event: Event): Step {
  if (event.type === 'driver' && isStale(session, event.generation, event.event))
    return { session, writes: [], effects: staleEffects(event.generation, event.event), dropped: true }
  const d: Draft = { s: draftOf(session, event), writes: [], effects: [], stamp: event.stamp }
  if (event.type === 'driver') onDriver(d, event.generation, event.event)
  else if ('commandId' in event) onCommand(d, event)
  else onHost(d, event)
  if (d.writes.length > 0) d.s.rev += 1
  return { session: d.s, writes: d.writes, effects: d.effects, dropped: false }
}

/** A private copy to change in place, as deep as the rooms of the core change it. Chunks are many and touch only their turn. */
function draftOf(session: Session, event: Event): Session {
  const { turn, deferred } = session
  const turns = { turn: turn && copyTurn(turn), deferred: deferred && copyTurn(deferred) }
  if (event.type === 'driver' && event.event.type === 'chunk') return { ...session, ...turns }
  return {
    ...session,
    ...turns,
    connection: { ...session.connection },
    seeking: session.seeking && { ...session.seeking },
    resume: { ...session.resume },
    queue: session.queue.map((input) => ({ ...input })),
    approvals: session.approvals.map((approval) => ({ ...approval })),
  }
}

const copyTurn = (turn: Turn): Turn => ({ ...turn, stop: turn.stop && { ...turn.stop } })

function onCommand(d: Draft, event: CommandEvent): void {
  const { s } = d
  if (s.phase === 'deleted') return refuse(d, event.commandId, 'SESSION_NOT_FOUND')
  if (s.phase === 'quarantined' && event.type !== 'session-released' && event.type !== 'session-deleted')
    return refuse(d, event.commandId, 'SESSION_QUARANTINED')
  // Under a hold only what ends work is admitted: a Stop and the answers agents wait for.
  if (s.held && event.type !== 'stop-requested' && event.type !== 'approval-answered') return refuse(d, event.commandId, 'HELD')
  switch (event.type) {
    case 'message-submitted':
      return onSubmitted(d, event)
    case 'message-edited':
    case 'message-withdrawn':
    case 'message-resent':
    case 'message-dismissed':
      return onMessageCommand(d, event)
    case 'queue-run':
      return onQueueRun(d, event.commandId)
    case 'queue-discarded':
      return onQueueDiscarded(d, event.commandId)
    case 'stop-requested':
      return onStop(d, event)
    case 'approval-answered':
      return onApprovalAnswered(d, event)
    case 'compact-requested':
      return onCompactRequested(d, event)
    case 'session-released':
      return onReleased(d, event.commandId)
    case 'session-updated':
      return onUpdated(d, event)
    case 'session-deleted':
      return onDeleted(d, event)
    default:
      return assertNever(event)
  }
}

function onHost(d: Draft, event: HostEvent): void {
  const { s } = d
  if (s.phase === 'deleted') return
  switch (event.type) {
    case 'recovered':
      return onRecovered(d)
    case 'hold-placed':
      s.held = true
      return
    case 'hold-released':
      s.held = false
      return advance(d, false)
    case 'agent-changed':
      return onAgentChanged(d)
    case 'redirect-refused':
      return onRedirectRefused(d, event.inputId)
    case 'send-failed':
      return onSendFailed(d, event)
    case 'delivery-kicked':
      return onKicked(d)
    case 'delivery-found':
      return onFound(d, event)
    case 'delivery-none':
      return onNone(d, event)
    case 'delivery-unroutable':
      return onUnroutable(d, event)
    case 'delivery-finalizing':
      return onFinalizing(d, event)
    case 'commit-refused':
      return onRefused(d, event.of)
    case 'terminal-persistence-failed':
      return onTerminalPersistenceFailed(d)
    case 'session-quarantined':
      return onQuarantined(d, event.reason)
    case 'timer-fired':
      return onTimer(d, event)
    default:
      return assertNever(event)
  }
}

function onDriver(d: Draft, generation: Generation, event: DriverEvent): void {
  switch (event.type) {
    case 'connected':
      return onConnected(d)
    case 'connection-closed':
      return onConnectionClosed(d, event)
    case 'resume-token':
      return onResumeToken(d, event.token)
    case 'tool-approval-applied':
      return onApprovalApplied(d, event)
    case 'tool-approval-withdrawn':
      return onApprovalWithdrawn(d, event)
    case 'steer-consumed':
      return onConsumed(d, event)
    case 'compaction-start':
    case 'compaction-complete':
    case 'compaction-error':
      return onCompaction(d, event)
    case 'autonomous-turn-state':
      return onAutonomousStarted(d, event.turnId)
    case 'background-tasks':
      d.s.background = event.tasks.filter((task) => task.status === 'running').map((task) => task.id)
      return publishActivity(d, event)
    case 'context-usage':
    case 'supported-commands':
    case 'background-work-state':
    case 'background-task-event':
    case 'background-flow-chunk':
      return publishActivity(d, event)
    case 'chunk':
    case 'tool-approval-request':
    case 'usage':
    case 'turn-complete':
    case 'error':
    case 'steer-offering':
    case 'steer-boundary':
    case 'steer-undelivered':
    case 'api-retry': {
      const turn = turnOf(d.s, event)
      return turn == null ? undefined : onTurnEvent(d, turn, generation, event)
    }
    default:
      return assertNever(event)
  }
}

type TurnEvent = Extract<DriverEvent, { turnId: string }>

function onTurnEvent(d: Draft, turn: Turn, generation: Generation, event: TurnEvent): void {
  switch (event.type) {
    case 'chunk':
      return journal(d, turn, event.chunks)
    case 'tool-approval-request':
      return onApprovalRequest(d, turn, generation, event.request)
    case 'usage':
      return onUsage(d, turn, event.usage)
    case 'steer-offering':
      return onOffering(d, turn, generation, event)
    case 'steer-boundary':
      return onBoundary(d, turn, event)
    case 'steer-undelivered':
      return onUndelivered(d, turn, event)
    case 'api-retry':
      d.effects.push({ type: 'publish-activity', messageId: turn.messageId, activity: event })
      return
    case 'turn-complete':
      return endTurn(d, turn, event.outcome === 'success' ? SUCCESS : PAUSED)
    case 'error':
      closeConnection(d, 'error')
      return endTurn(d, turn, { status: 'error', code: event.code, text: event.message })
    case 'steer-consumed':
    case 'autonomous-turn-state':
      return
    default:
      return assertNever(event)
  }
}

/** One call may wait for the next commit; the one before it never longer than until the next call. */
function onUsage(d: Draft, turn: Turn, usage: UsageRecord): void {
  if (turn.usage === null) {
    turn.usage = usage
    return
  }
  const { messageId } = turn
  d.writes.push({ type: 'record-usage', messageId, usage: turn.usage }, { type: 'record-usage', messageId, usage })
  turn.usage = null
}

function endTurn(d: Draft, turn: Turn, ending: Ending): void {
  const success = ending.status === 'success' && turn.stop === null
  closeTurn(d, turn, ending)
  afterTurn(d, { kind: turn.kind, success })
}

/** Stored at once: the next connection continues from the newest state the driver knows. */
function onResumeToken(d: Draft, token: string): void {
  const { resume } = d.s
  if (resume.token === token) return
  resume.token = token
  d.writes.push({ type: 'set-resume', token, epoch: resume.epoch })
}

function publishActivity(d: Draft, activity: Extract<Effect, { type: 'publish-activity' }>['activity']): void {
  d.effects.push({ type: 'publish-activity', messageId: d.s.turn?.messageId ?? null, activity })
}

function onSendFailed(d: Draft, event: Extract<HostEvent, { type: 'send-failed' }>): void {
  const { turn, connection } = d.s
  if (turn?.id !== event.turnId || connection.phase === 'none' || connection.generation !== event.generation) return
  closeConnection(d, 'error')
  endTurn(d, turn, { status: 'error', code: 'AGENT_ERROR', text: event.message })
}

/** What the turn's end said could not be saved: the row says so, and the agent goes. */
function onTerminalPersistenceFailed(d: Draft): void {
  const { s } = d
  closeConnection(d, 'persistence')
  let kind: Turn['kind'] = 'autonomous'
  for (const turn of [s.deferred, s.turn]) {
    if (turn === null) continue
    kind = turn.kind
    closeTurn(d, turn, { status: 'error', code: 'TERMINAL_PERSISTENCE_FAILED', text: null })
  }
  afterTurn(d, { kind, success: false })
}

function onTimer(d: Draft, event: Extract<HostEvent, { type: 'timer-fired' }>): void {
  switch (event.timer) {
    case 'idle':
      return onIdleTimer(d)
    case 'stop-escalation':
      return onStopEscalation(d, event.key)
    case 'stop-deadline':
      return onStopDeadline(d, event.key)
    case 'approval-expiry':
      return onApprovalExpiry(d, event.key)
    default:
      return assertNever(event.timer)
  }
}

function onReleased(d: Draft, commandId: string): void {
  const { s } = d
  if (s.phase !== 'quarantined') return refuse(d, commandId, 'SESSION_NOT_QUARANTINED')
  s.phase = 'active'
  d.writes.push({ type: 'set-phase', phase: 'active', reason: null })
  accept(d, commandId)
  d.effects.push({ type: 'publish-status' })
  // What the bug kept from being finished is finished now.
  if (s.finalizing !== null) d.effects.push({ type: 'finalize-delivery', messageId: s.finalizing.messageId })
  advance(d, false)
}

/** Another agent or workspace is taken over by the next turn. */
function onUpdated(d: Draft, event: Extract<CommandEvent, { type: 'session-updated' }>): void {
  const { commandId, expectedRev, change } = event
  if (d.s.rev !== expectedRev) return refuse(d, commandId, 'STALE_REV', `the session is at rev ${d.s.rev}`)
  d.writes.push({ type: 'update-session', change })
  if (change.agentId !== null || change.workspacePath !== null) onAgentChanged(d)
  accept(d, commandId)
  d.effects.push({ type: 'publish-status' })
}

function onDeleted(d: Draft, event: Extract<CommandEvent, { type: 'session-deleted' }>): void {
  const { s } = d
  const { commandId, expectedRev } = event
  if (s.rev !== expectedRev) return refuse(d, commandId, 'STALE_REV', `the session is at rev ${s.rev}`)
  if (s.turn?.delivery != null || s.deferred?.delivery != null || s.finalizing !== null)
    return refuse(d, commandId, 'RESOURCE_LOCKED', 'a delivery is on its way')
  s.phase = 'deleted'
  s.turn = null
  s.deferred = null
  s.seeking = null
  s.queue = []
  s.approvals = []
  d.writes.push({ type: 'delete-session' })
  closeConnection(d, 'deleted')
  accept(d, commandId)
  d.effects.push({ type: 'drop-session' })
}

/** Stop (decision 3): saved with the queue's hold before its answer; the row ends paused, never error. */
import { accept, refuse, type Draft } from './draft.ts'
import type { CommandEvent } from './event.ts'
import { closeConnection } from './connection.ts'
import { discardQueue, holdQueued } from './queue.ts'
import { afterTurn, closeTurn, PAUSED } from './turn.ts'
import type { Turn } from './types.ts'
import { liveTurn } from './view.ts'

type StopEvent = Extract<CommandEvent, { type: 'stop-requested' }>

export function onStop(d: Draft, event: StopEvent): void {
  const { s } = d
  const { turn, deferred } = s
  if (event.turnId !== null && event.turnId !== turn?.id && event.turnId !== deferred?.id) {
    refuse(d, event.commandId, 'TURN_NOT_CURRENT')
    return
  }
  accept(d, event.commandId, { turnId: event.turnId ?? turn?.id ?? deferred?.id ?? null })
  if (event.queue === 'hold') holdQueued(d, 'stopped')
  else if (event.queue === 'discard') discardQueue(d)
  d.effects.push({ type: 'publish-status' })
  // `turnId` is a guard, not a choice: a Stop stops what the session does, the deferred turn with the one before it.
  if (deferred !== null) stopDeferred(d, deferred, event)
  if (turn !== null) stopTurn(d, turn, event)
}

function stopTurn(d: Draft, turn: Turn, event: StopEvent): void {
  const { s } = d
  if (turn.stop !== null) {
    turn.stop.mode = event.queue
    d.writes.push({ type: 'request-stop', messageId: turn.messageId, mode: event.queue, by: event.by })
    return
  }
  turn.stop = { mode: event.queue, escalated: s.connection.phase !== 'live' }
  d.writes.push({ type: 'request-stop', messageId: turn.messageId, mode: event.queue, by: event.by })
  if (turn.phase === 'starting') {
    closeTurn(d, turn, PAUSED)
    afterTurn(d, { kind: turn.kind, success: false })
    return
  }
  d.effects.push({ type: 'publish-turn', phase: 'started', turn: liveTurn(turn) })
  if (s.connection.phase === 'live') {
    d.effects.push(
      { type: 'interrupt', generation: s.connection.generation, turnId: turn.id },
      { type: 'arm-timer', timer: 'stop-escalation', key: turn.id },
    )
  }
  d.effects.push({ type: 'arm-timer', timer: 'stop-deadline', key: turn.id })
}

function stopDeferred(d: Draft, deferred: Turn, event: StopEvent): void {
  deferred.stop = { mode: event.queue, escalated: true }
  d.writes.push({ type: 'request-stop', messageId: deferred.messageId, mode: event.queue, by: event.by })
  closeTurn(d, deferred, PAUSED)
  // The agent has its input in a queue of its own: only closing the connection stops it for sure.
  closeConnection(d, 'stop')
}

/** The native interrupt did not end it in time. */
export function onStopEscalation(d: Draft, turnId: string): void {
  const { turn } = d.s
  if (turn?.id !== turnId || turn.stop === null || turn.stop.escalated) return
  turn.stop.escalated = true
  closeConnection(d, 'stop')
}

/** Whatever the driver does, the row closes now; nothing is sent until its connection has closed. */
export function onStopDeadline(d: Draft, turnId: string): void {
  const { turn } = d.s
  if (turn?.id !== turnId || turn.stop === null) return
  closeConnection(d, 'stop')
  closeTurn(d, turn, PAUSED)
  afterTurn(d, { kind: turn.kind, success: false })
}

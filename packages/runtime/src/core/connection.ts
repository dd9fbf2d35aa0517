/** Connections: one generation at a time; it ends only by its own connection-closed event. */
import type { ErrorCode } from '@wheelhouse/client/protocol'
import { expireApprovals } from './approval.ts'
import type { Draft } from './draft.ts'
import type { DriverEvent } from './event.ts'
import { recoverTurn } from './recovery.ts'
import { admit, afterTurn, closeTurn, settle } from './turn.ts'
import type { Effect } from './effect.ts'
import { isIdle } from './view.ts'

/** Makes sure a connection is on its way for the turn that waits. */
export function connect(d: Draft): void {
  const { s } = d
  const { connection } = s
  if (connection.phase === 'none') {
    s.lastGeneration += 1
    s.connection = { phase: 'connecting', generation: s.lastGeneration, stale: false, headless: false }
    d.effects.push({ type: 'connect', generation: s.lastGeneration, token: s.resume.token })
  } else if (connection.phase === 'live' && connection.stale) closeConnection(d, 'rebuild')
}

/** Asks the driver to end the connection; nothing is sent until its connection-closed event. */
export function closeConnection(d: Draft, reason: Extract<Effect, { type: 'close-connection' }>['reason']): void {
  const { connection } = d.s
  if (connection.phase === 'none' || connection.phase === 'closing') return
  connection.phase = 'closing'
  d.effects.push({ type: 'close-connection', generation: connection.generation, reason })
}

export function onConnected(d: Draft): void {
  const { s } = d
  // A connection that was told to close while it came up stays on its way down.
  if (s.connection.phase !== 'connecting') return
  s.connection.phase = 'live'
  if (s.turn !== null) {
    if (s.connection.stale) closeConnection(d, 'rebuild')
    else admit(d)
  } else if (isIdle(s)) settle(d)
}

/** Every turn of the generation closes in the same step; a turn that never left the host gets a new connection, or goes back under a hold. */
export function onConnectionClosed(d: Draft, event: Extract<DriverEvent, { type: 'connection-closed' }>): void {
  const { s } = d
  const wasConnecting = s.connection.phase === 'connecting'
  s.connection = { phase: 'none' }
  s.background = []
  s.compaction = null
  d.effects.push({ type: 'cancel-timer', timer: 'idle', key: s.id })
  // Closed as asked while a turn ran: the host goes down.
  const asked: ErrorCode = 'TURN_INTERRUPTED'
  let ended = null
  for (const turn of [s.deferred, s.turn]) {
    if (turn === null) continue
    if (turn.phase === 'open') {
      const code = event.code ?? asked
      const status = code === asked || code === 'AGENT_PROCESS_LOST' ? 'interrupted' : 'error'
      closeTurn(d, turn, { status, code, text: event.message === '' ? null : event.message })
      ended = turn
    } else if (wasConnecting && (event.code !== null || !s.held)) {
      closeTurn(d, turn, { status: 'error', code: event.code ?? 'CONNECT_FAILED', text: event.message })
      ended = turn
    } else if (s.held) {
      // No agent starts under a hold, and a host that goes down loses no more than one that is killed.
      recoverTurn(d, turn)
    }
  }
  expireApprovals(d, () => true, 'The agent that asked is gone.')
  if (s.turn !== null) connect(d)
  else if (ended !== null || s.deferred !== null) afterTurn(d, { kind: ended?.kind ?? 'autonomous', success: false })
  else d.effects.push({ type: 'publish-status' })
}

/** The agent, its provider or the workspace was edited: the next turn runs on a new connection. */
export function onAgentChanged(d: Draft): void {
  const { s } = d
  if (s.connection.phase === 'none' || s.connection.phase === 'closing') return
  s.connection.stale = true
  if (isIdle(s) && s.background.length === 0) closeConnection(d, 'rebuild')
}

export function onIdleTimer(d: Draft): void {
  const { s } = d
  if (!isIdle(s) || s.connection.phase !== 'live') return
  if (s.background.length > 0) d.effects.push({ type: 'arm-timer', timer: 'idle', key: s.id })
  else closeConnection(d, 'idle')
}

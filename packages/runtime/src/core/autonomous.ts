/**
 * Turns the agent runs of its own accord: receive-only, on rows of their own. A user turn in flight
 * is deferred meanwhile and goes on on its original row; once admitted it is never sent again.
 */
import { assert } from './assert.ts'
import { closeConnection } from './connection.ts'
import type { Draft } from './draft.ts'
import { openTurn } from './turn.ts'
import type { TurnId } from './types.ts'

export function onAutonomousStarted(d: Draft, turnId: TurnId): void {
  const { s } = d
  const { turn, connection } = s
  if (connection.phase !== 'live') return
  // Nothing starts after a Stop, and one turn at most may wait behind another.
  if (turn !== null && (turn.stop !== null || s.deferred !== null || turn.kind === 'autonomous')) {
    closeConnection(d, 'discarded')
    return
  }
  if (turn !== null) {
    assert(turn.phase === 'open', 'a live connection has the turn that waits')
    s.deferred = turn
    s.turn = null
    d.writes.push({ type: 'defer-turn', messageId: turn.messageId, deferred: true })
  }
  openTurn(d, {
    id: turnId,
    messageId: d.stamp.messageId,
    inputId: null,
    kind: 'autonomous',
    origin: 'autonomous',
    headless: connection.headless,
    modelId: s.deferred?.modelId ?? null,
    steer: false,
    delivery: null,
    sending: 'already',
    rollOf: null,
  })
}

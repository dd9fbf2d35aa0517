/** Timers of sessions: what is cancelled never fires, also when the session could not take it in time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionTimers, TIMER_MS } from '../../packages/runtime/src/host/timers.ts'
import { SimClock } from '../../sim/clock.ts'

function furnish(): { clock: SimClock; timers: SessionTimers; fired: string[]; state: { blocked: boolean } } {
  const clock = new SimClock()
  const fired: string[] = []
  const state = { blocked: false }
  const timers = new SessionTimers({
    clock,
    limits: TIMER_MS,
    blocked: () => state.blocked,
    fire: (_sessionId, timer, key) => fired.push(`${timer} ${key}`),
  })
  return { clock, timers, fired, state }
}

test('a timer fires once, when its time has come', () => {
  const { clock, timers, fired } = furnish()
  timers.arm('s', 'idle', 's')
  clock.advance(TIMER_MS.idle - 1)
  assert.deepEqual(fired, [])
  clock.advance(1)
  clock.advance(TIMER_MS.idle)
  assert.deepEqual(fired, ['idle s'])
})

test('while a commit of its session is tried again a timer waits, and can be cancelled still', () => {
  const { clock, timers, fired, state } = furnish()
  timers.arm('s', 'stop-deadline', 't1')
  timers.arm('s', 'stop-deadline', 't2')
  state.blocked = true
  clock.advance(TIMER_MS['stop-deadline'] * 4)
  assert.deepEqual(fired, [])
  timers.cancel('stop-deadline', 't1')
  state.blocked = false
  clock.advance(1000)
  assert.deepEqual(fired, ['stop-deadline t2'])
})

test('a session that has left memory takes its timers along, and no others', () => {
  const { clock, timers, fired } = furnish()
  timers.arm('gone', 'idle', 'gone')
  timers.arm('gone', 'approval-expiry', 'a1')
  timers.arm('s', 'idle', 's')
  timers.forget('gone')
  clock.advance(Math.max(TIMER_MS.idle, TIMER_MS['approval-expiry']))
  assert.deepEqual(fired, ['idle s'])
  assert.equal(clock.next(), null)
})

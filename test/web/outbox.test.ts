import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEvent, emptyView } from '../../packages/client/src/index.ts'
import { initialState, reduceApp, type AppState } from '../../packages/web/src/state/app-state.ts'
import { reviveOutbox, type OutboxItem } from '../../packages/web/src/state/outbox.ts'
import { ModelSession, SESSION_ID } from '../client/model.ts'

const item = (key: string): OutboxItem => ({
  key,
  sessionId: SESSION_ID,
  text: 'hello',
  when: 'steer',
  at: '',
  state: 'sending',
  messageId: null,
  error: null,
  detail: null,
})

function opened(model: ModelSession): AppState {
  const view = model.begin(null).reduce(applyEvent, emptyView(SESSION_ID))
  return { ...initialState([]), views: { [SESSION_ID]: view }, sessions: {} }
}

test('a message leaves the outbox when its row comes, whichever of row and answer is first', () => {
  for (const answerFirst of [true, false]) {
    const model = new ModelSession()
    let state = reduceApp(opened(model), { type: 'sending', item: item('key-1') })
    const events = model
      .apply({ do: 'send' })
      .map((event) => (event.type === 'row' ? { ...event, row: { ...event.row, idempotencyKey: answerFirst ? null : 'key-1' } } : event))
    const messageId = [...model.rows.keys()][0] ?? ''
    const answer = (): AppState => reduceApp(state, { type: 'sent', key: 'key-1', change: { state: 'sent', messageId } })
    if (answerFirst) state = answer()
    for (const event of events) state = reduceApp(state, { type: 'hub', message: { type: 'event', event }, at: 0 })
    if (!answerFirst) state = answer()
    assert.deepEqual(state.outbox, [])
    assert.equal(state.views[SESSION_ID]?.queue.length, 1)
  }
})

test('a message that could not be sent stays, with its key, until the person decides', () => {
  let state = reduceApp(opened(new ModelSession()), { type: 'sending', item: item('key-1') })
  state = reduceApp(state, { type: 'sent', key: 'key-1', change: { state: 'failed', error: 'network' } })
  assert.deepEqual(
    state.outbox.map(({ key, state: at, error }) => [key, at, error]),
    [['key-1', 'failed', 'network']],
  )
  assert.deepEqual(reduceApp(state, { type: 'unsent', key: 'key-1' }).outbox, [])
})

test('after a reload nothing is believed to be on its way, and damaged storage is nothing', () => {
  assert.deepEqual(
    reviveOutbox([item('a')]).map(({ key, state }) => [key, state]),
    [['a', 'failed']],
  )
  assert.deepEqual(reviveOutbox('junk'), [])
  assert.deepEqual(reviveOutbox([{ key: 1 }, null]), [])
})

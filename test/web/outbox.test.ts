import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyEvent, emptyView, type ErrorCode, type Problem } from '../../packages/client/src/index.ts'
import { initialState, reduceApp, type AppAction, type AppState } from '../../packages/web/src/state/app-state.ts'
import {
  afterFailure,
  nextToSend,
  outboxChanges,
  reviveOutbox,
  settleOutbox,
  type OutboxItem,
} from '../../packages/web/src/state/outbox.ts'
import { makePostman } from '../../packages/web/src/state/postman.ts'
import { message } from '../browser/seed/make.ts'
import { ModelSession, SESSION_ID } from '../client/model.ts'

const item = (key: string, state: OutboxItem['state'] = 'sending'): OutboxItem => ({
  key,
  sessionId: SESSION_ID,
  text: 'hello',
  when: 'steer',
  at: '',
  state,
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

test('after a reload what was on its way waits to go again, oldest first; what was refused stays, and damaged storage is nothing', () => {
  const stored = [
    { ...item('c', 'sent'), at: '3' },
    { ...item('b', 'failed'), at: '2' },
    { key: 1 },
    null,
    'junk',
    { ...item('a', 'sending'), at: '1' },
    { ...item('d', 'waiting'), at: '4' },
  ]
  assert.deepEqual(
    reviveOutbox(stored).map(({ key, state }) => [key, state]),
    [
      ['a', 'waiting'],
      ['b', 'failed'],
      ['c', 'waiting'],
      ['d', 'waiting'],
    ],
  )
})

test('of each session the oldest message goes, one at a time; a refused one holds up nothing', () => {
  const elsewhere = { ...item('x', 'waiting'), sessionId: 'other' }
  const keys = (outbox: OutboxItem[]): string[] => nextToSend(outbox).map(({ key }) => key)
  assert.deepEqual(keys([item('a', 'waiting'), item('b', 'waiting'), elsewhere]), ['a', 'x'])
  assert.deepEqual(keys([item('a', 'sending'), item('b', 'waiting'), elsewhere]), ['x'])
  assert.deepEqual(keys([item('a', 'failed'), item('b', 'sent'), item('c', 'waiting')]), ['c'])
})

test('where nobody answers a message waits, where the host says no it is the person’s to decide', () => {
  const problem = (code: ErrorCode): Problem => ({ code, title: '', status: 0, type: '', detail: 'why', retryable: false })
  const wait = { state: 'waiting' }
  assert.deepEqual(afterFailure({ problem: null, failure: 'network' }), wait)
  assert.deepEqual(afterFailure({ problem: null, failure: 'timeout' }), wait)
  assert.deepEqual(afterFailure({ problem: problem('SHUTTING_DOWN'), failure: null }), wait)
  assert.deepEqual(afterFailure({ problem: problem('QUEUE_FULL'), failure: null }), { state: 'failed', error: 'QUEUE_FULL', detail: 'why' })
  assert.deepEqual(afterFailure({ problem: null, failure: 'not-wheelhouse' }), { state: 'failed', error: 'not-wheelhouse', detail: null })
})

test('tabs store each message for itself', () => {
  const [a, b, c] = [item('a'), item('b'), item('c')]
  const sent: OutboxItem = { ...b, state: 'sent' }
  assert.deepEqual(outboxChanges([a, b], [sent, c]), [
    ['b', sent],
    ['c', c],
    ['a', null],
  ])
  assert.deepEqual(outboxChanges([a], [a]), [])
})

test('a message another tab discarded is discarded here, unless it is on its way from here', () => {
  const before: AppState = { ...initialState([item('a', 'waiting'), item('b', 'sending')]) }
  const after = ['a', 'b'].reduce((state, key) => reduceApp(state, { type: 'settled-elsewhere', key }), before)
  assert.deepEqual(
    after.outbox.map(({ key }) => key),
    ['b'],
  )
})

test('a message whose row nobody has on the screen is done when the host has it', () => {
  const sent = { type: 'sent', key: 'a', change: { state: 'sent', messageId: 'm1' } } as const
  assert.deepEqual(reduceApp(initialState([item('a')]), sent).outbox, [])
  // The session is open, and its row stands in an older page than the one that is read.
  const view = emptyView(SESSION_ID)
  const row = { ...message(SESSION_ID, { role: 'user', seq: 90 }), id: 'm2' }
  assert.equal(settleOutbox([{ ...item('a'), messageId: 'm1' }], { ...view, rows: [row], before: '90' }).length, 0)
  assert.equal(settleOutbox([{ ...item('a'), messageId: 'm3' }], { ...view, rows: [row], before: '90' }).length, 1)
  assert.equal(settleOutbox([{ ...item('a'), messageId: 'm1' }], { ...view, rows: [row] }).length, 1)
})

/** A postman over an outbox, a line and a host that the test opens, closes and answers for. */
function post() {
  let state = { ...initialState([]), sessions: {} } as AppState
  let isOpen = false
  const calls: { key: string; answer: (how: 'yes' | 'silence' | 'no') => void }[] = []
  const laters: (() => void)[] = []
  const dispatch = (action: AppAction): void => {
    state = reduceApp(state, action)
    work()
  }
  const work = makePostman({
    outbox: () => state.outbox,
    isOpen: () => isOpen,
    send: ({ key }) =>
      new Promise((resolve, reject) => {
        const result = { messageId: `row-${key}`, turnId: null, disposition: 'queued', cursor: '1.1.0' } as const
        calls.push({ key, answer: (how) => (how === 'yes' ? resolve(result) : reject(new Error(how))) })
      }),
    reasonOf: (error) => ({ problem: null, failure: error instanceof Error && error.message === 'silence' ? 'network' : 'refused' }),
    change: (key, change) => dispatch({ type: 'sent', key, change }),
    later: (run) => laters.push(run),
  })
  return {
    calls,
    write: (key: string, sessionId = SESSION_ID) => dispatch({ type: 'sending', item: { ...item(key, 'waiting'), sessionId } }),
    line: (open: boolean) => {
      isOpen = open
      work()
    },
    states: () => state.outbox.map(({ key, state: at }) => `${key} ${at}`),
    async answer(how: 'yes' | 'silence' | 'no') {
      calls.at(-1)?.answer(how)
      await new Promise((resolve) => setImmediate(resolve))
    },
    wait: () => laters.splice(0).forEach((run) => run()),
  }
}

test('what is written while the host is away waits, and goes in order when the line opens', async () => {
  const { calls, write, line, states, answer } = post()
  write('a')
  write('b')
  assert.deepEqual([calls.length, states()], [0, ['a waiting', 'b waiting']])
  line(true)
  assert.deepEqual(states(), ['a sending', 'b waiting'])
  await answer('yes')
  assert.deepEqual(states(), ['b sending'])
  await answer('no')
  assert.deepEqual([calls.map(({ key }) => key), states()], [['a', 'b'], ['b failed']])
})

test('a call nobody answers is made again with its key, before what was written after it', async () => {
  const { calls, write, line, states, answer, wait } = post()
  line(true)
  write('a')
  write('b')
  write('x', 'other')
  assert.deepEqual(
    calls.map(({ key }) => key),
    ['a', 'x'],
    'sessions do not wait for each other',
  )
  await answer('yes')
  calls[0]?.answer('silence')
  await new Promise((resolve) => setImmediate(resolve))
  line(false)
  wait()
  assert.deepEqual(states(), ['a waiting', 'b waiting'])
  line(true)
  await answer('yes')
  await answer('yes')
  assert.deepEqual([calls.map(({ key }) => key), states()], [['a', 'x', 'a', 'b'], []])
})

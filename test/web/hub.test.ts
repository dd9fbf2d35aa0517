import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { createClient, readVector, type StreamEvent } from '../../packages/client/src/index.ts'
import { initialState, reduceApp, type AppState } from '../../packages/web/src/state/app-state.ts'
import { Hub } from '../../packages/web/src/state/hub.ts'
import type { HubMessage, TabMessage } from '../../packages/web/src/state/link-protocol.ts'
import { problem, serve } from '../client/server.ts'
import { ModelSession, SESSION_ID, type Move } from '../client/model.ts'
import { until } from '../support/daemon.ts'

/** A host with one session, followed as PROTOCOL.md says. */
async function startHost(t: TestContext) {
  const model = new ModelSession()
  const streams = new Set<ServerResponse>()
  const host = {
    model,
    streams,
    opened: 0,
    refuses: false,
    move: (move: Move): void => void model.apply(move),
    client: createClient({ baseUrl: '' }),
  }
  const write = (stream: ServerResponse, event: StreamEvent): boolean =>
    stream.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const url = await serve(t, (request, response) => {
    if (host.refuses) return problem(response, 401, 'UNAUTHENTICATED', false)
    const path = new URL(request.url ?? '', 'http://x')
    host.opened += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const follows = path.searchParams.getAll('session').includes(SESSION_ID)
    write(response, { type: 'sessions', sessions: [model.session()] })
    const header = request.headers['last-event-id']
    const cursor = typeof header === 'string' ? readVector(header).get(SESSION_ID) : undefined
    if (follows) for (const event of model.begin(cursor ?? null)) write(response, event)
    if (follows) streams.add(response)
    response.on('close', () => streams.delete(response))
  })
  host.move = (move) => {
    for (const event of model.apply(move)) for (const stream of streams) write(stream, event)
  }
  host.client = createClient({ baseUrl: url })
  return host
}

/** A tab: its messages reduced as the page does it. */
class Tab {
  state: AppState = initialState([])
  readonly hub: Hub
  readonly id: string
  constructor(hub: Hub, id: string) {
    this.hub = hub
    this.id = id
  }
  readonly hear = (message: HubMessage): void => {
    // What a worker posts is a copy.
    this.state = reduceApp(this.state, { type: 'hub', message: structuredClone(message), at: 0 })
  }
  say(message: TabMessage): void {
    this.hub.hear(this.id, message, this.hear)
  }
  /** Opens the session as the page does: page first, then the stream from the page's cursor. */
  open(model: ModelSession): void {
    this.state = reduceApp(this.state, { type: 'opened', sessionId: SESSION_ID })
    this.state = reduceApp(this.state, { type: 'page', sessionId: SESSION_ID, page: structuredClone(model.page(50, null)), older: false })
    this.say({ type: 'want', wants: [[SESSION_ID, this.state.views[SESSION_ID]?.cursor ?? null]] })
  }
  shows(model: ModelSession): boolean {
    const view = this.state.views[SESSION_ID]
    if (view === undefined || view.session?.rev !== model.rev) return false
    const rows =
      JSON.stringify(view.rows.map((row) => [row.id, row.rev])) === JSON.stringify(model.transcript().map((row) => [row.id, row.rev]))
    const n = view.turn === null ? 0 : (view.pending[view.turn.messageId]?.n ?? 0)
    return rows && !view.gap && n === (model.turn === null ? 0 : (model.chunks.get(model.turn.messageId)?.length ?? 0))
  }
}

async function startHub(t: TestContext) {
  const host = await startHost(t)
  let clock = 0
  const hub = new Hub({ openStream: (options) => host.client.stream({ ...options, random: () => 0 }), now: () => clock })
  t.after(() => hub.close())
  return { host, hub, pass: (ms: number) => (clock += ms) }
}

test('two tabs share one stream and show the same', async (t) => {
  const { host, hub } = await startHub(t)
  const [one, two] = [new Tab(hub, '1'), new Tab(hub, '2')]
  host.move({ do: 'send' })
  one.open(host.model)
  await until('the first tab shows the session', () => one.shows(host.model))
  host.move({ do: 'open' })
  host.move({ do: 'chunks', count: 4 })
  await until('the first tab follows', () => one.shows(host.model))
  two.open(host.model)
  host.move({ do: 'chunks', count: 3 })
  await until('both tabs show the running turn', () => one.shows(host.model) && two.shows(host.model))
  host.move({ do: 'finish' })
  await until('both tabs show the end', () => one.shows(host.model) && two.shows(host.model))
  assert.equal(host.streams.size, 1)
  assert.deepEqual(two.state.views[SESSION_ID]?.rows, one.state.views[SESSION_ID]?.rows)
  assert.equal(Object.keys(two.state.sessions ?? {}).length, 1)
})

test('a tab that went away and comes back goes on without a gap', async (t) => {
  const { host, hub } = await startHub(t)
  const [one, two] = [new Tab(hub, '1'), new Tab(hub, '2')]
  one.open(host.model)
  two.open(host.model)
  await until('both tabs show the session', () => one.shows(host.model) && two.shows(host.model))
  two.say({ type: 'bye' })
  for (const move of [{ do: 'send' }, { do: 'open' }, { do: 'chunks', count: 5 }, { do: 'finish' }, { do: 'send' }] as const)
    host.move(move)
  await until('the other tab follows', () => one.shows(host.model))
  two.say({ type: 'want', wants: [[SESSION_ID, two.state.views[SESSION_ID]?.cursor ?? null]] })
  await until('the tab shows what it missed', () => two.shows(host.model))
  assert.equal(two.state.views[SESSION_ID]?.loaded, true)
})

test('when no tab holds a session the stream stops following it, and a silent tab is forgotten', async (t) => {
  const { host, hub, pass } = await startHub(t)
  const [one, two] = [new Tab(hub, '1'), new Tab(hub, '2')]
  one.open(host.model)
  await until('the session is followed', () => host.streams.size === 1)
  pass(300_000)
  two.say({ type: 'want', wants: [] })
  await until('the session is not followed any more', () => host.streams.size === 0)
  await until('the line is up', () => two.state.line.state === 'open')
})

test('a line that is cut heals by itself, and both sides of the cut are shown', async (t) => {
  const { host, hub } = await startHub(t)
  const tab = new Tab(hub, '1')
  tab.open(host.model)
  await until('the tab shows the session', () => tab.shows(host.model))
  for (const stream of host.streams) stream.destroy()
  for (const move of [{ do: 'send' }, { do: 'open' }, { do: 'chunks', count: 2 }] as const) host.model.apply(move)
  await until('the tab shows what happened meanwhile', () => tab.shows(host.model))
  assert.equal(tab.state.line.state, 'open')
})

test('a refusal asks for a login, and after it the stream begins again', async (t) => {
  const { host, hub } = await startHub(t)
  host.refuses = true
  const tab = new Tab(hub, '1')
  tab.open(host.model)
  await until('the refusal is told', () => tab.state.line.state === 'refused')
  assert.equal(tab.state.line.state === 'refused' && tab.state.line.problem?.code, 'UNAUTHENTICATED')
  host.refuses = false
  tab.say({ type: 'wake' })
  await until('the session is shown', () => tab.shows(host.model))
})

test('a view with a gap is read anew', async (t) => {
  const { host, hub } = await startHub(t)
  const tab = new Tab(hub, '1')
  host.move({ do: 'send' })
  host.move({ do: 'open' })
  tab.open(host.model)
  await until('the tab shows the session', () => tab.shows(host.model))
  // Chunks that never reach the stream.
  host.model.apply({ do: 'chunks', count: 2 })
  host.move({ do: 'chunks', count: 1 })
  await until('the gap is seen', () => tab.state.views[SESSION_ID]?.gap === true)
  tab.say({ type: 'reload', sessionId: SESSION_ID })
  await until('the gap is healed', () => tab.state.views[SESSION_ID]?.gap === false)
  assert.equal(tab.state.views[SESSION_ID]?.loaded, false)
  const page = structuredClone(host.model.page(50, null))
  tab.state = reduceApp(tab.state, { type: 'page', sessionId: SESSION_ID, page, older: false })
  await until('the tab shows everything', () => tab.shows(host.model))
})

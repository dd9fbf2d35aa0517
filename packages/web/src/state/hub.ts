/**
 * Holds the one stream of this browser and shares it with its tabs: HTTP/1.1 allows six connections
 * to a host, so a stream for each tab would lock the seventh out. Runs in a SharedWorker, or in the
 * tab that leads where there is none.
 */
import {
  applyEvent,
  emptyView,
  WheelhouseError,
  type EventStream,
  type LineState,
  type Session,
  type SessionView,
  type StreamEvent,
  type StreamOptions,
} from '@wheelhouse/client'
import type { HubMessage, Line, TabMessage, Wants } from './link-protocol.ts'

/** A background tab may run its timers once a minute; three missed signs mean that it is gone. */
const TAB_SILENCE_MS = 200_000
/** The protocol lets a stream name this many sessions. */
const SESSIONS_MAX = 32
/** Rows the hub keeps for a tab that comes later; it reads the rest as pages. */
const ROWS_MAX = 200

type Tab = { post: (message: HubMessage) => void; wants: Set<string>; heardAt: number }

export type HubPorts = {
  openStream: (options: StreamOptions) => EventStream
  /** Milliseconds that only grow. */
  now: () => number
}

export class Hub {
  readonly #ports: HubPorts
  readonly #tabs = new Map<string, Tab>()
  readonly #views = new Map<string, SessionView>()
  #sessions: Map<string, Session> | null = null
  #line: Line = { state: 'connecting' }
  #stream: EventStream | null = null

  constructor(ports: HubPorts) {
    this.#ports = ports
  }

  /** A message from the tab `id`; `post` answers it. */
  hear(id: string, message: TabMessage, post: (message: HubMessage) => void): void {
    if (message.type === 'bye') {
      this.#tabs.delete(id)
      this.#watchWanted()
      return
    }
    const tab = this.#greet(id, post)
    if (message.type === 'want') this.#want(tab, message.wants)
    if (message.type === 'reload') this.#stream?.reload(message.sessionId)
    if (message.type === 'wake') {
      this.#stream?.wake()
      if (this.#line.state === 'refused') this.#open()
    }
  }

  /** Ends the stream; the hub is not used any more. */
  close(): void {
    this.#stream?.close()
    this.#stream = null
  }

  #greet(id: string, post: (message: HubMessage) => void): Tab {
    const known = this.#tabs.get(id)
    if (known !== undefined) {
      known.heardAt = this.#ports.now()
      return known
    }
    const tab: Tab = { post, wants: new Set(), heardAt: this.#ports.now() }
    this.#tabs.set(id, tab)
    post({ type: 'line', line: this.#line })
    if (this.#sessions !== null) post({ type: 'sessions', sessions: [...this.#sessions.values()] })
    return tab
  }

  #want(tab: Tab, wants: Wants): void {
    for (const [sessionId, cursor] of wants) {
      if (tab.wants.has(sessionId)) continue
      const view = this.#views.get(sessionId)
      if (view !== undefined) tab.post({ type: 'view', view })
      // The stream goes on from the cursor of the tab's page, so nothing falls between.
      else this.#views.set(sessionId, { ...emptyView(sessionId), cursor, since: cursor })
    }
    tab.wants = new Set(wants.map(([sessionId]) => sessionId))
    this.#watchWanted()
  }

  /** Brings the stream in line with what the living tabs hold. */
  #watchWanted(): void {
    const silent = this.#ports.now() - TAB_SILENCE_MS
    for (const [id, tab] of this.#tabs) if (tab.heardAt < silent) this.#tabs.delete(id)
    const wanted = new Set([...this.#tabs.values()].flatMap((tab) => [...tab.wants]).slice(-SESSIONS_MAX))
    for (const sessionId of this.#views.keys()) {
      if (wanted.has(sessionId)) continue
      this.#views.delete(sessionId)
      this.#stream?.unwatch(sessionId)
    }
    if (this.#stream === null) {
      if (this.#tabs.size > 0) this.#open()
      return
    }
    for (const [sessionId, view] of this.#views) this.#stream.watch(sessionId, view.cursor)
  }

  #open(): void {
    this.#stream?.close()
    const stream = this.#ports.openStream({
      sessions: [...this.#views].map(([sessionId, view]) => [sessionId, view.cursor] as const),
      onState: (state) => {
        if (this.#stream === null || this.#stream === stream) this.#setLine(lineOf(state))
      },
    })
    this.#stream = stream
    void this.#read(stream)
  }

  async #read(stream: EventStream): Promise<void> {
    try {
      for await (const event of stream) this.#take(event)
    } catch (error) {
      // A refusal was told by onState; anything else is a fault of ours that a new stream may heal.
      if (!(error instanceof WheelhouseError)) this.#setLine({ state: 'refused', problem: null })
    }
  }

  #setLine(line: Line | null): void {
    if (line === null) return
    this.#line = line
    this.#postAll({ type: 'line', line })
  }

  #postAll(message: HubMessage): void {
    for (const tab of this.#tabs.values()) tab.post(message)
  }

  #take(event: StreamEvent): void {
    switch (event.type) {
      case 'ping':
        return
      case 'sessions':
        this.#sessions = new Map(event.sessions.map((session) => [session.id, session]))
        return this.#postAll({ type: 'sessions', sessions: event.sessions })
      case 'session':
        this.#sessions?.set(event.session.id, event.session)
        return this.#postAll({ type: 'event', event })
      case 'session-removed':
        this.#sessions?.delete(event.sessionId)
        break
      case 'status':
        this.#sessions?.set(event.session.id, event.session)
        break
      default:
    }
    this.#fold(event)
    for (const tab of this.#tabs.values()) {
      const everyone = event.type === 'approval' || event.type === 'session-removed' || tab.wants.has(event.sessionId)
      if (everyone) tab.post({ type: 'event', event })
      else if (event.type === 'status') tab.post({ type: 'event', event: { type: 'session', session: event.session } })
    }
  }

  #fold(event: Extract<StreamEvent, { sessionId: string }>): void {
    const view = this.#views.get(event.sessionId)
    if (view === undefined) return
    const next = applyEvent(view, event)
    this.#views.set(event.sessionId, next.rows.length > ROWS_MAX ? { ...next, rows: [], since: next.cursor } : next)
  }
}

function lineOf(state: LineState): Line | null {
  switch (state.state) {
    case 'connecting':
    case 'open':
      return { state: state.state }
    case 'waiting':
      return { state: 'waiting', retryAt: Date.now() + state.retryInMs, failure: state.error?.failure ?? null }
    case 'refused':
      return { state: 'refused', problem: state.error.problem }
    case 'closed':
      return null
    default:
      return null
  }
}

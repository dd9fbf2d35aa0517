/**
 * What one tab knows: the list of sessions, the views it holds, approvals anywhere, and messages that
 * are on their way. Pure; the store applies it, the views read it.
 */
import {
  applyEvent,
  applyPage,
  emptyView,
  isPageTooOld,
  joinViews,
  type Approval,
  type Session,
  type SessionView,
  type StreamEvent,
  type TranscriptPage,
} from '@wheelhouse/client'
import type { HubMessage, Line } from './link-protocol.ts'
import { settleOutbox, type OutboxItem } from './outbox.ts'

export type AppState = {
  line: Line
  /** Wall clock of the last moment at which the line was open; null before the first. */
  asOf: number | null
  /** Null until the list came. */
  sessions: { [id: string]: Session } | null
  views: { [id: string]: SessionView }
  /** Approvals that wait, in all sessions. */
  approvals: { [id: string]: Approval }
  /** Lists of approvals that were asked for and have not come, and what was heard meanwhile: it is newer than they. */
  asked: { lists: number; heard: readonly string[] }
  outbox: readonly OutboxItem[]
}

export type AppAction =
  | { type: 'hub'; message: HubMessage; at: number }
  | { type: 'opened'; sessionId: string }
  | { type: 'dropped'; sessionId: string }
  | { type: 'page'; sessionId: string; page: TranscriptPage; older: boolean }
  | { type: 'missing'; sessionId: string }
  | { type: 'approvals-asked' }
  /** Null: the list did not come. */
  | { type: 'approvals'; approvals: Approval[] | null }
  | { type: 'approval'; approval: Approval }
  | { type: 'session'; session: Session }
  | { type: 'sending'; item: OutboxItem }
  | { type: 'sent'; key: string; change: Partial<OutboxItem> }
  | { type: 'unsent'; key: string }
  /** Another tab has sent or discarded it. */
  | { type: 'settled-elsewhere'; key: string }

export function initialState(outbox: readonly OutboxItem[]): AppState {
  return { line: { state: 'connecting' }, asOf: null, sessions: null, views: {}, approvals: {}, asked: { lists: 0, heard: [] }, outbox }
}

export function reduceApp(state: AppState, action: AppAction): AppState {
  switch (action.type) {
    case 'hub':
      return reduceHub(state, action.message, action.at)
    case 'opened':
      return state.views[action.sessionId] === undefined ? putView(state, emptyView(action.sessionId)) : state
    case 'dropped': {
      const { [action.sessionId]: _, ...views } = state.views
      return { ...state, views }
    }
    case 'page':
      return reducePage(state, action)
    case 'missing':
      return onView(state, action.sessionId, (view) => ({ ...view, removed: true }))
    case 'approvals-asked':
      return { ...state, asked: { ...state.asked, lists: state.asked.lists + 1 } }
    case 'approvals':
      return noteList(state, action.approvals)
    case 'approval':
      return noteApproval(
        onView(state, action.approval.sessionId, (view) =>
          applyEvent(view, { type: 'approval', sessionId: view.sessionId, cursor: view.cursor ?? '', approval: action.approval }),
        ),
        action.approval,
      )
    case 'session':
      return noteSession(state, action.session)
    case 'sending':
      return { ...state, outbox: [...state.outbox, action.item] }
    case 'sent': {
      const outbox = state.outbox
        .map((item) => (item.key === action.key ? { ...item, ...action.change } : item))
        // Nobody looks at its session: whoever opens it reads the row.
        .filter((item) => item.state !== 'sent' || state.views[item.sessionId] !== undefined)
      return Object.keys(state.views).reduce(settle, { ...state, outbox })
    }
    case 'unsent':
      return { ...state, outbox: state.outbox.filter((item) => item.key !== action.key) }
    case 'settled-elsewhere':
      // What this tab is sending itself goes when its own row comes.
      return { ...state, outbox: state.outbox.filter(({ key, state: at }) => key !== action.key || at === 'sending' || at === 'sent') }
    default:
      return state
  }
}

function reduceHub(state: AppState, message: HubMessage, at: number): AppState {
  switch (message.type) {
    case 'line':
      return { ...state, line: message.line, asOf: message.line.state === 'open' || state.line.state === 'open' ? at : state.asOf }
    case 'sessions':
      return { ...state, sessions: Object.fromEntries(message.sessions.map((session) => [session.id, session])) }
    case 'view': {
      const held = state.views[message.view.sessionId]
      return held === undefined ? state : settle(putView(state, joinViews(held, message.view)), message.view.sessionId)
    }
    case 'event':
      return reduceEvent(state, message.event)
    default:
      return state
  }
}

function reduceEvent(state: AppState, event: StreamEvent): AppState {
  if (event.type === 'session') return noteSession(state, event.session)
  if (!('sessionId' in event)) return state
  let next = onView(state, event.sessionId, (view) => applyEvent(view, event))
  if (event.type === 'status') next = noteSession(next, event.session)
  if (event.type === 'approval') next = noteApproval(next, event.approval)
  if (event.type === 'session-removed') next = dropSession(next, event.sessionId)
  return event.type === 'row' || event.type === 'queue' || event.type === 'resync' ? settle(next, event.sessionId) : next
}

function reducePage(state: AppState, { sessionId, page, older }: Extract<AppAction, { type: 'page' }>): AppState {
  const next = onView(state, sessionId, (view) => (!older && isPageTooOld(view, page) ? view : applyPage(view, page, older)))
  return settle(next, sessionId)
}

const putView = (state: AppState, view: SessionView): AppState => ({ ...state, views: { ...state.views, [view.sessionId]: view } })

function onView(state: AppState, sessionId: string, change: (view: SessionView) => SessionView): AppState {
  const view = state.views[sessionId]
  if (view === undefined) return state
  const next = change(view)
  return next === view ? state : putView(state, next)
}

/** Takes messages off the outbox whose rows have come. */
function settle(state: AppState, sessionId: string): AppState {
  const view = state.views[sessionId]
  if (view === undefined) return state
  const outbox = settleOutbox(state.outbox, view)
  return outbox === state.outbox ? state : { ...state, outbox }
}

function noteSession(state: AppState, session: Session): AppState {
  const known = state.sessions?.[session.id]
  if (state.sessions === null || (known !== undefined && known.rev > session.rev)) return state
  return { ...state, sessions: { ...state.sessions, [session.id]: session } }
}

function dropSession(state: AppState, sessionId: string): AppState {
  const { [sessionId]: _, ...sessions } = state.sessions ?? {}
  const approvals = Object.fromEntries(Object.entries(state.approvals).filter(([, approval]) => approval.sessionId !== sessionId))
  return { ...state, sessions: state.sessions === null ? null : sessions, approvals }
}

function noteList(state: AppState, list: readonly Approval[] | null): AppState {
  const lists = state.asked.lists - 1
  const { heard } = state.asked
  const asked = { lists, heard: lists === 0 ? [] : heard }
  if (list === null) return { ...state, asked }
  const newer = Object.values(state.approvals).filter((approval) => heard.includes(approval.id))
  const rest = list.filter((approval) => !heard.includes(approval.id))
  return { ...state, asked, approvals: Object.fromEntries([...rest, ...newer].map((approval) => [approval.id, approval])) }
}

function noteApproval(before: AppState, approval: Approval): AppState {
  const { asked } = before
  const state = asked.lists === 0 ? before : { ...before, asked: { ...asked, heard: [...asked.heard, approval.id] } }
  const known = state.approvals[approval.id]
  if (known !== undefined && known.rev > approval.rev) return state
  if (approval.status === 'pending') return { ...state, approvals: { ...state.approvals, [approval.id]: approval } }
  if (known === undefined) return state
  const { [approval.id]: _, ...approvals } = state.approvals
  return { ...state, approvals }
}

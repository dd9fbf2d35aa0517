/** What people see of sessions: read models made from rows and the states in memory. */
import {
  type BackgroundTask,
  type ContextUsage,
  type Session as SessionEntry,
  type SessionSnapshot,
  type SessionStatus,
} from '@wheelhouse/client/protocol'
import type { Session, SessionId } from '../core/types.ts'
import { liveTurn, statusFrom } from '../core/view.ts'
import type { SessionRecord, Store } from '../store/store.ts'
import { HostError, type SessionViews } from './host-api.ts'

/** The newest of what no row holds; lost with the process, told again by the agent. */
export type Moments = Map<SessionId, { contextUsage: ContextUsage | null; background: BackgroundTask[] }>

/** Sessions of the list that a stream begins with; older ones are paged (`GET /v1/sessions`). */
const LIST_LIMIT = 500

export type ViewPorts = { store: Store; firstEpoch: number; state(id: SessionId): Session | null; moments: Moments }

export function createViews({ store, firstEpoch, state, moments }: ViewPorts): SessionViews {
  const entry = (record: SessionRecord): SessionEntry => toEntry(record)
  return {
    firstEpoch,
    state,
    session(id) {
      const record = store.readSession(id)
      return record === null ? null : entry(record)
    },
    sessions: () => store.listSessions({ limit: LIST_LIMIT, before: null, agentId: null }).map(entry),
    snapshot(id): SessionSnapshot {
      const session = state(id)
      const record = store.readSession(id)
      if (session === null || record === null) throw new HostError('SESSION_NOT_FOUND', id)
      const turn = session.turn
      const moment = moments.get(id)
      return {
        session: entry(record),
        status: entry(record).status,
        turn: turn === null ? null : liveTurn(turn),
        queue: store.listQueue(id),
        approvals: store.listApprovals({ sessionId: id, status: 'pending' }),
        background: moment?.background ?? [],
        contextUsage: moment?.contextUsage ?? null,
        cursor: '',
      }
    },
  }
}

/** The list entry, from the row alone: 10,000 sessions are listed without loading one. */
export function toEntry(record: SessionRecord): SessionEntry {
  const { id, rev, agentId, name, description, queued, held, lastText, createdAt, updatedAt } = record
  return {
    id,
    rev,
    agentId,
    name,
    description,
    workspace: { kind: record.workspaceKind, path: record.workspacePath },
    status: statusOf(record),
    queued,
    held,
    needsYou: record.pendingApprovals + record.unknown + record.held,
    lastText,
    createdAt,
    updatedAt,
  }
}

function statusOf(record: SessionRecord): SessionStatus {
  return statusFrom({
    quarantined: record.phase === 'quarantined',
    asking: record.pendingApprovals > 0,
    stopping: record.stopping,
    working: record.working,
    held: record.held + record.unknown > 0,
    failed: record.lastStatus === 'error',
  })
}

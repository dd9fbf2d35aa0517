/** What waits for the person, over all sessions. Pure. */
import type { Approval, Session } from '@wheelhouse/client'

export type Need =
  | { kind: 'approval'; session: Session; approval: Approval }
  /** Messages of which nobody knows whether the agent has them, or other decisions the host counts. */
  | { kind: 'decide'; session: Session }
  | { kind: 'held'; session: Session; count: number }
  | { kind: 'quarantined'; session: Session }

/** Approvals first, the longest waiting on top; then what else needs a decision, newest session first. */
export function needsOf(sessions: { [id: string]: Session }, approvals: { [id: string]: Approval }): Need[] {
  const cards = Object.values(approvals)
    .toSorted((a, b) => (a.requestedAt < b.requestedAt ? -1 : 1))
    .flatMap((approval): Need[] => {
      const session = sessions[approval.sessionId]
      return session === undefined ? [] : [{ kind: 'approval', session, approval }]
    })
  const rest = Object.values(sessions)
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .flatMap((session): Need[] => {
      if (session.status === 'quarantined') return [{ kind: 'quarantined', session }]
      const asked = cards.filter((need) => need.session.id === session.id).length
      if (session.needsYou > asked) return [{ kind: 'decide', session }]
      return session.held > 0 && session.status !== 'stopping' ? [{ kind: 'held', session, count: session.held }] : []
    })
  return [...cards, ...rest]
}

/** The session's dot: what a glance should tell. */
export type Mood = 'working' | 'waiting' | 'stalled' | 'error' | 'held' | 'idle'

export function moodOf(session: Session): Mood {
  if (session.needsYou > 0) return 'waiting'
  switch (session.status) {
    case 'working':
    case 'stopping':
      return 'working'
    case 'waiting':
      return 'waiting'
    case 'stalled':
      return 'stalled'
    case 'held':
      return 'held'
    case 'error':
    case 'quarantined':
      return 'error'
    default:
      return 'idle'
  }
}

export type Group = { agentId: string | null; name: string; sessions: Session[] }

/** Sessions under their agents; agents with the latest activity first, and so the sessions in each. */
export function groupSessions(sessions: readonly Session[], agentName: (id: string | null) => string): Group[] {
  const groups = new Map<string | null, Session[]>()
  for (const session of sessions.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))) {
    const group = groups.get(session.agentId)
    if (group === undefined) groups.set(session.agentId, [session])
    else group.push(session)
  }
  return [...groups].map(([agentId, list]) => ({ agentId, name: agentName(agentId), sessions: list }))
}

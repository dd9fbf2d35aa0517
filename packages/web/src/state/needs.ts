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
    .toSorted((a, b) => a.no - b.no)
    .flatMap((approval): Need[] => {
      const session = sessions[approval.sessionId]
      return session === undefined ? [] : [{ kind: 'approval', session, approval }]
    })
  const rest = Object.values(sessions)
    .toSorted(newestFirst)
    .flatMap((session): Need[] => {
      if (session.status === 'quarantined') return [{ kind: 'quarantined', session }]
      // The host counts held messages among what needs the person; here they are a line of their own.
      const asked = cards.filter((need) => need.session.id === session.id).length
      if (session.needsYou - session.held > asked) return [{ kind: 'decide', session }]
      return session.held > 0 && session.status !== 'stopping' ? [{ kind: 'held', session, count: session.held }] : []
    })
  return [...cards, ...rest]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By last activity; ids break ties, so that an order is always the same. */
export const newestFirst = (a: Session, b: Session): number => compare(b.updatedAt, a.updatedAt) || compare(b.id, a.id)

/** The session's dot: what a glance should tell. */
export type Mood = 'working' | 'waiting' | 'stalled' | 'error' | 'held' | 'idle'

export function moodOf(session: Session): Mood {
  if (session.needsYou > session.held && session.status !== 'quarantined') return 'waiting'
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

/**
 * Sessions under their agents: agents in the order they were made, so that groups keep their places, also while names are not
 * there yet or change; the sessions in each by last activity. `kept` is an order to hold on to: what is not in it stands first.
 */
export function groupSessions(
  sessions: readonly Session[],
  agentName: (id: string | null) => string,
  kept: readonly string[] | null = null,
): Group[] {
  const groups = new Map<string | null, Session[]>()
  const places = new Map(kept?.map((id, index) => [id, index]))
  const byPlace = (a: Session, b: Session): number => (places.get(a.id) ?? -1) - (places.get(b.id) ?? -1) || newestFirst(a, b)
  for (const session of sessions.toSorted(byPlace)) {
    const group = groups.get(session.agentId)
    if (group === undefined) groups.set(session.agentId, [session])
    else group.push(session)
  }
  return [...groups]
    .map(([agentId, list]) => ({ agentId, name: agentName(agentId), sessions: list }))
    .toSorted((a, b) => Number(a.agentId === null) - Number(b.agentId === null) || compare(a.agentId ?? '', b.agentId ?? ''))
}

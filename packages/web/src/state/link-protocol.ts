/** What a tab and the hub that holds the browser's one stream say to each other. Structured-clone data only. */
import type { LineFailure, Problem, Session, SessionView, StreamEvent } from '@wheelhouse/client'

/** The line to the host as a tab shows it. */
export type Line =
  | { state: 'connecting' | 'open' }
  | { state: 'waiting'; retryAt: number; failure: LineFailure | null }
  /** The host said no; `unauthenticated` asks for a login. */
  | { state: 'refused'; problem: Problem | null }

/** Sessions a tab holds, each with the cursor of the view it has. */
export type Wants = [sessionId: string, cursor: string | null][]

export type TabMessage =
  /** Comes first, again after a hub was lost, and with every change of what the tab holds. */
  | { type: 'want'; wants: Wants }
  /** Still here; a hub forgets tabs that are silent for long. */
  | { type: 'alive' }
  | { type: 'bye' }
  /** The tab's view of this session has a gap. */
  | { type: 'reload'; sessionId: string }
  /** The machine is online, or the person asked: try now. */
  | { type: 'wake' }

export type HubMessage =
  | { type: 'line'; line: Line }
  | { type: 'sessions'; sessions: Session[] }
  /** The hub follows this session already: what it knows; events follow from there. */
  | { type: 'view'; view: SessionView }
  | { type: 'event'; event: StreamEvent }

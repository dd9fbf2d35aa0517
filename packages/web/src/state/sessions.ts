/** Opening sessions in this tab: which views it holds, and the pages they are made of. */
import { WheelhouseError, type SessionView } from '@wheelhouse/client'
import { client, dispatch, getState, subscribe, theLink } from './store.ts'

/** Views a tab keeps, so that going back shows at once what was there. */
const HELD_MAX = 6
/** Rows of the first page: more than a screen, and a quick answer. */
const FIRST_PAGE = 60
const OLDER_PAGE = 200

/** Most recently used last. */
let held: string[] = []
const loading = new Set<string>()
/** Gaps the hub was told of and has not healed yet. */
const reported = new Set<string>()
/** The client has tried for three seconds already; the line's banner tells the person. */
const RETRY_MS = 2_000

/** Makes the session the one in use: loads it, or goes on with the view that is held. */
export function openSession(sessionId: string): void {
  held = [...held.filter((id) => id !== sessionId), sessionId]
  while (held.length > HELD_MAX) {
    const dropped = held.shift()
    if (dropped !== undefined) dispatch({ type: 'dropped', sessionId: dropped })
  }
  dispatch({ type: 'opened', sessionId })
  tellWants()
  tend(sessionId)
}

/** Reads the next older page, once at a time. */
export async function loadOlder(sessionId: string): Promise<void> {
  const before = getState().views[sessionId]?.before ?? null
  if (before === null || loading.has(sessionId)) return
  await load(sessionId, { limit: OLDER_PAGE, before }, true)
}

/** Keeps every held view whole: reads its page when it has none, reports a gap. Called once by the page. */
export function tendSessions(): void {
  let seen = getState().views
  subscribe(() => {
    const { views } = getState()
    if (views === seen) return
    seen = views
    for (const sessionId of held) tend(sessionId)
  })
}

function tend(sessionId: string): void {
  const view = getState().views[sessionId]
  if (view === undefined || view.removed) return
  if (view.gap && !reported.has(sessionId)) {
    reported.add(sessionId)
    theLink()?.reload(sessionId)
  }
  if (!view.gap) reported.delete(sessionId)
  if (!view.loaded && !loading.has(sessionId)) void load(sessionId, { limit: FIRST_PAGE }, false)
}

async function load(sessionId: string, query: { limit: number; before?: string }, older: boolean): Promise<void> {
  loading.add(sessionId)
  try {
    const page = await client.sessions.transcript(sessionId, query)
    loading.delete(sessionId)
    dispatch({ type: 'page', sessionId, page, older })
    if (!older) tellWants()
    // The page was older than the stream's beginning: read it again.
    if (getState().views[sessionId]?.loaded === false) tend(sessionId)
  } catch (error) {
    loading.delete(sessionId)
    if (error instanceof WheelhouseError && error.code === 'SESSION_NOT_FOUND') dispatch({ type: 'missing', sessionId })
    // Anything else is trouble of the line: the next event of the line tries again.
    else setTimeout(() => tend(sessionId), RETRY_MS)
  }
}

/** Views are followed from their first page on, so that the stream begins where the page ends. */
function tellWants(): void {
  const { views } = getState()
  const wants = held.flatMap((id): [string, string | null][] => {
    const view = views[id]
    return view === undefined || !hasPage(view) ? [] : [[id, view.cursor]]
  })
  theLink()?.want(wants)
}

const hasPage = (view: SessionView): boolean => view.loaded || view.cursor !== null

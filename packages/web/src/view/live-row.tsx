import { Hourglass } from 'lucide-react'
import { memo } from 'react'
import type { SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { isStalled, isStopping } from '../state/composing.ts'
import { duration } from '../state/format.ts'
import { useApp } from '../state/store.ts'
import { useSessionContext } from './session-context.ts'
import { cx, Spinner, useNow } from './ui.tsx'

/** What the running turn does just now; it stands as long as the turn runs, so that nothing jumps. */
export const LiveRow = memo(function LiveRow({ messageId }: { messageId: string | null }) {
  const m = useMessages()
  const { sessionId } = useSessionContext()
  const view = useApp((state) => state.views[sessionId])
  const isOpen = useApp((state) => state.line.state === 'open')
  const asOf = useApp((state) => state.asOf)
  const time = useNow(1_000)
  // Without a line nothing is known of now.
  const now = isOpen || asOf === null ? time : asOf
  const turn = view?.turn
  if (view === undefined || turn == null || turn.messageId !== messageId) return null
  const seconds = Math.max(0, Math.floor((now - Date.parse(turn.startedAt)) / 1_000))
  const elapsed = seconds < 10 ? `${String(seconds)} ${m.units.s}` : duration(seconds * 1_000, m.units)
  const waits = view.approvals.some((approval) => approval.status === 'pending')
  const stalled = isStalled(view)
  const trouble = stalled || view.retry !== null
  return (
    <p className={cx('flex min-h-6 items-center gap-2 text-sm', trouble || waits ? 'text-warn' : 'text-muted')}>
      {stalled ? <Hourglass size={14} aria-hidden className="shrink-0" /> : !waits && isOpen && <Spinner />}
      <span>{liveText(view, waits, m, elapsed)}</span>
      {!stalled && <span className="text-faint tabular-nums">{elapsed}</span>}
    </p>
  )
})

function liveText(view: SessionView, waits: boolean, m: ReturnType<typeof useMessages>, elapsed: string): string {
  const { turn, retry } = view
  if (isStopping(view)) return m.stopping
  if (waits) return m.waitsForYou
  if (retry !== null)
    return `${m.retrying(retry.attempt, retry.maxAttempts, Math.round(retry.delayMs / 1000))}${retry.reason === '' ? '' : `: ${retry.reason}`}`
  if (isStalled(view)) return m.stalled(elapsed)
  if (view.compacting) return m.compacting
  // The first words prove that it runs, also before the host says so.
  const speaks = turn !== null && (view.pending[turn.messageId]?.n ?? 0) > 0
  return turn?.phase === 'connecting' && !speaks ? m.starting : m.working
}

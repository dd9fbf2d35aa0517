/** One session: header, transcript, what waits, composer. */
import { TriangleAlert } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import type { SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { releaseSession } from '../state/actions.ts'
import { openSession } from '../state/sessions.ts'
import { useApp } from '../state/store.ts'
import { ApprovalDock } from './approvals.tsx'
import { Composer } from './composer.tsx'
import { Nothing } from './frame.tsx'
import { QueueStrip } from './queue-strip.tsx'
import { SessionHeader } from './session-header.tsx'
import { SessionContext } from './session-context.ts'
import { Transcript } from './transcript.tsx'
import { Button } from './ui.tsx'
import { Words } from './words.tsx'

export function SessionPage({ id, messageId }: { id: string; messageId: string | null }) {
  const m = useMessages()
  const view = useApp((state) => state.views[id])
  const listed = useApp((state) => state.sessions?.[id])
  useEffect(() => openSession(id), [id])
  const session = view?.session ?? listed ?? null
  const workspace = session?.workspace.path ?? null
  const isOwnFolder = session?.workspace.kind === 'system'
  const context = useMemo(() => ({ sessionId: id, workspace, isOwnFolder }), [id, workspace, isOwnFolder])
  if (view?.removed === true) return <Nothing text={m.sessionGone} />
  return (
    <SessionContext value={context}>
      <SessionHeader session={session} view={view ?? null} />
      {view === undefined || (!view.loaded && view.rows.length === 0) ? (
        <TranscriptSkeleton />
      ) : (
        <Transcript view={view} target={messageId} />
      )}
      {view !== undefined && (
        <div className="shrink-0 overflow-x-clip px-4 pb-[max(0.75rem,env(safe-area-inset-bottom))] max-md:px-2 [@media(max-height:560px)]:max-h-[72%] [@media(max-height:560px)]:overflow-y-auto">
          <div className="mx-auto flex w-full max-w-[76ch] flex-col gap-2">
            {session?.status === 'quarantined' && <Quarantine view={view} />}
            <ApprovalDock view={view} />
            <QueueStrip view={view} />
            <Composer view={view} session={session} />
          </div>
        </div>
      )}
    </SessionContext>
  )
}

function Quarantine({ view }: { view: SessionView }) {
  const m = useMessages()
  return (
    <div role="alert" className="flex flex-wrap items-start justify-end gap-3 rounded-lg border border-line bg-error-soft p-3 text-sm">
      <TriangleAlert size={16} className="mt-0.5 shrink-0 text-error" aria-hidden />
      <div className="min-w-56 flex-1">
        <p>{m.quarantined}</p>
        <p className="text-muted">
          <Words text={m.quarantinedHint} />
        </p>
      </div>
      <Button onClick={() => void releaseSession(view.sessionId)}>{m.release}</Button>
    </div>
  )
}

function TranscriptSkeleton() {
  const m = useMessages()
  return (
    <div className="min-h-0 grow overflow-hidden px-4" role="status" aria-label={m.loading}>
      <div className="late mx-auto flex max-w-[76ch] flex-col gap-5 pt-8">
        <div className="h-9 w-1/2 self-end rounded-lg bg-hover" />
        {[92, 84, 60].map((width) => (
          <div key={width} className="h-3 rounded bg-hover" style={{ width: `${String(width)}%` }} />
        ))}
        <div className="h-9 w-2/5 self-end rounded-lg bg-hover" />
        {[88, 70].map((width) => (
          <div key={width} className="h-3 rounded bg-hover" style={{ width: `${String(width)}%` }} />
        ))}
      </div>
    </div>
  )
}

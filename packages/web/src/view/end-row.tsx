/** How a turn ended: a faint line after success, a row with words and ways out after anything else. */
import { CircleAlert, CirclePause, CirclePlay, RotateCcw, Square, Trash2, Unplug } from 'lucide-react'
import { useState } from 'react'
import type { Message } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { explainIn } from '../i18n/problems.ts'
import { discardQueue, runQueue, sendMessage } from '../state/actions.ts'
import { clockTime, duration, fullTime, tokens } from '../state/format.ts'
import { textOf } from '../state/items.ts'
import { paths } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { Link } from './link.tsx'
import { useSessionContext } from './session-context.ts'
import { Button, Confirm, CopyButton, cx } from './ui.tsx'
import { Words } from './words.tsx'

export function EndRow({ row, startedAt, last }: { row: Message; startedAt: string; last: boolean }) {
  return row.status === 'success' ? <Done row={row} startedAt={startedAt} /> : <Trouble row={row} last={last} />
}

function Done({ row, startedAt }: { row: Message; startedAt: string }) {
  const m = useMessages()
  const took = Date.parse(row.updatedAt) - Date.parse(startedAt)
  return (
    <div className="group flex min-h-6 items-center gap-2 text-xs text-faint tabular-nums">
      <time dateTime={row.updatedAt} title={fullTime(row.updatedAt, m.locale)}>
        {clockTime(row.updatedAt, m.locale)}
      </time>
      <span aria-hidden>·</span>
      <span title={[row.modelId, usageOf(row, m)].filter((part) => part !== null).join('\n')}>{m.took(duration(took, m.units))}</span>
      <CopyButton
        text={() => textOf(row.parts)}
        className="opacity-0 transition-opacity duration-100 group-hover:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
      />
    </div>
  )
}

/** What the turn cost, where the agent told it. */
function usageOf(row: Message, m: ReturnType<typeof useMessages>): string | null {
  const { usage, costUsd } = row.metadata
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) return null
  const sum = (...names: string[]): number => names.reduce((total, name) => total + (typeof usage[name] === 'number' ? usage[name] : 0), 0)
  const cost = typeof costUsd === 'number' ? costUsd.toFixed(2) : null
  return m.usage(tokens(sum('inputTokens', 'cacheReadTokens', 'cacheWriteTokens')), tokens(sum('outputTokens')), cost)
}

const ICONS = { paused: Square, interrupted: Unplug, error: CircleAlert } as const

function Trouble({ row, last }: { row: Message; last: boolean }) {
  const m = useMessages()
  const { sessionId } = useSessionContext()
  const status = row.status === 'paused' || row.status === 'interrupted' ? row.status : 'error'
  const Icon = ICONS[status]
  const why = row.errorCode === null ? null : explainIn(m, row.errorCode)
  const input = useApp((state) => (row.replyTo === null ? undefined : state.views[sessionId]?.rows.find((each) => each.id === row.replyTo)))
  const held = useApp((state) => (last ? (state.views[sessionId]?.queue.filter((each) => each.inputState === 'held').length ?? 0) : 0))
  return (
    <div
      className={cx(
        'flex gap-2.5 rounded-lg border px-3 py-2 text-sm',
        status === 'error' ? 'border-error/30 bg-error-soft' : 'border-line bg-sunken',
      )}
    >
      <Icon size={15} className={cx('mt-0.5 shrink-0', status === 'error' ? 'text-error' : 'text-muted')} aria-hidden />
      <div className="min-w-0 grow">
        <p>
          <span className="font-medium">{m.ends[status]}</span>
          {why !== null && status !== 'paused' && `: ${why.title}`}
          <time className="ml-2 text-xs text-faint tabular-nums" dateTime={row.updatedAt} title={fullTime(row.updatedAt, m.locale)}>
            {clockTime(row.updatedAt, m.locale)}
          </time>
        </p>
        {why !== null && why.advice !== '' && status !== 'paused' && (
          <p className="text-muted">
            <Words text={why.advice} />
          </p>
        )}
        {row.errorText !== null && row.errorText !== '' && (
          <pre
            className="mt-1 max-h-40 overflow-auto font-mono text-xs whitespace-pre-wrap text-muted [overflow-wrap:anywhere]"
            title={m.providerSays}
          >
            {row.errorText}
          </pre>
        )}
        {last && (
          <div className="mt-1.5 flex flex-wrap items-center gap-2 empty:hidden">
            {held > 0 && <span className="text-muted">{m.heldAfter(held)}</span>}
            {status !== 'paused' && row.errorCode !== 'INTERNAL_QUARANTINE' && input !== undefined && held === 0 && (
              <Button icon={RotateCcw} size="small" onClick={() => sendMessage(sessionId, textOf(input.parts), 'steer')}>
                {m.sendAgain}
              </Button>
            )}
            {row.errorCode === 'PROVIDER_AUTH_FAILED' && (
              <Link href={paths.providers} className="text-accent underline underline-offset-2">
                {m.providers}
              </Link>
            )}
          </div>
        )}
      </div>
    </div>
  )
}

/** The two ways out for messages that a turn's end left behind. */
export function HeldActions({ sessionId, held }: { sessionId: string; held: number }) {
  const m = useMessages()
  const [asks, setAsks] = useState(false)
  return (
    <>
      <span className="flex items-center gap-1.5 text-muted">
        <CirclePause size={14} aria-hidden />
        {m.heldAfter(held)}
      </span>
      <Button icon={CirclePlay} size="small" onClick={() => void runQueue(sessionId)}>
        {m.runThem(held)}
      </Button>
      <Button icon={Trash2} look="quiet" size="small" onClick={() => setAsks(true)}>
        {m.discardQueue}
      </Button>
      {asks && (
        <Confirm
          title={m.discardTitle}
          text={m.discardText(held)}
          action={m.discardQueue}
          onClose={() => setAsks(false)}
          onConfirm={() => void discardQueue(sessionId)}
        />
      )}
    </>
  )
}

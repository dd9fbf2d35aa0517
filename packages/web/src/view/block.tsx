/** One block of the transcript. Memoised by its item: a stream redraws the block it writes to. */
import { Clock3, CornerDownRight, FolderOpen, Info, Link2, Paperclip, RotateCcw } from 'lucide-react'
import { memo, useState } from 'react'
import { useMessages } from '../i18n/index.ts'
import { tellIn } from '../i18n/problems.ts'
import { dropItem, resendItem } from '../state/actions.ts'
import { copyText } from '../state/clipboard.ts'
import { clockTime, dayName, fullTime } from '../state/format.ts'
import type { Item } from '../state/items.ts'
import { notify } from '../state/notices.ts'
import type { OutboxItem } from '../state/outbox.ts'
import { paths } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { EndRow } from './end-row.tsx'
import { FolderDialog } from './folder-dialog.tsx'
import { LiveRow } from './live-row.tsx'
import { Markdown } from './markdown.tsx'
import { Reasoning } from './reasoning.tsx'
import { useSessionContext } from './session-context.ts'
import { ToolCard } from './tool-card.tsx'
import { Button, CopyButton, cx, IconButton, Spinner } from './ui.tsx'

export const Block = memo(function Block({ item }: { item: Item }) {
  switch (item.kind) {
    case 'day':
      return <Day at={item.at} />
    case 'user':
      return <UserMessage item={item} />
    case 'sending':
      return <Sending item={item.item} />
    case 'text':
      return <Markdown text={item.text} streaming={item.streaming} />
    case 'reasoning':
      return <Reasoning item={item} />
    case 'tool':
      return <ToolCard item={item} />
    case 'file':
      return <FileLine name={item.name || item.mediaType} />
    case 'source':
      return <Source url={item.url} title={item.title} />
    case 'note':
      return <Note code={item.code} text={item.text} />
    case 'end':
      return <EndRow row={item.row} startedAt={item.startedAt} last={item.last} />
    case 'live':
      return <LiveRow messageId={item.messageId} />
    default:
      return null
  }
})

function Day({ at }: { at: string }) {
  const m = useMessages()
  return (
    <div role="separator" className="flex items-center gap-3 text-xs text-faint">
      <span className="h-px grow bg-line" />
      <time dateTime={at}>{dayName(at, Date.now(), m.locale, m.days)}</time>
      <span className="h-px grow bg-line" />
    </div>
  )
}

const bubble = 'min-w-0 max-w-[85%] rounded-xl rounded-br-sm bg-sunken px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]'

function UserMessage({ item }: { item: Extract<Item, { kind: 'user' }> }) {
  const m = useMessages()
  const { sessionId } = useSessionContext()
  const { row, text, steered } = item
  const from = row.origin === 'interactive' ? null : (m.origins[row.origin] ?? row.origin)
  const link = (): void =>
    void copyText(location.origin + paths.message(sessionId, row.id)).then((done) => done && notify({ text: m.copied }))
  return (
    <article aria-label={m.you} className="group flex flex-col items-end gap-1">
      {steered && (
        <p className="flex w-full items-center gap-2 pb-1 text-xs text-faint">
          <CornerDownRight size={13} aria-hidden />
          {m.steeredHere}
          <span className="h-px grow bg-line" />
        </p>
      )}
      <div className="flex w-full items-end justify-end gap-1">
        <span className="flex shrink-0 items-center text-xs text-faint opacity-0 transition-opacity duration-100 group-focus-within:opacity-100 group-hover:opacity-100">
          <time dateTime={row.createdAt} title={fullTime(row.createdAt, m.locale)} className="px-1 tabular-nums">
            {clockTime(row.createdAt, m.locale)}
          </time>
          <IconButton icon={Link2} label={m.linkToMessage} size={13} box="small" className="max-md:hidden" onClick={link} />
          <CopyButton text={text} />
        </span>
        <div className={bubble}>{text}</div>
      </div>
      {(from !== null || row.unanswered) && (
        <p className="flex gap-2 text-xs text-faint">
          {from}
          {row.unanswered && <span className="text-warn">{m.seenNotAnswered}</span>}
        </p>
      )}
    </article>
  )
}

/** A message that has no row yet. */
export function Sending({ item }: { item: OutboxItem }) {
  return (
    <article className="flex flex-col items-end gap-1">
      <div className={cx(bubble, 'opacity-70')}>{item.text}</div>
      <SendingState item={item} className="justify-end" />
    </article>
  )
}

/** What became of sending it, and what one can do. */
export function SendingState({ item, className }: { item: OutboxItem; className?: string }) {
  const m = useMessages()
  const { workspace } = useSessionContext()
  const [asks, setAsks] = useState(false)
  const isOpen = useApp((state) => state.line.state === 'open')
  if (item.state === 'waiting' && !isOpen) {
    return (
      <div className={cx('flex flex-wrap items-center gap-2 text-xs text-muted', className)}>
        <span className="flex items-center gap-1.5">
          <Clock3 size={13} aria-hidden /> {m.waitsForLine}
        </span>
        <Button look="quiet" size="tiny" onClick={() => dropItem(item.key)}>
          {m.discard}
        </Button>
      </div>
    )
  }
  if (item.state !== 'failed') {
    return (
      <p className="flex items-center gap-1.5 text-xs text-faint">
        <Spinner /> {m.sending}
      </p>
    )
  }
  const isOfFolder = item.error?.startsWith('WORKSPACE_') === true && workspace !== null
  const why = m.failures[item.error ?? ''] ?? tellIn(m, { code: item.error ?? '', detail: item.detail ?? '' }).title
  return (
    <div role="alert" className={cx('flex flex-wrap items-center gap-2 text-xs', className)}>
      <span className="text-error">
        {m.notSent}.{' '}
        <span className="text-muted">
          {why}
          {isOfFolder && (
            <>
              : <code className="[overflow-wrap:anywhere]">{workspace}</code>
            </>
          )}
        </span>
      </span>
      {isOfFolder && (
        <Button icon={FolderOpen} size="tiny" onClick={() => setAsks(true)}>
          {m.changeFolder}
        </Button>
      )}
      {isOfFolder && asks && <FolderDialog sessionId={item.sessionId} folder={workspace} onClose={() => setAsks(false)} />}
      <Button icon={RotateCcw} size="tiny" onClick={() => resendItem(item.key)}>
        {m.sendAgain}
      </Button>
      <Button look="quiet" size="tiny" onClick={() => dropItem(item.key)}>
        {m.discard}
      </Button>
    </div>
  )
}

function FileLine({ name }: { name: string }) {
  return (
    <p className="flex items-center gap-2 text-sm text-muted">
      <Paperclip size={14} aria-hidden /> {name}
    </p>
  )
}

function Source({ url, title }: { url: string; title: string }) {
  const isWeb = /^https?:\/\//.test(url)
  return (
    <p className="flex items-center gap-2 text-sm text-muted">
      <Link2 size={14} aria-hidden className="shrink-0" />
      {isWeb ? (
        <a href={url} target="_blank" rel="noreferrer noopener" className="truncate underline underline-offset-2 hover:text-text">
          {title}
        </a>
      ) : (
        <span className="truncate">{title}</span>
      )}
    </p>
  )
}

function Note({ code, text }: { code: string; text: string }) {
  const m = useMessages()
  const known = m.notes[code]
  return (
    <p className="flex items-start gap-2 rounded-lg border border-line px-3 py-2 text-sm text-muted">
      <Info size={15} className="mt-0.5 shrink-0" aria-hidden />
      <span>{known === undefined ? text : text === '' || code === 'CONTEXT_LOST' ? known : `${known} ${text}`}</span>
    </p>
  )
}

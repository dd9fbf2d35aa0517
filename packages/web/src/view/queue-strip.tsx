/** Messages the session has and the agent does not: in order, editable, withdrawable, with the reason why they wait. */
import { CircleHelp, CirclePause, Clock3, CornerDownRight, Pencil, X } from 'lucide-react'
import { useState } from 'react'
import type { Message, SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { dismissMessage, editMessage, resendMessage, withdrawMessage } from '../state/actions.ts'
import { textOf } from '../state/items.ts'
import type { OutboxItem } from '../state/outbox.ts'
import { useApp } from '../state/store.ts'
import { SendingState } from './block.tsx'
import { HeldActions } from './end-row.tsx'
import { Button, cx, IconButton, inputClass } from './ui.tsx'

export function QueueStrip({ view }: { view: SessionView }) {
  const m = useMessages()
  const outbox = useApp((state) => state.outbox)
  const waits = view.turn !== null || view.queue.length > 0
  const unsent = waits ? outbox.filter((item) => item.sessionId === view.sessionId) : []
  const unknown = view.queue.filter((row) => row.inputState === 'unknown')
  const held = view.queue.filter((row) => row.inputState === 'held')
  const rest = view.queue.filter((row) => row.inputState !== 'unknown' && row.inputState !== 'held')
  return (
    <section aria-label={m.queue} aria-live="polite">
      {(view.queue.length > 0 || unsent.length > 0) && (
        <div className="max-h-[44dvh] overflow-y-auto rounded-lg border border-line bg-raised">
          {unknown.map((row) => (
            <UnknownRow key={row.id} row={row} />
          ))}
          {held.length > 0 && (
            <>
              <ul className="divide-y divide-line text-muted">
                {held.map((row) => (
                  <QueueRow key={row.id} row={row} view={view} />
                ))}
              </ul>
              <div className="flex flex-wrap items-center gap-2 border-t border-line bg-sunken px-3 py-1.5 text-sm">
                <HeldActions sessionId={view.sessionId} held={held.length} />
              </div>
            </>
          )}
          <ul className="divide-y divide-line">
            {rest.map((row) => (
              <QueueRow key={row.id} row={row} view={view} />
            ))}
            {unsent.map((item) => (
              <UnsentRow key={item.key} item={item} />
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

const ICONS = { steering: CornerDownRight, offered: CornerDownRight, held: CirclePause } as const

function QueueRow({ row, view }: { row: Message; view: SessionView }) {
  const m = useMessages()
  const [draft, setDraft] = useState<string | null>(null)
  const text = textOf(row.parts)
  const isOnItsWay = row.inputState === 'offered'
  const Icon = ICONS[row.inputState as keyof typeof ICONS] ?? Clock3
  if (draft !== null) return <EditRow row={row} text={draft} onChange={setDraft} onDone={() => setDraft(null)} />
  return (
    <li className="group flex items-start gap-2 py-1 pr-1 pl-3">
      <Icon
        size={14}
        className={cx('mt-1.5 shrink-0', row.inputState === 'steering' || isOnItsWay ? 'text-accent' : 'text-faint')}
        aria-hidden
      />
      <div className="min-w-0 grow py-0.5">
        <p className="line-clamp-2 text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">{text}</p>
        <p className="text-xs text-faint">
          {stateWords(row, view, m)}
          {row.origin !== 'interactive' && ` · ${m.origins[row.origin] ?? row.origin}`}
        </p>
      </div>
      {!isOnItsWay && (
        <span className="flex shrink-0">
          <IconButton icon={Pencil} label={m.edit} size={14} onClick={() => setDraft(text)} />
          <IconButton icon={X} label={m.withdraw} size={14} onClick={() => void withdrawMessage(row.sessionId, row.id)} />
        </span>
      )}
    </li>
  )
}

function stateWords(row: Message, view: SessionView, m: ReturnType<typeof useMessages>): string {
  if (row.inputState === 'held') return `${m.inputStates.held}: ${m.heldReasons[row.heldReason ?? 'hold']}`
  if (row.inputState === 'queued' && view.turn === null) return m.queuedIdle
  return m.inputStates[row.inputState ?? 'queued']
}

function EditRow({ row, text, onChange, onDone }: { row: Message; text: string; onChange: (text: string) => void; onDone: () => void }) {
  const m = useMessages()
  const save = (): void => {
    if (text.trim() === '') return
    void editMessage(row.sessionId, row.id, text).then((done) => done && onDone())
  }
  return (
    <li className="flex flex-col gap-2 p-2">
      <textarea
        autoFocus
        ref={caretToEnd}
        aria-label={m.edit}
        rows={Math.min(8, text.split('\n').length + 1)}
        className={inputClass}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Escape') {
            event.stopPropagation()
            onDone()
          }
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault()
            save()
          }
        }}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onDone}>
          {m.cancel}
        </Button>
        <Button size="small" look="primary" onClick={save}>
          {m.saveEdit}
        </Button>
      </div>
    </li>
  )
}

/** Most changes go on from where the text ends. Once, when the field appears. */
const caretToEnd = (field: HTMLTextAreaElement | null): void => field?.setSelectionRange(field.value.length, field.value.length)

/** Only a person can know whether it should go again. */
function UnknownRow({ row }: { row: Message }) {
  const m = useMessages()
  return (
    <div role="alert" className="flex items-start gap-2 border-b border-line bg-warn-soft px-3 py-2 text-sm last:border-b-0">
      <CircleHelp size={15} className="mt-0.5 shrink-0 text-warn" aria-hidden />
      <div className="min-w-0 grow">
        <p className="line-clamp-3 [overflow-wrap:anywhere] whitespace-pre-wrap">{textOf(row.parts)}</p>
        <p className="text-xs text-muted">{m.unknownText}</p>
        <div className="mt-1.5 flex gap-2">
          <Button size="small" onClick={() => void resendMessage(row.sessionId, row.id)}>
            {m.sendAgain}
          </Button>
          <Button size="small" look="quiet" onClick={() => void dismissMessage(row.sessionId, row.id)}>
            {m.dismiss}
          </Button>
        </div>
      </div>
    </div>
  )
}

function UnsentRow({ item }: { item: OutboxItem }) {
  return (
    <li className="flex flex-col items-start gap-1 px-3 py-1.5">
      <p className="line-clamp-2 text-sm whitespace-pre-wrap opacity-70">{item.text}</p>
      <SendingState item={item} />
    </li>
  )
}

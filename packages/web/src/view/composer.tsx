/** Where a person writes. One line under it says what Enter will do. */
import { ArrowUp, CornerDownRight, ListPlus, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { LIMITS, type Session, type SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { sendMessage, stopTurn } from '../state/actions.ts'
import { canSteer, isStopping, planSend, type SendPlan } from '../state/composing.ts'
import { readDraft, writeDraft } from '../state/drafts.ts'
import { useAgents, useInfo } from '../state/queries.ts'
import { useApp } from '../state/store.ts'
import { commandKey, isTyping, useKeys } from './keys.ts'
import { isTouch } from './media.ts'
import { Button, cx, Kbd } from './ui.tsx'

/** Two presses of Escape within this stop the turn. */
const TWICE_MS = 1_500

export function Composer({ view, session }: { view: SessionView; session: Session | null }) {
  const m = useMessages()
  const { sessionId } = view
  const [text, setText] = useState(() => readDraft(sessionId))
  const field = useRef<HTMLTextAreaElement>(null)
  const isOpen = useApp((state) => state.line.state === 'open')
  const steer = useSteer(session)
  const running = view.turn !== null
  const plan = planSend(view, session, steer, 'steer')
  const bytes = text.length * 3 > LIMITS.messageTextBytes ? new TextEncoder().encode(text).length : 0
  const tooLong = bytes > LIMITS.messageTextBytes
  const canSend = plan.can && text.trim() !== '' && !tooLong
  const { armed, press } = useStopTwice(sessionId, running && !isStopping(view))

  useEffect(() => {
    // What was sent is no draft any more, also when the page is closed at once.
    if (text === '') return writeDraft(sessionId, text)
    const timer = setTimeout(() => writeDraft(sessionId, text), 250)
    return () => {
      clearTimeout(timer)
      writeDraft(sessionId, text)
    }
  }, [sessionId, text])
  useFocusOnOpen(field, sessionId)

  const send = (when: 'steer' | 'queue'): void => {
    if (!canSend) return
    sendMessage(sessionId, text, when)
    setText('')
    field.current?.focus()
  }
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') {
      event.preventDefault()
      if (running) press()
      else field.current?.blur()
      return
    }
    // On a touch keyboard Enter is the only way to a new line; there the button sends.
    if (event.key !== 'Enter' || event.shiftKey || isTouch) return
    event.preventDefault()
    send(event.metaKey || event.ctrlKey ? 'queue' : 'steer')
  }
  return (
    <form
      aria-label={m.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send('steer')
      }}
      className="rounded-xl border border-line-strong bg-raised focus-within:border-accent"
    >
      <textarea
        ref={field}
        id="composer"
        aria-label={m.composer}
        aria-describedby="composer-hint"
        className="block field-sizing-content max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 outline-none max-md:text-[16px]"
        placeholder={running ? m.placeholderRunning : m.placeholder}
        value={text}
        rows={1}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="flex flex-wrap items-center justify-end gap-2 pr-2 pb-2 pl-3.5">
        <p
          id="composer-hint"
          className={cx(
            'min-w-0 grow truncate text-xs leading-5 empty:hidden max-md:basis-full',
            armed || tooLong ? 'text-warn' : 'text-faint',
          )}
          aria-live="polite"
        >
          {armed
            ? m.stopAgain
            : tooLong
              ? m.tooLong(`${(bytes / 1024 / 1024).toFixed(1)} MiB`)
              : isOpen
                ? hintOf(plan, steer, view, m)
                : m.hintOffline}
        </p>
        {running && (
          <Button
            look="plain"
            icon={Square}
            size="small"
            disabled={isStopping(view)}
            onClick={() => void stopTurn(sessionId)}
            title="Esc Esc"
          >
            {m.stop}
          </Button>
        )}
        {running && canSteer(view, steer) && (
          <Button look="plain" icon={ListPlus} size="small" disabled={!canSend} onClick={() => send('queue')} title={`${commandKey} Enter`}>
            {m.queueIt}
          </Button>
        )}
        <Button
          type="submit"
          look="primary"
          icon={running ? (canSteer(view, steer) ? CornerDownRight : ListPlus) : ArrowUp}
          size="small"
          disabled={!canSend}
        >
          {running ? (canSteer(view, steer) ? m.steer : m.queueIt) : m.send}
        </Button>
      </div>
    </form>
  )
}

function hintOf(plan: SendPlan, steer: string | null, view: SessionView, m: ReturnType<typeof useMessages>): React.ReactNode {
  if (!plan.can) return plan.because === 'no-agent' ? m.hintNoAgent : m.hintQuarantined
  switch (plan.will) {
    case 'steer':
      if (isTouch) return m.hintTouch.steer
      return (
        <>
          {m.hintSteer} · <Kbd>{commandKey} Enter</Kbd> {m.hintQueue}
        </>
      )
    case 'queue':
      return steer === 'none' && view.turn?.kind === 'user' ? m.hintNoSteer : isTouch ? m.hintTouch.queue : `Enter: ${m.hintQueue}`
    case 'hold':
      return m.hintStopping
    case 'run-beside-held':
      return m.hintHeldBeside
    case 'send':
    default:
      return isTouch ? m.hintTouch.send : m.hintSend
  }
}

/** How the session's agent can be steered; null while that is not known. */
function useSteer(session: Session | null) {
  const agent = useAgents().data?.find((each) => each.id === session?.agentId)
  return useInfo().data?.drivers.find((driver) => driver.type === agent?.type)?.capabilities.steer ?? null
}

/** Escape once asks, twice stops: one slip of the hand should not end an hour of work. */
function useStopTwice(sessionId: string, canStop: boolean): { armed: boolean; press: () => void } {
  const [armed, setArmed] = useState(false)
  useEffect(() => {
    if (!armed) return
    const timer = setTimeout(() => setArmed(false), TWICE_MS)
    return () => clearTimeout(timer)
  }, [armed])
  const press = (): void => {
    if (!canStop) return
    if (armed) void stopTurn(sessionId)
    setArmed(!armed)
  }
  useKeys((event) => {
    if (event.key !== 'Escape' || isTyping(event) || !canStop) return false
    press()
    return true
  })
  return { armed: armed && canStop, press }
}

/** With a keyboard at hand, opening a session means to write. C comes back to it. */
function useFocusOnOpen(field: React.RefObject<HTMLTextAreaElement | null>, sessionId: string): void {
  useEffect(() => {
    if (!isTouch) field.current?.focus()
  }, [field, sessionId])
  useKeys((event) => {
    if (event.key !== 'c' || isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return false
    field.current?.focus()
    return true
  })
}

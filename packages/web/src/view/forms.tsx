/** What the forms share: sending once, telling what was refused, the look of loading. */
import { useState, type FormEvent } from 'react'
import { newIdempotencyKey, WheelhouseError } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { textIn } from '../i18n/problems.ts'
import { noticeOf } from '../state/actions.ts'
import { notify } from '../state/notices.ts'
import { Button } from './ui.tsx'

/**
 * Runs a form's call one at a time. The key is the same until the host has answered, so that trying
 * again after trouble of the line makes nothing twice.
 */
export function useSubmit(send: (key: string) => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<WheelhouseError | null>(null)
  const [key, setKey] = useState(newIdempotencyKey)
  const go = async (): Promise<void> => {
    if (busy) return
    setBusy(true)
    setError(null)
    try {
      await send(key)
      setKey(newIdempotencyKey())
    } catch (cause) {
      if (cause instanceof WheelhouseError && cause.problem !== null) {
        setError(cause)
        setKey(newIdempotencyKey())
      }
      notify(noticeOf(cause))
    }
    setBusy(false)
  }
  return {
    busy,
    error,
    run: () => void go(),
    submit: (event: FormEvent) => {
      event.preventDefault()
      void go()
    },
  }
}

/** A refusal, beside the form it is about. */
export function FormError({ error, onReload }: { error: WheelhouseError | null; onReload: () => void }) {
  const m = useMessages()
  if (error?.problem == null) return null
  const isStale = error.problem.code === 'STALE_REV'
  return (
    <div role="alert" className="flex items-center gap-3 rounded-lg bg-error-soft px-3 py-2 text-sm text-error">
      <span className="grow">{isStale ? m.staleForm : textIn(m, error.problem)}</span>
      {isStale && (
        <Button size="small" onClick={onReload}>
          {m.loadNewer}
        </Button>
      )}
    </div>
  )
}

export function ListSkeleton() {
  const m = useMessages()
  return (
    <div className="late flex flex-col gap-3" role="status" aria-label={m.loading}>
      {[1, 2, 3].map((each) => (
        <div key={each} className="h-14 rounded-xl bg-hover" />
      ))}
    </div>
  )
}

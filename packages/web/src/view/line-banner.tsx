import { CloudOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMessages } from '../i18n/index.ts'
import { explainIn } from '../i18n/problems.ts'
import { clockTime } from '../state/format.ts'
import { theLink, useApp } from '../state/store.ts'
import { Button } from './ui.tsx'
import { Words } from './words.tsx'

/** A line that comes back within this is not worth a word. */
const PATIENCE_MS = 1_500

/** Says that what is on the screen may be old, from when it is, and that it is being tried again. */
export function LineBanner() {
  const m = useMessages()
  const line = useApp((state) => state.line)
  const asOf = useApp((state) => state.asOf)
  const isDown = line.state !== 'open'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!isDown) return setShown(false)
    const timer = setTimeout(() => setShown(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [isDown])
  const text =
    line.state === 'refused'
      ? `${m.refusedLine} ${line.problem === null ? '' : explainIn(m, line.problem.code).title}`
      : asOf === null
        ? `${m.offlineFirst} ${m.offlineHint}`
        : m.offline(clockTime(asOf, m.locale))
  return (
    <div role="status" aria-live="polite">
      {shown && isDown && (
        <div className="flex items-center gap-2 border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn">
          <CloudOff size={15} aria-hidden className="shrink-0" />
          <span className="grow">
            <Words text={text} />
          </span>
          <Button look="quiet" size="tiny" className="text-warn" onClick={() => theLink()?.wake()}>
            {m.tryNow}
          </Button>
        </div>
      )}
    </div>
  )
}

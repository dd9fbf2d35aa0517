import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useMessages } from '../i18n/index.ts'
import { tellIn } from '../i18n/problems.ts'
import { dismissNotice, useNotices } from '../state/notices.ts'
import { IconButton } from './ui.tsx'
import { Words } from './words.tsx'

/** What was refused, in words, with the host's own detail. */
export function Notices() {
  const m = useMessages()
  const notices = useNotices()
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-40 flex flex-col items-center gap-2 px-4"
    >
      {notices.map(({ id, problem, failure, text }) => {
        const told =
          problem === null ? { title: m.problem, detail: failure === null ? '' : (m.failures[failure] ?? failure) } : tellIn(m, problem)
        const { title, detail } = text === null ? told : { title: text, detail: '' }
        return (
          <div
            key={id}
            className="pointer-events-auto flex max-w-lg items-start gap-2 rounded-lg border border-line bg-raised py-2 pr-1 pl-3 shadow-float"
          >
            {text === null ? (
              <CircleAlert size={16} className="mt-0.5 shrink-0 text-error" aria-hidden />
            ) : (
              <CircleCheck size={16} className="mt-0.5 shrink-0 text-ok" aria-hidden />
            )}
            <div className="min-w-0 text-sm">
              <p className="font-medium">{title}</p>
              {detail !== '' && (
                <p className="text-muted [overflow-wrap:anywhere]">
                  <Words text={detail} />
                </p>
              )}
            </div>
            <IconButton icon={X} label={m.close} size={14} onClick={() => dismissNotice(id)} />
          </div>
        )
      })}
    </div>
  )
}

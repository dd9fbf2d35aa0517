import { ChevronLeft, PanelLeftOpen } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMessages } from '../i18n/index.ts'
import { setPrefs, usePrefs } from '../state/prefs.ts'
import { go, paths } from '../state/route.ts'
import { commandKey } from './keys.ts'
import { IconButton } from './ui.tsx'

/** The way back to the list: a screen back on a phone, the hidden rail elsewhere. */
export function RailButton() {
  const m = useMessages()
  const { railOpen } = usePrefs()
  return (
    <>
      <IconButton icon={ChevronLeft} label={m.back} size={20} className="-ml-2 md:hidden" onClick={() => go(paths.home)} />
      {!railOpen && (
        <IconButton
          icon={PanelLeftOpen}
          label={m.showRail}
          keys={`${commandKey} \\`}
          className="-ml-1 max-md:hidden"
          onClick={() => setPrefs({ railOpen: true })}
        />
      )}
    </>
  )
}

/** Head of a place that is not a session. */
export function PlaceHeader({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="flex min-h-13 shrink-0 items-center gap-2 border-b border-line px-4">
      <RailButton />
      <h1 className="grow truncate font-semibold">{title}</h1>
      {children}
    </header>
  )
}

/** The body of a place that is not a session: one column, scrolled by itself. */
export function PlaceBody({ children, narrow = false }: { children: ReactNode; narrow?: boolean }) {
  return (
    <div className="min-h-0 grow overflow-y-auto">
      <div className={narrow ? 'mx-auto max-w-xl px-4 py-6' : 'mx-auto max-w-3xl px-4 py-6'}>{children}</div>
    </div>
  )
}

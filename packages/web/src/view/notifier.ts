/** Tells a person who looks elsewhere: the number in the title, and notifications if they were asked for. */
import { useEffect, useRef } from 'react'
import { useMessages } from '../i18n/index.ts'
import { needsOf } from '../state/needs.ts'
import { usePrefs } from '../state/prefs.ts'
import { go, paths, useRoute } from '../state/route.ts'
import { useApp } from '../state/store.ts'
import { summarizeTool } from '../state/tools.ts'

export function useNotifier(): void {
  const m = useMessages()
  const route = useRoute()
  const { notifications } = usePrefs()
  const sessions = useApp((state) => state.sessions)
  const approvals = useApp((state) => state.approvals)
  const told = useRef(new Set<string>())

  const count = sessions === null ? 0 : needsOf(sessions, approvals).length
  const name = route.page === 'session' ? sessions?.[route.id]?.name : undefined
  useEffect(() => {
    document.title = `${count > 0 ? `(${String(count)}) ` : ''}${name === undefined || name === '' ? '' : `${name} · `}Wheelhouse`
  }, [count, name])

  useEffect(() => {
    for (const approval of Object.values(approvals)) {
      if (told.current.has(approval.id)) continue
      told.current.add(approval.id)
      const session = sessions?.[approval.sessionId]
      if (!notifications || session === undefined || document.visibilityState === 'visible' || !('Notification' in globalThis)) continue
      if (Notification.permission !== 'granted') continue
      const tool = summarizeTool(approval.toolName, approval.input, session.workspace.path)
      // The tag keeps several tabs from telling the same thing twice.
      const note = new Notification(m.notifyTitle(session.name || m.unnamed), {
        body: m.will(tool.kind, tool, session.workspace.kind === 'system' ? m.itsFolder : session.workspace.path),
        tag: approval.id,
      })
      note.addEventListener('click', () => {
        window.focus()
        go(paths.session(session.id))
        note.close()
      })
    }
  }, [approvals, sessions, notifications, m])
}

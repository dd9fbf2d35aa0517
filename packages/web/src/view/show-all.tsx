import { useMessages } from '../i18n/index.ts'

/** Below long content that is shown in part: the rest, and back. */
export function ShowAll({ all, lines, onToggle }: { all: boolean; lines: number; onToggle: () => void }) {
  const m = useMessages()
  return (
    <button
      type="button"
      className="w-full border-t border-line px-3 py-1 text-left text-xs text-muted hover:bg-hover hover:text-text"
      onClick={onToggle}
    >
      {all ? m.showLess : m.openAll(lines)}
    </button>
  )
}

import { useState } from 'react'
import { useMessages } from '../i18n/index.ts'
import { contextOf, type Diff, type DiffLine } from '../state/diff.ts'
import { ShowAll } from './show-all.tsx'
import { CopyButton, cx } from './ui.tsx'

/** Unchanged lines kept around a change. */
const AROUND = 3
/** Longer diffs open in part. */
const PREVIEW_LINES = 60

export function DiffCounts({ diff }: { diff: Diff }) {
  return (
    <span className="font-mono">
      {diff.added > 0 && <span className="text-ok">+{diff.added}</span>}{' '}
      {diff.removed > 0 && <span className="text-error">−{diff.removed}</span>}
    </span>
  )
}

/** A change of a file, line by line, as a review shows it. */
export function DiffView({ diff, path, error }: { diff: Diff; path: string; error: string | null }) {
  const [all, setAll] = useState(false)
  const lines = contextOf(diff.lines, AROUND)
  const shown = all ? lines : lines.slice(0, PREVIEW_LINES)
  const after = (): string => diff.lines.flatMap((line) => (line.kind === 'remove' ? [] : [line.text])).join('\n')
  return (
    <div className="bg-code">
      <div className="flex items-center gap-2 border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        <span className="min-w-0 grow truncate font-mono">{path}</span>
        <DiffCounts diff={diff} />
        <CopyButton text={after} box="small" />
      </div>
      <div tabIndex={0} className="overflow-x-auto">
        <div className="w-max min-w-full py-1 font-mono text-xs leading-[1.55]">
          {shown.map((line, index) => (
            <Line key={index} line={line} />
          ))}
        </div>
      </div>
      {lines.length > PREVIEW_LINES && <ShowAll all={all} lines={lines.length} onToggle={() => setAll(!all)} />}
      {error !== null && error !== '' && (
        <pre className="border-t border-line px-3 py-2 text-xs whitespace-pre-wrap text-error">{error}</pre>
      )}
    </div>
  )
}

function Line({ line }: { line: DiffLine | null }) {
  const m = useMessages()
  if (line === null) return <div className="px-3 text-faint select-none">{m.unchangedLines}</div>
  const sign = line.kind === 'add' ? '+' : line.kind === 'remove' ? '−' : ' '
  return (
    <div className={cx('flex pr-3', line.kind === 'add' && 'bg-add text-add-text', line.kind === 'remove' && 'bg-remove text-remove-text')}>
      <span className="w-6 shrink-0 text-center select-none" aria-hidden>
        {sign}
      </span>
      <span className="whitespace-pre">{line.text || ' '}</span>
    </div>
  )
}

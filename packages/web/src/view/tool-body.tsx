/** The opened forms of tool calls that are no edit. */
import { CircleCheck, Circle, CircleDot } from 'lucide-react'
import { useState } from 'react'
import { isStoppedCall, type Json, type ToolPart } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import type { ToolOutput } from '../state/output.ts'
import { ShowAll } from './show-all.tsx'
import { CopyButton, cx } from './ui.tsx'

/** Lines shown before "show all": a screenful tells whether more is wanted. */
const PREVIEW_LINES = 24
/** Characters drawn at most before "show all", for output without line ends. */
const PREVIEW_CHARS = 6_000

/** Long text in full only when asked for. */
export function Output({ text, className, tail = false }: { text: string; className?: string; tail?: boolean }) {
  const [all, setAll] = useState(false)
  const lines = text.split('\n')
  const isLong = lines.length > PREVIEW_LINES || text.length > PREVIEW_CHARS
  const part = tail
    ? lines.slice(-PREVIEW_LINES).join('\n').slice(-PREVIEW_CHARS)
    : lines.slice(0, PREVIEW_LINES).join('\n').slice(0, PREVIEW_CHARS)
  return (
    <div className="group/out relative">
      <pre
        tabIndex={0}
        className={cx(
          'overflow-x-auto px-3 py-2 font-mono text-xs leading-[1.5] whitespace-pre-wrap [overflow-wrap:anywhere]',
          all && 'max-h-[70vh] overflow-y-auto',
          className,
        )}
      >
        {isLong && !all ? part : text}
      </pre>
      <CopyButton text={text} className="absolute top-1 right-1 bg-code opacity-0 group-hover/out:opacity-100 focus-visible:opacity-100" />
      {isLong && <ShowAll all={all} lines={lines.length} onToggle={() => setAll(!all)} />}
    </div>
  )
}

/** A command and what it printed; the end of long output is the telling part. */
export function ShellCall({ command, output, isDone }: { command: string; output: ToolOutput; isDone: boolean }) {
  const m = useMessages()
  return (
    <div className="bg-code">
      <div className="group/out relative">
        <pre
          tabIndex={0}
          className="overflow-x-auto px-3 py-2 pr-9 font-mono text-xs leading-[1.5] whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          <span className="text-faint select-none">$ </span>
          {command}
        </pre>
        <CopyButton text={command} className="absolute top-1 right-1 opacity-0 group-hover/out:opacity-100 focus-visible:opacity-100" />
      </div>
      {output.text !== '' && <Output text={output.text} tail className="border-t border-line text-muted" />}
      {output.text === '' && isDone && <p className="border-t border-line px-3 py-1.5 text-xs text-faint">{m.noOutput}</p>}
    </div>
  )
}

/** Any other call: its input and output as they are. */
export function ToolJson({ part, output }: { part: ToolPart; output: ToolOutput }) {
  const m = useMessages()
  return (
    <div className="divide-y divide-line bg-code">
      {part.input !== undefined && (
        <section aria-label={m.input}>
          <p className="px-3 pt-1.5 text-xs text-faint">{m.input}</p>
          <Output text={typeof part.input === 'string' ? part.input : JSON.stringify(part.input, null, 2)} />
        </section>
      )}
      {(output.text !== '' || output.images > 0) && (
        <section aria-label={m.output}>
          <p className="px-3 pt-1.5 text-xs text-faint">
            {m.output}
            {output.images > 0 && ` · ${m.imagesIn(output.images)}`}
          </p>
          {output.text !== '' && (
            <Output text={output.text} className={part.state === 'output-error' && !isStoppedCall(part) ? 'text-error' : 'text-muted'} />
          )}
        </section>
      )}
    </div>
  )
}

const TODO_ICONS: { readonly [status: string]: typeof Circle } = { completed: CircleCheck, in_progress: CircleDot }

/** The agent's list of what is to be done. */
export function TodoList({ part, output }: { part: ToolPart; output: ToolOutput }) {
  const todos = todosOf(part.input)
  if (todos.length === 0) return <ToolJson part={part} output={output} />
  return (
    <ul className="bg-code px-3 py-2 text-sm">
      {todos.map(({ text, status }) => {
        const Icon = TODO_ICONS[status] ?? Circle
        return (
          <li key={text} className={cx('flex items-start gap-2 py-0.5', status === 'completed' && 'text-faint line-through')}>
            <Icon size={14} className={cx('mt-1 shrink-0', status === 'in_progress' && 'text-accent')} aria-hidden />
            {text}
          </li>
        )
      })}
    </ul>
  )
}

function todosOf(input: Json | undefined): { text: string; status: string }[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || !Array.isArray(input['todos'])) return []
  return input['todos'].flatMap((todo) => {
    if (typeof todo !== 'object' || todo === null || Array.isArray(todo)) return []
    const text = todo['content'] ?? todo['text']
    const status = todo['status']
    return typeof text === 'string' ? [{ text, status: typeof status === 'string' ? status : '' }] : []
  })
}

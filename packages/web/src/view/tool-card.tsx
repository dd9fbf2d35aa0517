/** A tool call: one line that says what it is and how it ended; opened, its input and output. */
import {
  BookOpen,
  Bot,
  ChevronRight,
  CircleHelp,
  CircleSlash,
  CircleStop,
  CircleX,
  FilePen,
  FilePlus,
  FolderTree,
  Globe,
  ListTodo,
  Map as MapIcon,
  Plug,
  Search,
  Send,
  SquareTerminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import { isStoppedCall, type Approval, type ToolPart } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { diffOfCall } from '../state/edits.ts'
import { duration } from '../state/format.ts'
import type { Item } from '../state/items.ts'
import { readError, readOutput, type ToolOutput } from '../state/output.ts'
import { useApp } from '../state/store.ts'
import { summarizeTool, type ToolKind, type ToolSummary } from '../state/tools.ts'
import { DiffCounts, DiffView } from './diff-view.tsx'
import { useSessionContext } from './session-context.ts'
import { ShellCall, TodoList, ToolJson } from './tool-body.tsx'
import { cx, Spinner } from './ui.tsx'

const ICONS: { readonly [kind in ToolKind]: LucideIcon } = {
  shell: SquareTerminal,
  edit: FilePen,
  write: FilePlus,
  read: BookOpen,
  search: Search,
  list: FolderTree,
  fetch: Globe,
  'web-search': Globe,
  agent: Bot,
  todo: ListTodo,
  question: CircleHelp,
  plan: MapIcon,
  send: Send,
  mcp: Plug,
  other: Wrench,
}

export const ToolCard = memo(function ToolCard({ item }: { item: Extract<Item, { kind: 'tool' }> }) {
  const m = useMessages()
  const { sessionId, workspace } = useSessionContext()
  const { part, running } = item
  const [open, setOpen] = useState(false)
  const approval = useApp((state) => state.views[sessionId]?.approvals.findLast((each) => each.toolCallId === part.toolCallId))
  const tool = useMemo(() => summarizeTool(part.toolName, part.input, workspace), [part, workspace])
  const output = useMemo(() => (part.state === 'output-error' ? readError(part.errorText ?? '') : readOutput(part.output)), [part])
  const Icon = ICONS[tool.kind]
  const waits = approval?.status === 'pending'
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="group/tool -mx-1.5 flex min-h-7 w-[calc(100%+0.75rem)] items-center gap-2 rounded-md px-1.5 text-left text-sm hover:bg-hover"
      >
        <span className="flex size-4 shrink-0 items-center justify-center text-faint">
          <span className="contents group-hover/tool:hidden group-focus-visible/tool:hidden">
            {running && !waits ? <Spinner /> : <StateIcon part={part} fallback={Icon} exitCode={output.exitCode} />}
          </span>
          <ChevronRight
            size={15}
            aria-hidden
            className={cx('hidden group-hover/tool:block group-focus-visible/tool:block', open && 'rotate-90')}
          />
        </span>
        <span className="min-w-0 shrink truncate">
          <span className="text-muted">{verbOf(part, tool.kind, running, waits || approval?.status === 'denied', m)}</span>{' '}
          <ToolObject tool={tool} />
        </span>
        <Outcome item={item} tool={tool} output={output} approval={approval} />
      </button>
      {open && (
        <div className="my-1 overflow-hidden rounded-lg border border-line">
          <ToolBody part={part} tool={tool} output={output} />
          {approval !== undefined && approval.status !== 'pending' && <Answered approval={approval} />}
        </div>
      )}
    </div>
  )
})

/** What was not done is told as what was wanted. */
function verbOf(part: ToolPart, kind: ToolKind, running: boolean, onlyWanted: boolean, m: ReturnType<typeof useMessages>): string {
  const failedEdit = part.state === 'output-error' && (kind === 'edit' || kind === 'write')
  if (onlyWanted || failedEdit || isStoppedCall(part) || part.state === 'output-denied') return m.toolAsks[kind]
  return running ? m.toolDoing[kind] : m.toolDone[kind]
}

function StateIcon({ part, fallback: Icon, exitCode }: { part: ToolPart; fallback: LucideIcon; exitCode: number | null }) {
  if (part.state === 'output-denied') return <CircleSlash size={15} aria-hidden />
  if (isStoppedCall(part)) return <CircleStop size={15} aria-hidden />
  if (part.state === 'output-error' || (exitCode !== null && exitCode !== 0))
    return <CircleX size={15} className="text-error" aria-hidden />
  return <Icon size={15} aria-hidden />
}

/** What is acted on, as precisely as one line allows. */
function ToolObject({ tool }: { tool: ToolSummary }) {
  const object =
    tool.kind === 'mcp' ? `${tool.server ?? ''}: ${tool.name}` : tool.kind === 'other' ? tool.name : tool.object.split('\n', 1)[0]
  const isMono = tool.kind !== 'agent' && tool.kind !== 'question' && tool.kind !== 'web-search' && tool.kind !== 'todo'
  return (
    <>
      <span className={isMono ? 'font-mono text-[0.929em]' : ''}>{object}</span>
      {(tool.kind === 'mcp' || tool.kind === 'other') && tool.object !== '' && <span className="text-faint"> {tool.object}</span>}
      {tool.detail !== '' && <span className="text-faint"> {tool.detail}</span>}
    </>
  )
}

/** The right end of the line: counts, exit, time, or that it waits. */
function Outcome({
  item,
  tool,
  output,
  approval,
}: {
  item: Extract<Item, { kind: 'tool' }>
  tool: ToolSummary
  output: ToolOutput
  approval: Approval | undefined
}) {
  const m = useMessages()
  const { part, durationMs } = item
  const isEdit = tool.kind === 'edit' || tool.kind === 'write'
  const failedExit = output.exitCode !== null && output.exitCode !== 0
  const word =
    approval?.status === 'pending'
      ? { text: m.waitingForYou, tone: 'text-warn' }
      : part.state === 'output-denied' || approval?.status === 'denied'
        ? { text: m.denied, tone: 'text-muted' }
        : failedExit
          ? { text: m.exit(output.exitCode ?? 0), tone: 'text-error' }
          : isStoppedCall(part)
            ? { text: m.stoppedCall, tone: 'text-muted' }
            : part.state === 'output-error'
              ? { text: m.failed, tone: 'text-error' }
              : null
  return (
    <span className="ml-auto flex shrink-0 items-center gap-2 pl-2 text-xs text-faint tabular-nums">
      {isEdit && <EditCounts part={part} />}
      {word !== null && <span className={word.tone}>{word.text}</span>}
      {durationMs !== null && <span>{duration(durationMs, m.units)}</span>}
    </span>
  )
}

function EditCounts({ part }: { part: ToolPart }) {
  const diff = useMemo(() => diffOfCall(part.input), [part.input])
  return diff === null ? null : <DiffCounts diff={diff} />
}

function ToolBody({ part, tool, output }: { part: ToolPart; tool: ToolSummary; output: ToolOutput }) {
  switch (tool.kind) {
    case 'shell':
      return (
        <ShellCall
          command={commandOf(part, tool)}
          output={output}
          isDone={part.state !== 'input-available' && part.state !== 'input-streaming'}
        />
      )
    case 'edit':
    case 'write': {
      const diff = diffOfCall(part.input)
      return diff === null ? (
        <ToolJson part={part} output={output} />
      ) : (
        <DiffView diff={diff} path={tool.object} error={part.state === 'output-error' ? output.text : null} />
      )
    }
    case 'todo':
      return <TodoList part={part} output={output} />
    default:
      return <ToolJson part={part} output={output} />
  }
}

/** The command as it runs, not as the line shows it. */
function commandOf(part: ToolPart, tool: ToolSummary): string {
  const { input } = part
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return tool.object
  return typeof input['command'] === 'string' ? input['command'] : tool.object
}

function Answered({ approval }: { approval: Approval }) {
  const m = useMessages()
  const state = m.approvalStates[approval.status]
  return (
    <p className="border-t border-line px-3 py-1.5 text-xs text-muted">
      {approval.decidedBy === null ? state : m.answeredBy(state, approval.decidedBy === 'web' ? null : approval.decidedBy)}
      {approval.reason !== null && `: ${approval.reason}`}
      {approval.status === 'allowed' && approval.appliedAt === null && ` · ${m.neverApplied}`}
    </p>
  )
}

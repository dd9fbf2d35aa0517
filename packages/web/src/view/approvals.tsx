/** What the agent may not do without a yes: said in words, shown exactly, answered with one key. */
import { Check, ChevronLeft, ChevronRight, ShieldAlert, X } from 'lucide-react'
import { useState } from 'react'
import type { Approval, ApprovalInput, Json, SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { answerApproval } from '../state/actions.ts'
import { diffOfCall } from '../state/edits.ts'
import { clockTime } from '../state/format.ts'
import { summarizeTool, type ToolSummary } from '../state/tools.ts'
import { DiffView } from './diff-view.tsx'
import { isTyping, useKeys } from './keys.ts'
import { Markdown } from './markdown.tsx'
import { QuestionForm } from './question-form.tsx'
import { useSessionContext } from './session-context.ts'
import { Output } from './tool-body.tsx'
import { Button, IconButton, inputClass } from './ui.tsx'

/** Stands above the composer, so that it is in sight wherever the transcript is. */
export function ApprovalDock({ view }: { view: SessionView }) {
  const m = useMessages()
  const open = view.approvals.filter((approval) => approval.status === 'pending')
  const [at, setAt] = useState(0)
  const index = Math.min(at, Math.max(0, open.length - 1))
  const approval = open[index]
  return (
    <section aria-label={m.approvals} aria-live="assertive">
      {approval !== undefined && (
        <div className="rounded-xl border border-warn-dot/50 bg-raised shadow-float">
          {open.length > 1 && (
            <div className="flex items-center gap-1 border-b border-line px-2 py-0.5 text-xs text-muted tabular-nums">
              <span className="grow pl-1.5">{m.approvals}</span>
              <IconButton icon={ChevronLeft} label={m.back} size={14} box="small" disabled={index === 0} onClick={() => setAt(index - 1)} />
              {m.approvalOf(index + 1, open.length)}
              <IconButton
                icon={ChevronRight}
                label={m.more}
                size={14}
                box="small"
                disabled={index === open.length - 1}
                onClick={() => setAt(index + 1)}
              />
            </div>
          )}
          <ApprovalCard key={approval.id} approval={approval} />
        </div>
      )}
    </section>
  )
}

function ApprovalCard({ approval }: { approval: Approval }) {
  const m = useMessages()
  const [busy, setBusy] = useState(false)
  const answer = (input: ApprovalInput): void => {
    if (busy) return
    setBusy(true)
    void answerApproval(approval.id, input).then(() => setBusy(false))
  }
  if (approval.kind === 'question') return <QuestionForm approval={approval} busy={busy} onAnswer={answer} />
  return (
    <div className="flex flex-col gap-2.5 p-3">
      {approval.kind === 'plan' ? <Plan approval={approval} /> : <ToolAsk approval={approval} />}
      <Buttons
        busy={busy}
        onAnswer={answer}
        yes={approval.kind === 'plan' ? m.planAllow : m.allow}
        no={approval.kind === 'plan' ? m.planDeny : m.deny}
      />
    </div>
  )
}

function ToolAsk({ approval }: { approval: Approval }) {
  const m = useMessages()
  const { workspace, isOwnFolder } = useSessionContext()
  const tool = summarizeTool(approval.toolName, approval.input, workspace)
  return (
    <>
      <div className="flex items-start gap-2">
        <p className="min-w-0 grow font-medium [overflow-wrap:anywhere]">
          {m.will(tool.kind, tool, isOwnFolder ? m.itsFolder : folderName(workspace))}
        </p>
        <time className="shrink-0 pt-0.5 text-xs text-faint" dateTime={approval.requestedAt}>
          {m.askedAt(clockTime(approval.requestedAt, m.locale))}
        </time>
      </div>
      {tool.detail !== '' && tool.kind === 'shell' && <p className="-mt-1.5 text-sm text-muted">{tool.detail}</p>}
      <div className="max-h-[40vh] overflow-y-auto rounded-lg border border-line bg-code">
        <ExactInput approval={approval} tool={tool} />
      </div>
      {tool.dangers.length > 0 && (
        <p className="flex items-center gap-1.5 text-sm text-warn">
          <ShieldAlert size={15} className="shrink-0" aria-hidden />
          {tool.dangers.map((danger) => m.dangers[danger]).join(' · ')}
        </p>
      )}
    </>
  )
}

/** The last part of the path; the whole of it stands in the header. */
const folderName = (path: string | null): string => path?.split('/').findLast((part) => part !== '') ?? '/'

function ExactInput({ approval, tool }: { approval: Approval; tool: ToolSummary }) {
  const { input } = approval
  const diff = tool.kind === 'edit' || tool.kind === 'write' ? diffOfCall(input) : null
  if (diff !== null) return <DiffView diff={diff} path={tool.object} error={null} />
  const command = tool.kind === 'shell' ? fieldOf(input, 'command') : null
  return <Output text={command ?? (typeof input === 'string' ? input : JSON.stringify(input, null, 2))} />
}

function Plan({ approval }: { approval: Approval }) {
  const m = useMessages()
  return (
    <>
      <p className="font-medium">{m.planTitle}</p>
      <div className="max-h-[50vh] overflow-y-auto rounded-lg border border-line bg-code px-3.5 py-2.5">
        <Markdown text={fieldOf(approval.input, 'plan') ?? ''} streaming={false} />
      </div>
    </>
  )
}

function fieldOf(input: Json, name: string): string | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  const value = input[name]
  return typeof value === 'string' ? value : null
}

/** Allow and deny, by hand or by A and D; a reason goes to the agent. */
function Buttons({ busy, onAnswer, yes, no }: { busy: boolean; onAnswer: (input: ApprovalInput) => void; yes: string; no: string }) {
  const m = useMessages()
  const [reason, setReason] = useState<string | null>(null)
  const deny = (): void => onAnswer({ decision: 'deny', ...(reason === null || reason.trim() === '' ? {} : { reason: reason.trim() }) })
  useKeys((event) => {
    // With Alt they work while a message is being written; `code` because Alt changes the letter on a Mac.
    if (event.metaKey || event.ctrlKey || (isTyping(event) && !event.altKey)) return false
    if (event.code === 'KeyA' && !event.shiftKey) return onAnswer({ decision: 'allow' })
    if (event.code === 'KeyD' && !event.shiftKey) return deny()
    return false
  })
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button look="primary" icon={Check} busy={busy} onClick={() => onAnswer({ decision: 'allow' })}>
        {yes} <Key>A</Key>
      </Button>
      <Button icon={X} disabled={busy} onClick={deny}>
        {no} <Key>D</Key>
      </Button>
      {reason === null ? (
        <Button look="quiet" onClick={() => setReason('')}>
          {m.denyWithReason}
        </Button>
      ) : (
        <input
          autoFocus
          aria-label={m.denyReason}
          placeholder={m.denyReason}
          className={`${inputClass} min-w-40 flex-1`}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            if (event.key === 'Enter') deny()
            if (event.key === 'Escape') setReason(null)
          }}
        />
      )}
    </div>
  )
}

function Key({ children }: { children: string }) {
  return (
    <kbd className="rounded border border-current px-1 py-px font-mono text-[0.714rem] leading-none opacity-60 max-md:hidden" aria-hidden>
      {children}
    </kbd>
  )
}

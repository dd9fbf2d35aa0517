/** Name, agent, model, permissions, folder, and what is seldom needed in a menu. */
import { ChevronDown, ClipboardCopy, Ellipsis, FolderOpen, Layers, Link2, Pencil, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Agent, PermissionMode, Session, SessionView } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { deleteSession, noticeOf, renameSession } from '../state/actions.ts'
import { copyText } from '../state/clipboard.ts'
import { tokens } from '../state/format.ts'
import { moodOf } from '../state/needs.ts'
import { notify } from '../state/notices.ts'
import { refreshLists, useAgents, useInfo, useProviders } from '../state/queries.ts'
import { go, paths } from '../state/route.ts'
import { client } from '../state/store.ts'
import { FolderDialog } from './folder-dialog.tsx'
import { Link } from './link.tsx'
import { RailButton } from './place-header.tsx'
import { Confirm, cx, Dot, Menu } from './ui.tsx'

export function SessionHeader({ session, view }: { session: Session | null; view: SessionView | null }) {
  const m = useMessages()
  const agent = useAgents().data?.find((each) => each.id === session?.agentId)
  return (
    <header className="flex min-h-13 shrink-0 items-center gap-2 border-b border-line px-4 py-1.5">
      <RailButton />
      <h1 className="sr-only">{session?.name ?? m.loading}</h1>
      <div className="min-w-0 grow">
        {session === null ? (
          <div className="late h-4 w-40 rounded bg-hover" />
        ) : (
          <>
            <div className="flex items-center gap-1">
              <span className="-ml-1">
                <Dot mood={moodOf(session)} />
              </span>
              <NameField session={session} />
            </div>
            <div className="flex min-w-0 items-center gap-x-2 text-xs text-muted">
              {agent === undefined ? (
                <span>{session.agentId === null ? m.noAgentGroup : ''}</span>
              ) : (
                <>
                  <Link href={paths.agent(agent.id)} className="shrink-0 rounded hover:text-text">
                    {agent.name}
                  </Link>
                  <ModelSelect agent={agent} />
                  <ModeSelect agent={agent} />
                </>
              )}
              <span className="truncate font-mono text-[0.929em] text-faint max-sm:hidden" title={session.workspace.path} dir="rtl">
                <bdi>{session.workspace.path}</bdi>
              </span>
            </div>
          </>
        )}
      </div>
      {view !== null && view.background.length > 0 && <Background view={view} />}
      {view?.contextUsage != null && <ContextMeter used={view.contextUsage.usedTokens} max={view.contextUsage.maxTokens} />}
      {session !== null && <SessionMenu session={session} />}
    </header>
  )
}

/** The name, edited where it stands; Enter or leaving keeps it, Escape does not. */
function NameField({ session }: { session: Session }) {
  const m = useMessages()
  const [draft, setDraft] = useState<string | null>(null)
  const keep = (): void => {
    const name = draft?.trim()
    setDraft(null)
    if (name !== undefined && name !== '' && name !== session.name) void renameSession(session.id, name)
  }
  return (
    <input
      id="session-name"
      aria-label={m.sessionName}
      className="-ml-1 field-sizing-content max-w-full min-w-8 truncate rounded border border-transparent bg-transparent px-1 font-semibold hover:border-line focus:border-line-strong focus:bg-bg focus:outline-none"
      value={draft ?? session.name}
      placeholder={m.unnamed}
      maxLength={255}
      onChange={(event) => setDraft(event.target.value)}
      onFocus={(event) => event.target.select()}
      onBlur={keep}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') {
          setDraft(null)
          event.currentTarget.value = session.name
          event.currentTarget.blur()
        }
      }}
    />
  )
}

async function changeAgent(agent: Agent, change: { modelId?: string; permissionMode?: PermissionMode }): Promise<void> {
  try {
    await client.agents.update(agent.id, change, agent.rev)
  } catch (error) {
    notify(noticeOf(error))
  }
  await refreshLists('agents')
}

const quietSelect =
  'field-sizing-content max-w-44 shrink-0 cursor-pointer appearance-none truncate rounded border border-transparent bg-transparent py-0 pr-4 pl-1 text-xs text-muted hover:border-line hover:text-text [&>option]:bg-raised [&>option]:text-text'

/** A choice that looks like the text it replaces, with a small sign that it can be changed. */
function Quiet({ children }: { children: ReactNode }) {
  return (
    <span className="relative -ml-1 inline-flex shrink-0 items-center">
      {children}
      <ChevronDown size={11} className="pointer-events-none absolute right-1 text-faint" aria-hidden />
    </span>
  )
}

function ModelSelect({ agent }: { agent: Agent }) {
  const m = useMessages()
  const models = useProviders().data?.find((provider) => provider.id === agent.providerId)?.models ?? []
  const isListed = models.some((model) => model.id === agent.modelId)
  return (
    <Quiet>
      <select
        aria-label={m.modelFor(agent.name)}
        title={m.modelFor(agent.name)}
        className={quietSelect}
        value={agent.modelId ?? ''}
        onChange={(event) => void changeAgent(agent, { modelId: event.target.value })}
      >
        {!isListed && <option value={agent.modelId ?? ''}>{agent.modelId ?? m.noModel}</option>}
        {models.map((model) => (
          <option key={model.id} value={model.id}>
            {model.name ?? model.id}
          </option>
        ))}
      </select>
    </Quiet>
  )
}

function ModeSelect({ agent }: { agent: Agent }) {
  const m = useMessages()
  const driver = useInfo().data?.drivers.find((each) => each.type === agent.type)
  const modes = driver?.capabilities.permissionModes ?? [agent.permissionMode]
  const shown = modes.includes(agent.permissionMode) ? modes : [agent.permissionMode, ...modes]
  return (
    <Quiet>
      <select
        aria-label={m.modeFor(agent.name)}
        title={`${m.modeHints[agent.permissionMode] ?? ''}\n${m.modeFor(agent.name)}`}
        className={cx(quietSelect, agent.permissionMode === 'bypassPermissions' && 'text-warn')}
        value={agent.permissionMode}
        onChange={(event) => void changeAgent(agent, { permissionMode: event.target.value as PermissionMode })}
      >
        {shown.map((mode) => (
          <option key={mode} value={mode}>
            {m.modes[mode] ?? mode}
          </option>
        ))}
      </select>
    </Quiet>
  )
}

/** How full the agent's context is: a ring that turns amber near the end. */
function ContextMeter({ used, max }: { used: number; max: number | null }) {
  const m = useMessages()
  const share = max === null || max === 0 ? 0 : Math.min(1, used / max)
  const text = m.contextMeter(tokens(used), max === null ? null : tokens(max))
  return (
    <span
      className="flex shrink-0 items-center gap-1.5 text-xs text-muted tabular-nums max-sm:hidden"
      title={text}
      role="img"
      aria-label={text}
    >
      {max !== null && (
        <svg width="16" height="16" viewBox="0 0 16 16" className="-rotate-90" aria-hidden>
          <circle cx="8" cy="8" r="6" fill="none" strokeWidth="2.5" className="stroke-line" />
          <circle
            cx="8"
            cy="8"
            r="6"
            fill="none"
            strokeWidth="2.5"
            strokeDasharray={`${String(share * 37.7)} 37.7`}
            className={share > 0.8 ? 'stroke-warn-dot' : 'stroke-accent'}
          />
        </svg>
      )}
      {max === null ? tokens(used) : `${String(Math.round(share * 100))} %`}
    </span>
  )
}

function Background({ view }: { view: SessionView }) {
  const m = useMessages()
  const running = view.background.filter((task) => task.status === 'running')
  const list = view.background.map((task) => `${task.status === 'running' ? '•' : '✓'} ${task.title}`).join('\n')
  if (running.length === 0) return null
  return (
    <span className="flex shrink-0 items-center gap-1 rounded-md px-1.5 text-xs text-muted" title={list}>
      <Layers size={14} aria-hidden />
      <span className="max-sm:sr-only">{m.backgroundTasks(running.length)}</span>
    </span>
  )
}

function SessionMenu({ session }: { session: Session }) {
  const m = useMessages()
  const [asks, setAsks] = useState<'delete' | 'folder' | null>(null)
  return (
    <>
      <Menu
        label={m.more}
        icon={Ellipsis}
        items={[
          {
            label: m.rename,
            icon: Pencil,
            onSelect: () => setTimeout(() => document.querySelector<HTMLInputElement>('#session-name')?.focus()),
          },
          {
            label: m.copyPath,
            icon: ClipboardCopy,
            onSelect: () => void copyText(session.workspace.path).then((done) => done && notify({ text: m.copied })),
          },
          {
            label: m.copyLink,
            icon: Link2,
            onSelect: () => void copyText(location.origin + paths.session(session.id)).then((done) => done && notify({ text: m.copied })),
          },
          { label: m.changeFolder, icon: FolderOpen, onSelect: () => setAsks('folder') },
          'line',
          { label: m.deleteSession, icon: Trash2, danger: true, onSelect: () => setAsks('delete') },
        ]}
      />
      {asks === 'folder' && <FolderDialog sessionId={session.id} folder={session.workspace.path} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={m.deleteSessionTitle}
          text={m.deleteSessionText}
          action={m.remove}
          onClose={() => setAsks(null)}
          onConfirm={() => void deleteSession(session.id).then((done) => done && go(paths.home))}
        />
      )}
    </>
  )
}

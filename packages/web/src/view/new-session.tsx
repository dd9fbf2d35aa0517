/** Where a session begins: what should be done, by whom, in which folder. And the way there the first time. */
import { ArrowUp, Bot, Check, FolderOpen } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { nameFrom, newIdempotencyKey, WheelhouseError, type Agent, type Provider } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { textIn } from '../i18n/problems.ts'
import { noticeOf, sendMessage } from '../state/actions.ts'
import { readDraft, writeDraft } from '../state/drafts.ts'
import { notify } from '../state/notices.ts'
import { useAgents, useInfo, useProviders } from '../state/queries.ts'
import { go, paths } from '../state/route.ts'
import { client, dispatch } from '../state/store.ts'
import { readStored, writeStored } from '../state/stored.ts'
import { isTouch } from './media.ts'
import { PlaceHeader } from './place-header.tsx'
import { Button, cx } from './ui.tsx'

const PLACE = 'new'

export function NewSession({ agentId }: { agentId: string | null }) {
  const m = useMessages()
  const providers = useProviders().data
  const agents = useAgents().data
  if (providers === undefined || agents === undefined) return <PlaceHeader title={m.newSession} />
  const isFirst = agents.length === 0
  return (
    <>
      <PlaceHeader title={m.newSession} />
      <div className="min-h-0 grow overflow-y-auto px-4">
        <div className="mx-auto flex min-h-full max-w-2xl flex-col justify-center gap-6 py-10">
          {isFirst ? <Steps providers={providers} /> : <Start agents={agents} agentId={agentId} />}
        </div>
      </div>
    </>
  )
}

/** The first run: what is there already is ticked off. */
function Steps({ providers }: { providers: Provider[] }) {
  const m = useMessages()
  const hasProvider = providers.length > 0
  return (
    <>
      <h2 className="text-xl font-semibold">{m.firstTitle}</h2>
      <ol className="flex flex-col gap-2">
        <Step number={1} title={m.firstProvider} text={m.firstProviderText} isDone={hasProvider} isNext={!hasProvider}>
          <Button look="primary" onClick={() => go(paths.provider('new'))}>
            {m.addProvider}
          </Button>
        </Step>
        <Step number={2} title={m.firstAgent} text={m.firstAgentText} isDone={false} isNext={hasProvider}>
          <Button look="primary" onClick={() => go(paths.agent('new'))}>
            {m.addAgent}
          </Button>
        </Step>
        <Step number={3} title={m.firstMessage} text={m.firstMessageText} isDone={false} isNext={false} />
      </ol>
    </>
  )
}

function Step({
  number,
  title,
  text,
  isDone,
  isNext,
  children,
}: {
  number: number
  title: string
  text: string
  isDone: boolean
  isNext: boolean
  children?: ReactNode
}) {
  const m = useMessages()
  return (
    <li className={cx('flex items-center gap-3 rounded-xl border p-4', isNext ? 'border-line-strong bg-raised' : 'border-line text-muted')}>
      <span
        className={cx(
          'flex size-7 shrink-0 items-center justify-center rounded-full text-sm font-semibold',
          isDone ? 'bg-accent-soft text-accent' : 'bg-sunken text-muted',
        )}
      >
        {isDone ? <Check size={15} aria-label={m.done} /> : number}
      </span>
      <span className="grow">
        <span className="block font-medium">{title}</span>
        <span className="block text-sm text-muted">{text}</span>
      </span>
      {isNext && children}
    </li>
  )
}

function Start({ agents, agentId }: { agents: Agent[]; agentId: string | null }) {
  const m = useMessages()
  const info = useInfo().data
  const usable = (agent: Agent): boolean => info?.drivers.find((driver) => driver.type === agent.type)?.installed !== false
  const last = readStored('last-agent')
  const [picked, setPicked] = useState<string | null>(null)
  const [text, setText] = useState(() => readDraft(PLACE))
  const [folder, setFolder] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  // One key for this page: pressing Enter again after trouble of the line cannot make a second session.
  const [key, setKey] = useState(newIdempotencyKey)
  useEffect(() => writeDraft(PLACE, text), [text])
  const agent = [picked, agentId, last].flatMap((id) => agents.find((each) => each.id === id) ?? [])[0] ?? agents.find(usable) ?? agents[0]
  const start = async (): Promise<void> => {
    if (agent === undefined || text.trim() === '' || busy) return
    setBusy(true)
    setError(null)
    try {
      const workspace = folder === null ? ({ kind: 'system' } as const) : ({ kind: 'user', path: folder.trim() } as const)
      const session = await client.sessions.create({ agentId: agent.id, name: nameFrom(text), workspace }, { idempotencyKey: key })
      writeStored('last-agent', agent.id)
      writeDraft(PLACE, '')
      dispatch({ type: 'session', session })
      sendMessage(session.id, text, 'steer')
      go(paths.session(session.id), true)
    } catch (cause) {
      setBusy(false)
      if (cause instanceof WheelhouseError && cause.problem !== null) {
        setError(textIn(m, cause.problem))
        setKey(newIdempotencyKey())
      } else notify(noticeOf(cause))
    }
  }
  return (
    <>
      <h2 className="text-xl font-semibold">{m.newTitle}</h2>
      <form
        className="rounded-xl border border-line-strong bg-raised focus-within:border-accent"
        onSubmit={(event) => {
          event.preventDefault()
          void start()
        }}
      >
        <textarea
          autoFocus
          aria-label={m.newTitle}
          placeholder={isTouch ? m.newPlaceholderTouch : m.newPlaceholder}
          className="block field-sizing-content max-h-[50dvh] min-h-24 w-full resize-none bg-transparent px-4 pt-3 outline-none max-md:text-[16px]"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            if (event.key === 'Escape') event.currentTarget.blur()
            // On a touch keyboard Enter is the only way to a new line; there the button starts.
            if (event.key !== 'Enter' || event.shiftKey || isTouch) return
            event.preventDefault()
            void start()
          }}
        />
        <div className="flex flex-wrap items-center gap-2 p-2 pl-3">
          <label className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
            <Bot size={15} aria-hidden className="shrink-0" />
            <span className="sr-only">{m.agent}</span>
            <select
              className="max-w-52 cursor-pointer truncate rounded-md bg-transparent py-1 hover:text-text [&>option]:bg-raised [&>option]:text-text"
              value={agent?.id ?? ''}
              onChange={(event) => setPicked(event.target.value)}
            >
              {agents.map((each) => (
                <option key={each.id} value={each.id} disabled={!usable(each)}>
                  {usable(each) ? each.name : `${each.name} (${m.notInstalled})`}
                </option>
              ))}
            </select>
          </label>
          <label className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
            <FolderOpen size={15} aria-hidden className="shrink-0" />
            <span className="sr-only">{m.workspace}</span>
            <select
              className="cursor-pointer rounded-md bg-transparent py-1 hover:text-text [&>option]:bg-raised [&>option]:text-text"
              value={folder === null ? 'system' : 'user'}
              onChange={(event) => setFolder(event.target.value === 'system' ? null : '')}
            >
              <option value="system">{m.ownFolder}</option>
              <option value="user">{m.existingFolder}</option>
            </select>
          </label>
          {folder !== null && (
            <input
              autoFocus
              required
              aria-label={m.folderPath}
              placeholder="/"
              title={m.folderHint}
              className="h-7 min-w-40 flex-1 rounded-md border border-line-strong bg-bg px-2 font-mono text-sm"
              value={folder}
              onChange={(event) => setFolder(event.target.value)}
            />
          )}
          <Button
            type="submit"
            look="primary"
            icon={ArrowUp}
            busy={busy}
            disabled={text.trim() === '' || folder?.trim() === ''}
            className="ml-auto"
          >
            {m.startSession}
          </Button>
        </div>
      </form>
      <p role="alert" className="-mt-3 text-sm text-error empty:hidden">
        {error}
      </p>
      {agent?.name.toLowerCase().includes('practice') === true && <p className="-mt-3 text-sm text-muted">{m.practiceNote}</p>}
    </>
  )
}

/** Agents: the list, and the form of one. */
import { Bot, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Agent, AgentInput, HostInfo, PermissionMode, Provider } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { notify } from '../state/notices.ts'
import { refreshLists, useAgents, useInfo, useProviders } from '../state/queries.ts'
import { go, paths } from '../state/route.ts'
import { client, useApp } from '../state/store.ts'
import { FormError, useSubmit } from './forms.tsx'
import { Nothing } from './frame.tsx'
import { PlaceBody, PlaceHeader } from './place-header.tsx'
import { ThingList } from './thing-list.tsx'
import { Button, Confirm, Field, inputClass } from './ui.tsx'

export function AgentList() {
  const m = useMessages()
  const agents = useAgents().data
  const providers = useProviders().data
  const counts = useApp((state) => JSON.stringify(countByAgent(Object.values(state.sessions ?? {}))))
  const sessionCounts = JSON.parse(counts) as { [agentId: string]: number }
  return (
    <>
      <PlaceHeader title={m.agents}>
        <Button icon={Plus} onClick={() => go(paths.agent('new'))}>
          {m.addAgent}
        </Button>
      </PlaceHeader>
      <PlaceBody>
        <ThingList
          things={agents}
          empty={{ title: m.noAgents, hint: m.noAgentsHint }}
          icon={Bot}
          href={(agent) => paths.agent(agent.id)}
          facts={(agent) => [
            agent.type,
            providers?.find((provider) => provider.id === agent.providerId)?.name,
            agent.modelId ?? m.noModel,
            m.modes[agent.permissionMode] ?? agent.permissionMode,
          ]}
          aside={(agent) => (
            <span className="shrink-0 text-sm text-faint tabular-nums max-sm:hidden">{m.agentSessions(sessionCounts[agent.id] ?? 0)}</span>
          )}
        />
      </PlaceBody>
    </>
  )
}

function countByAgent(sessions: readonly { agentId: string | null }[]): { [agentId: string]: number } {
  const counts: { [agentId: string]: number } = {}
  for (const { agentId } of sessions) if (agentId !== null) counts[agentId] = (counts[agentId] ?? 0) + 1
  return counts
}

export function AgentForm({ id }: { id: string }) {
  const m = useMessages()
  const agents = useAgents().data
  const providers = useProviders().data
  const info = useInfo().data
  const agent = agents?.find((each) => each.id === id)
  const title = id === 'new' ? m.addAgent : (agent?.name ?? m.agent)
  if (agents === undefined || providers === undefined || info === undefined) return <PlaceHeader title={title} />
  if (id !== 'new' && agent === undefined) return <Nothing text={m.pageGone} />
  return (
    <>
      <PlaceHeader title={title}>{agent !== undefined && <DeleteAgent agent={agent} />}</PlaceHeader>
      <PlaceBody narrow>
        <Fields key={agent?.rev ?? 0} agent={agent ?? null} providers={providers} info={info} />
      </PlaceBody>
    </>
  )
}

type Draft = Required<Omit<AgentInput, 'mcpServerIds' | 'skillIds' | 'channels' | 'language'>>

function draftOf(agent: Agent | null, providers: Provider[], info: HostInfo): Draft {
  if (agent !== null) {
    const { name, type, providerId, modelId, instructions, permissionMode, disabledTools } = agent
    return { name, type, providerId, modelId, instructions, permissionMode, disabledTools }
  }
  const driver = info.drivers.find((each) => each.installed) ?? info.drivers[0]
  const provider = providers[0]
  return {
    name: '',
    type: driver?.type ?? 'claude-code',
    providerId: provider?.id ?? null,
    modelId: provider?.models[0]?.id ?? null,
    instructions: '',
    permissionMode: 'default',
    disabledTools: [],
  }
}

function Fields({ agent, providers, info }: { agent: Agent | null; providers: Provider[]; info: HostInfo }) {
  const m = useMessages()
  const [draft, setDraft] = useState(() => draftOf(agent, providers, info))
  const [tools, setTools] = useState(draft.disabledTools.join(', '))
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change })
  const provider = providers.find((each) => each.id === draft.providerId)
  const driver = info.drivers.find((each) => each.type === draft.type)
  const modes = driver?.capabilities.permissionModes ?? [draft.permissionMode]
  const { submit, busy, error } = useSubmit(async (key) => {
    const input = {
      ...draft,
      name: draft.name.trim(),
      disabledTools: tools
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    }
    const saved =
      agent === null ? await client.agents.create(input, { idempotencyKey: key }) : await client.agents.update(agent.id, input, agent.rev)
    // The page that follows chooses from the list.
    await refreshLists('agents')
    notify({ text: m.saved })
    go(agent === null ? paths.create(saved.id) : paths.agents)
  })
  return (
    <form className="flex flex-col gap-5" onSubmit={submit}>
      <Field label={m.agentName}>
        {(props) => (
          <input
            {...props}
            required
            autoFocus={agent === null}
            maxLength={255}
            className={inputClass}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={m.runtime} {...(driver?.advice == null || driver.installed ? {} : { hint: driver.advice })}>
        {(props) => (
          <select {...props} className={inputClass} value={draft.type} onChange={(event) => set({ type: event.target.value })}>
            {info.drivers.map((each) => (
              <option key={each.type} value={each.type}>
                {each.installed ? each.name : `${each.name} (${m.notInstalled})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field label={m.provider}>
          {(props) => (
            <select
              {...props}
              required
              className={inputClass}
              value={draft.providerId ?? ''}
              onChange={(event) =>
                set({
                  providerId: event.target.value,
                  modelId: providers.find((each) => each.id === event.target.value)?.models[0]?.id ?? null,
                })
              }
            >
              <option value="" disabled>
                {m.chooseProvider}
              </option>
              {providers.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={m.model}>
          {(props) => (
            <select
              {...props}
              required
              className={inputClass}
              value={draft.modelId ?? ''}
              onChange={(event) => set({ modelId: event.target.value })}
            >
              <option value="" disabled>
                {m.chooseModel}
              </option>
              {draft.modelId !== null && provider?.models.every((model) => model.id !== draft.modelId) !== false && (
                <option value={draft.modelId}>{draft.modelId}</option>
              )}
              {provider?.models.map((model) => (
                <option key={model.id} value={model.id}>
                  {model.name ?? model.id}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label={m.permissions} hint={m.modeHints[draft.permissionMode] ?? ''}>
        {(props) => (
          <select
            {...props}
            className={inputClass}
            value={draft.permissionMode}
            onChange={(event) => set({ permissionMode: event.target.value as PermissionMode })}
          >
            {(modes.includes(draft.permissionMode) ? modes : [draft.permissionMode, ...modes]).map((mode) => (
              <option key={mode} value={mode}>
                {m.modes[mode] ?? mode}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={`${m.instructions} (${m.optional})`} hint={m.instructionsHint}>
        {(props) => (
          <textarea
            {...props}
            rows={6}
            className={inputClass}
            value={draft.instructions}
            onChange={(event) => set({ instructions: event.target.value })}
          />
        )}
      </Field>
      <Field label={`${m.disabledTools} (${m.optional})`} hint={m.disabledToolsHint}>
        {(props) => (
          <input
            {...props}
            className={`${inputClass} font-mono text-sm`}
            value={tools}
            onChange={(event) => setTools(event.target.value)}
          />
        )}
      </Field>
      <FormError error={error} onReload={() => void refreshLists('agents')} />
      <div className="flex items-center justify-end gap-3">
        {agent !== null && <p className="grow text-sm text-muted">{m.changesApply}</p>}
        <Button onClick={() => go(paths.agents)}>{m.cancel}</Button>
        <Button type="submit" look="primary" busy={busy}>
          {m.save}
        </Button>
      </div>
    </form>
  )
}

function DeleteAgent({ agent }: { agent: Agent }) {
  const m = useMessages()
  const [asks, setAsks] = useState(false)
  const { run, busy } = useSubmit(async () => {
    await client.agents.remove(agent.id, agent.rev)
    await refreshLists('agents')
    go(paths.agents)
  })
  return (
    <>
      <Button look="quiet" icon={Trash2} busy={busy} onClick={() => setAsks(true)}>
        <span className="max-sm:sr-only">{m.deleteAgent}</span>
      </Button>
      {asks && (
        <Confirm title={m.deleteAgentTitle} text={m.deleteAgentText} action={m.remove} onClose={() => setAsks(false)} onConfirm={run} />
      )}
    </>
  )
}

/** Providers: the list, and the form of one. A key goes in and never comes out. */
import { KeyRound, Plus, Trash2, Unplug } from 'lucide-react'
import { useState } from 'react'
import type { Provider, ProviderProtocol } from '@wheelhouse/client'
import { useMessages } from '../i18n/index.ts'
import { noticeOf } from '../state/actions.ts'
import { readModels, writeModels } from '../state/model-lines.ts'
import { notify } from '../state/notices.ts'
import { refreshLists, useAgents, useProviders } from '../state/queries.ts'
import { go, paths } from '../state/route.ts'
import { client } from '../state/store.ts'
import { FormError, useSubmit } from './forms.tsx'
import { Nothing } from './frame.tsx'
import { PlaceBody, PlaceHeader } from './place-header.tsx'
import { ThingList } from './thing-list.tsx'
import { Button, Confirm, cx, Field, inputClass } from './ui.tsx'

export function ProviderList() {
  const m = useMessages()
  const providers = useProviders().data
  return (
    <>
      <PlaceHeader title={m.providers}>
        <Button icon={Plus} onClick={() => go(paths.provider('new'))}>
          {m.addProvider}
        </Button>
      </PlaceHeader>
      <PlaceBody>
        <ThingList
          things={providers}
          empty={{ title: m.noProviders, hint: m.noProvidersHint }}
          icon={Unplug}
          href={(provider) => paths.provider(provider.id)}
          facts={(provider) => [m.protocols[provider.protocol] ?? provider.protocol, provider.baseUrl]}
          aside={(provider) => !provider.hasApiKey && <span className="shrink-0 text-sm text-faint">{m.keyMissing}</span>}
        />
      </PlaceBody>
    </>
  )
}

export function ProviderForm({ id }: { id: string }) {
  const m = useMessages()
  const providers = useProviders().data
  const provider = providers?.find((each) => each.id === id)
  const title = id === 'new' ? m.addProvider : (provider?.name ?? m.provider)
  if (providers === undefined) return <PlaceHeader title={title} />
  if (id !== 'new' && provider === undefined) return <Nothing text={m.pageGone} />
  return (
    <>
      <PlaceHeader title={title}>
        {provider !== undefined && (
          <>
            <TestProvider provider={provider} />
            <DeleteProvider provider={provider} />
          </>
        )}
      </PlaceHeader>
      <PlaceBody narrow>
        <Fields key={provider?.rev ?? 0} provider={provider ?? null} />
      </PlaceBody>
    </>
  )
}

/** Where each protocol's best known server is; a person may put any other. */
const ADDRESSES: { readonly [protocol in ProviderProtocol]: string } = {
  anthropic: 'https://api.anthropic.com',
  'openai-chat': 'https://api.openai.com/v1',
  'openai-responses': 'https://api.openai.com/v1',
}

function Fields({ provider }: { provider: Provider | null }) {
  const m = useMessages()
  const [name, setName] = useState(provider?.name ?? '')
  const [protocol, setProtocol] = useState<ProviderProtocol>(provider?.protocol ?? 'anthropic')
  const [baseUrl, setBaseUrl] = useState(provider?.baseUrl ?? ADDRESSES.anthropic)
  const [apiKey, setApiKey] = useState('')
  const [forget, setForget] = useState(false)
  const [lines, setLines] = useState(writeModels(provider?.models ?? []))
  const agents = useAgents().data
  const read = readModels(lines, provider?.models ?? [])
  const { submit, busy, error } = useSubmit(async (key) => {
    if ('bad' in read) return
    const input = { name: name.trim(), protocol, baseUrl: baseUrl.trim(), models: read.models }
    const secret = apiKey.trim()
    if (provider === null)
      await client.providers.create({ ...input, ...(secret === '' ? {} : { apiKey: secret }) }, { idempotencyKey: key })
    else
      await client.providers.update(
        provider.id,
        { ...input, ...(forget ? { apiKey: null } : secret === '' ? {} : { apiKey: secret }) },
        provider.rev,
      )
    await refreshLists('providers')
    notify({ text: m.saved })
    // Without an agent it was the first of the steps that the start shows.
    go(provider === null && agents?.length === 0 ? paths.create() : paths.providers)
  })
  const chooseProtocol = (next: ProviderProtocol): void => {
    if (baseUrl === '' || Object.values(ADDRESSES).includes(baseUrl)) setBaseUrl(ADDRESSES[next])
    setProtocol(next)
  }
  return (
    <form className="flex flex-col gap-5" onSubmit={submit} autoComplete="off">
      <Field label={m.providerName}>
        {(props) => (
          <input
            {...props}
            required
            autoFocus={provider === null}
            maxLength={255}
            className={inputClass}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={m.protocol}>
        {(props) => (
          <select
            {...props}
            className={inputClass}
            value={protocol}
            onChange={(event) => chooseProtocol(event.target.value as ProviderProtocol)}
          >
            {Object.entries(m.protocols).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={m.baseUrl}>
        {(props) => (
          <input
            {...props}
            required
            type="url"
            className={cx(inputClass, 'font-mono text-sm')}
            value={baseUrl}
            onChange={(event) => setBaseUrl(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={`${m.apiKey}${provider?.hasApiKey === true ? '' : ` (${m.optional})`}`}
        hint={provider?.hasApiKey === true ? m.keyStored : m.keyNone}
      >
        {(props) => (
          <div className="flex gap-2">
            <input
              {...props}
              type="password"
              autoComplete="off"
              data-1p-ignore
              disabled={forget}
              placeholder={provider?.hasApiKey === true && !forget ? '••••••••••••' : ''}
              className={cx(inputClass, 'font-mono text-sm')}
              value={apiKey}
              onChange={(event) => setApiKey(event.target.value)}
            />
            {provider?.hasApiKey === true && (
              <Button icon={KeyRound} aria-pressed={forget} className={cx(forget && 'bg-active')} onClick={() => setForget(!forget)}>
                {m.forgetKey}
              </Button>
            )}
          </div>
        )}
      </Field>
      <Field label={m.models} hint={m.modelsHint} error={'bad' in read ? m.modelLineBad(read.bad) : null}>
        {(props) => (
          <textarea
            {...props}
            required
            rows={5}
            spellCheck={false}
            className={cx(inputClass, 'font-mono text-sm')}
            value={lines}
            onChange={(event) => setLines(event.target.value)}
          />
        )}
      </Field>
      <FormError error={error} onReload={() => void refreshLists('providers')} />
      <div className="flex justify-end gap-2">
        <Button onClick={() => go(paths.providers)}>{m.cancel}</Button>
        <Button type="submit" look="primary" busy={busy} disabled={'bad' in read}>
          {m.save}
        </Button>
      </div>
    </form>
  )
}

/** One smallest request, so that a wrong key is found before an agent meets it. */
function TestProvider({ provider }: { provider: Provider }) {
  const m = useMessages()
  const [busy, setBusy] = useState(false)
  const test = async (): Promise<void> => {
    setBusy(true)
    try {
      const result = await client.providers.test(provider.id)
      const status = [result.status, result.detail].filter((part) => part !== null).join(' ')
      notify(result.ok ? { text: m.testOk(result.latencyMs) } : { failure: m.testBad(status) })
    } catch (error) {
      notify(noticeOf(error))
    }
    setBusy(false)
  }
  return (
    <Button busy={busy} onClick={() => void test()}>
      {m.testProvider}
    </Button>
  )
}

function DeleteProvider({ provider }: { provider: Provider }) {
  const m = useMessages()
  const [asks, setAsks] = useState(false)
  const { run, busy } = useSubmit(async () => {
    await client.providers.remove(provider.id, provider.rev)
    await refreshLists('providers')
    go(paths.providers)
  })
  return (
    <>
      <Button look="quiet" icon={Trash2} busy={busy} onClick={() => setAsks(true)}>
        <span className="max-sm:sr-only">{m.deleteProvider}</span>
      </Button>
      {asks && (
        <Confirm
          title={m.deleteProviderTitle}
          text={m.deleteProviderText}
          action={m.remove}
          onClose={() => setAsks(false)}
          onConfirm={run}
        />
      )}
    </>
  )
}

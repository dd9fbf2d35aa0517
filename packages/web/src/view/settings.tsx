import type { ReactNode } from 'react'
import { useMessages } from '../i18n/index.ts'
import { notify } from '../state/notices.ts'
import { setPrefs, usePrefs, type Prefs } from '../state/prefs.ts'
import { useInfo } from '../state/queries.ts'
import { client, theLink } from '../state/store.ts'
import { PlaceBody, PlaceHeader } from './place-header.tsx'
import { Button, inputClass } from './ui.tsx'

/** What is set for this browser, and what host it speaks to. */
export function Settings() {
  const m = useMessages()
  const prefs = usePrefs()
  const info = useInfo().data
  return (
    <>
      <PlaceHeader title={m.settings} />
      <PlaceBody narrow>
        <dl className="divide-y divide-line">
          <Row label={m.theme}>
            <Choice label={m.theme} value={prefs.theme} options={Object.entries(m.themes)} onChange={(theme) => setPrefs({ theme })} />
          </Row>
          <Row label={m.language}>
            <Choice
              label={m.language}
              value={prefs.language ?? 'auto'}
              options={[
                ['auto', m.languageAuto],
                ['en', 'English'],
                ['zh', '简体中文'],
              ]}
              onChange={(language) => setPrefs({ language: language === 'auto' ? null : language })}
            />
          </Row>
          <Row label={m.notifications} hint={m.notificationsHint}>
            <input
              type="checkbox"
              aria-label={m.notifications}
              className="size-4 accent-accent"
              checked={prefs.notifications}
              onChange={(event) => void setNotifications(event.target.checked, m.notificationsBlocked)}
            />
          </Row>
          {info !== undefined && (
            <>
              <Row label={m.version}>
                <span className="text-muted">Wheelhouse {info.version}</span>
              </Row>
              <Row label={m.dataDir}>
                <code className="text-sm text-muted [overflow-wrap:anywhere]">{info.dataDir}</code>
              </Row>
              <Row label={m.runtimes}>
                <ul className="text-sm text-muted">
                  {info.drivers.map((driver) => (
                    <li key={driver.type}>
                      {driver.name} {driver.installed ? (driver.version ?? '') : `(${m.notInstalled}) ${driver.advice ?? ''}`}
                    </li>
                  ))}
                </ul>
              </Row>
            </>
          )}
          <Row label="">
            <Button onClick={() => void signOut()}>{m.signOut}</Button>
          </Row>
        </dl>
      </PlaceBody>
    </>
  )
}

function Row({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <div className="flex items-center justify-between gap-6 py-3.5">
      <dt className="min-w-24">
        <span className="font-medium">{label}</span>
        {hint !== undefined && <span className="block text-sm text-muted">{hint}</span>}
      </dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  )
}

function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: T
  options: [string, string][]
  onChange: (value: T) => void
}) {
  return (
    <select aria-label={label} className={inputClass} value={value} onChange={(event) => onChange(event.target.value as T)}>
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  )
}

async function setNotifications(on: boolean, blocked: string): Promise<void> {
  const allowed: Prefs['notifications'] = on && 'Notification' in globalThis && (await Notification.requestPermission()) === 'granted'
  setPrefs({ notifications: allowed })
  if (on && !allowed) notify({ failure: blocked })
}

async function signOut(): Promise<void> {
  try {
    await client.logout()
  } finally {
    theLink()?.wake()
    location.assign('/')
  }
}

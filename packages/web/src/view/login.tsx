import { useMessages } from '../i18n/index.ts'
import { useLoginRefused } from '../state/login.ts'
import { theLink } from '../state/store.ts'
import { Mark } from './mark.tsx'
import { Button, CopyButton } from './ui.tsx'
import { callable } from './words.tsx'

/** For a browser without a cookie: how to get a link. */
export function Login() {
  const m = useMessages()
  const refused = useLoginRefused()
  return (
    <main className="flex h-full items-center justify-center p-6">
      <div className="flex max-w-sm flex-col gap-4">
        <Mark size={36} />
        <h1 className="text-xl font-semibold">{m.loginTitle}</h1>
        {refused && (
          <p role="alert" className="rounded-lg bg-warn-soft px-3 py-2 text-sm text-warn">
            {m.loginUsed}
          </p>
        )}
        <p className="text-muted">{m.loginText}</p>
        <div className="flex items-center justify-between rounded-lg border border-line bg-code py-1 pr-1 pl-3">
          <code>{callable('wheelhouse open')}</code>
          <CopyButton text={callable('wheelhouse open')} />
        </div>
        <p className="text-muted">{m.loginAfter}</p>
        <div>
          <Button onClick={() => theLink()?.wake()}>{m.tryAgain}</Button>
        </div>
      </div>
    </main>
  )
}

/** The page: signs in when a one-time link brought it here, then connects and draws. */
import './theme.css'
import { WheelhouseError } from '@wheelhouse/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { tendOutbox } from './state/actions.ts'
import { noteLogin } from './state/login.ts'
import { applyTheme } from './state/prefs.ts'
import { queries } from './state/queries.ts'
import { tendSessions } from './state/sessions.ts'
import { client, connect, theLink } from './state/store.ts'
import { Frame } from './view/frame.tsx'

const CODE = '#code='

/** Trades the code for a cookie. It leaves the address bar before anything else can read it. */
async function signIn(): Promise<void> {
  if (!location.hash.startsWith(CODE)) return
  const code = location.hash.slice(CODE.length)
  history.replaceState(null, '', location.pathname)
  try {
    await client.login(code)
    noteLogin('done')
    theLink()?.wake()
  } catch (error) {
    if (error instanceof WheelhouseError && error.problem !== null) noteLogin('refused')
  }
}

applyTheme()
await signIn()
connect()
tendSessions()
tendOutbox()
// A link that is opened in the tab that shows the page already changes the fragment alone.
addEventListener('hashchange', () => void signIn())

const root = document.querySelector('#root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Frame />
      </QueryClientProvider>
    </StrictMode>,
  )
}

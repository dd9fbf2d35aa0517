import { NewSession } from './new-session.tsx'

/** The start is where work begins. */
export function Home() {
  return <NewSession agentId={null} />
}

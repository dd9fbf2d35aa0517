/** What a store needs before a session can live in it: a provider, an agent, sessions. For simulation, traces and benchmarks. */
import type { Store } from '../packages/runtime/src/store/store.ts'

const KEYLESS = { idempotencyKey: null, bodyHash: null }

export const AGENT_ID = 'agent'

export function furnishStore(store: Store, type: string, sessions: readonly string[], at: string): void {
  store.insertProvider({ id: 'provider', name: 'p', protocol: 'anthropic', baseUrl: 'http://127.0.0.1:9', models: [], at, ...KEYLESS })
  store.insertAgent({
    id: AGENT_ID,
    name: 'a',
    type,
    providerId: 'provider',
    modelId: 'm',
    instructions: '',
    permissionMode: 'default',
    disabledTools: [],
    mcpServerIds: [],
    skillIds: [],
    channels: [],
    language: null,
    at,
    ...KEYLESS,
  })
  for (const id of sessions) furnishSession(store, id, at)
}

export function furnishSession(store: Store, id: string, at: string): void {
  store.insertSession({ id, agentId: AGENT_ID, name: id, description: '', workspaceKind: 'user', workspacePath: '/', at, ...KEYLESS })
}

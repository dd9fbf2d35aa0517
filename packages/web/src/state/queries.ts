/** Lists that change rarely and come by request: providers, agents, what the host is. */
import { listAll, type Agent, type HostInfo, type Provider } from '@wheelhouse/client'
import { QueryClient, useQuery } from '@tanstack/react-query'
import { client } from './store.ts'

export const queries = new QueryClient({
  // The SDK repeats by itself; a list is read again whenever its page is opened.
  defaultOptions: { queries: { retry: false, staleTime: 5_000, refetchOnWindowFocus: true } },
})

export const useAgents = () => useQuery<Agent[]>({ queryKey: ['agents'], queryFn: () => listAll((query) => client.agents.list(query)) })
export const useProviders = () =>
  useQuery<Provider[]>({ queryKey: ['providers'], queryFn: () => listAll((query) => client.providers.list(query)) })
export const useInfo = () => useQuery<HostInfo>({ queryKey: ['info'], queryFn: () => client.info(), staleTime: 60_000 })

/** Reads a list anew after it was changed here; resolves when those who show it have it. */
export const refreshLists = (name: 'agents' | 'providers'): Promise<void> => queries.invalidateQueries({ queryKey: [name] })

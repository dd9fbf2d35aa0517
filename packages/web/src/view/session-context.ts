import { createContext, useContext } from 'react'

/** The session a block belongs to; paths are told relative to its folder. */
export const SessionContext = createContext<{ sessionId: string; workspace: string | null; isOwnFolder: boolean }>({
  sessionId: '',
  workspace: null,
  isOwnFolder: false,
})

export const useSessionContext = () => useContext(SessionContext)

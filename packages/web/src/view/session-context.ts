import { createContext, useContext } from 'react'

/** The session a block belongs to; paths are told relative to its folder. */
export const SessionContext = createContext<{ sessionId: string; workspace: string | null }>({ sessionId: '', workspace: null })

export const useSessionContext = () => useContext(SessionContext)

/** Sends what waits in the outbox while the line is open. */
import type { Problem, SendResult } from '@wheelhouse/client'
import { afterFailure, nextToSend, type OutboxItem } from './outbox.ts'

export type PostPorts = {
  outbox: () => readonly OutboxItem[]
  isOpen: () => boolean
  send: (item: OutboxItem) => Promise<SendResult>
  /** What went wrong with a call. */
  reasonOf: (error: unknown) => { problem: Problem | null; failure: string | null }
  change: (key: string, change: Partial<OutboxItem>) => void
  /** Calls back after a while: a line may look open for longer than it is. */
  later: (run: () => void) => void
}

/** Gives what to call whenever outbox or line have changed. */
export function makePostman(ports: PostPorts): () => void {
  const deliver = async (item: OutboxItem): Promise<void> => {
    try {
      const { messageId } = await ports.send(item)
      ports.change(item.key, { state: 'sent', messageId })
    } catch (error) {
      const change = afterFailure(ports.reasonOf(error))
      if (change.state === 'waiting') ports.later(() => ports.change(item.key, change))
      else ports.change(item.key, change)
    }
  }
  const post = (): void => {
    while (ports.isOpen()) {
      // Read anew for each: a change is heard here before it is done.
      const [item] = nextToSend(ports.outbox())
      if (item === undefined) return
      ports.change(item.key, { state: 'sending' })
      void deliver(item)
    }
  }
  return post
}

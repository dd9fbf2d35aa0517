/** A session in memory: its state, and the events that wait for it. */
import type { Event, CommandEvent, HostEvent, DriverEvent } from '../core/event.ts'
import type { Generation, Session, Stamp } from '../core/types.ts'

/** An event before it is stamped with ids and the time. */
export type Posted = CommandEvent | HostEvent | { type: 'driver'; generation: Generation; event: DriverEvent }

export type Mailbox = {
  state: Session
  queue: Posted[]
  /** While effects run: how many events they have put before the queue. */
  following: number | null
  /** Nothing is processed any more: the host stops, or the session was given up. */
  stopped: boolean
  /** The head could not be saved: how often it was tried, and the timer that tries again. */
  retry: { tries: number; cancel: () => void } | null
}

export const isCommand = (event: Posted): event is CommandEvent => 'commandId' in event

/** Adds ids and the time; see core/types `Stamp`. Chunks are many and open nothing: they share an empty stamp. */
export function stamped(event: Posted, at: string, newId: () => string): Event {
  if (event.type === 'driver' && event.event.type === 'chunk') return { ...event, stamp: NO_STAMP }
  return { ...event, stamp: { at, turnId: newId(), messageId: newId(), spareId: newId() } }
}

const NO_STAMP: Stamp = { at: '', turnId: '', messageId: '', spareId: '' }

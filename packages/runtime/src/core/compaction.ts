/** Compaction: while it runs nothing is redirected; what it did is a data part of the row, never prose. */
import { accept, refuse, type Draft } from './draft.ts'
import type { CommandEvent, DriverEvent } from './event.ts'
import { journal } from './chunk.ts'
import { openTurn } from './turn.ts'
import { isIdle } from './view.ts'

type Compaction = Extract<DriverEvent, { type: 'compaction-start' | 'compaction-complete' | 'compaction-error' }>

/** A person asks for it: a turn of its own kind with no input. */
export function onCompactRequested(d: Draft, event: Extract<CommandEvent, { type: 'compact-requested' }>): void {
  const { s, stamp } = d
  if (!isIdle(s) || s.queue.some((input) => input.state === 'queued')) {
    refuse(d, event.commandId, 'SESSION_BUSY')
    return
  }
  accept(d, event.commandId, { turnId: stamp.turnId, disposition: 'turn' })
  openTurn(d, {
    id: stamp.turnId,
    messageId: stamp.messageId,
    inputId: null,
    kind: 'compaction',
    origin: 'interactive',
    headless: false,
    modelId: event.modelId,
    steer: false,
    delivery: null,
    sending: 'needed',
    rollOf: null,
  })
}

export function onCompaction(d: Draft, event: Compaction): void {
  const { s } = d
  const { turn } = s
  const running = s.compaction
  if (event.type === 'compaction-start') s.compaction = event.trigger
  else s.compaction = null
  if (turn === null || turn.phase !== 'open') return
  const phase = event.type === 'compaction-start' ? 'started' : event.type === 'compaction-complete' ? 'completed' : 'failed'
  const trigger = event.type === 'compaction-start' ? event.trigger : (running ?? 'auto')
  const anchor = event.type === 'compaction-complete' ? event.anchor : null
  const detail = event.type === 'compaction-error' ? event.message : null
  journal(d, turn, [{ type: 'data-compaction', id: `compaction-${turn.messageId}`, data: { phase, trigger, anchor, detail } }])
}

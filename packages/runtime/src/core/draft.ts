import type { ErrorCode } from '@wheelhouse/client/protocol'
import type { Answer, Effect } from './effect.ts'
import type { Session, Stamp } from './types.ts'
import type { Write } from './write.ts'

/**
 * One step in the making. `s` is a private copy of the session that the rooms of the core change in
 * place; nothing of it is seen outside before `step` returns.
 */
export type Draft = { s: Session; writes: Write[]; effects: Effect[]; stamp: Stamp }

export function accept(d: Draft, commandId: string, answer: Partial<Omit<Extract<Answer, { ok: true }>, 'ok'>> = {}): void {
  d.effects.push({ type: 'reply', commandId, answer: { ok: true, messageId: null, turnId: null, disposition: null, ...answer } })
}

export function refuse(d: Draft, commandId: string, code: ErrorCode, detail = ''): void {
  d.effects.push({ type: 'reply', commandId, answer: { ok: false, code, detail } })
}

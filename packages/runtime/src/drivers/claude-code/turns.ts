/** The turns a connection knows, and which of them a result belongs to. */
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { SendInput } from '../../driver/contract.ts'
import { Shown } from './shown.ts'
import type { ResultFrame } from './signals.ts'
import { SteerBoard, type SteerPorts } from './steers.ts'

export type LiveTurn = {
  turnId: string
  /** Names its message in the CLI's queue; null for turns the agent began itself. */
  uuid: (SDKUserMessage['uuid'] & string) | null
  input: SendInput | null
  steers: SteerBoard
  shown: Shown
  /** The CLI has begun it. */
  taken: boolean
  interrupted: boolean
  /** Its last model message came to its own end: nothing of the answer is missing. */
  answered: boolean
}

export function newTurn(turnId: string, uuid: LiveTurn['uuid'], input: SendInput | null, ports: SteerPorts): LiveTurn {
  return {
    turnId,
    uuid,
    input,
    steers: new SteerBoard(turnId, ports),
    shown: new Shown(),
    taken: false,
    interrupted: false,
    answered: false,
  }
}

/**
 * The turn a result ends: by the messages it names first, by its origin second. Null: the trailer of
 * a turn that is over, or of work nobody has a turn for; it must end nothing (BUG-13).
 */
export function turnOfResult(result: ResultFrame, open: readonly LiveTurn[], active: LiveTurn | null): LiveTurn | null {
  const uuids = result.user_message_uuids ?? (result.user_message_uuid === undefined ? [] : [result.user_message_uuid])
  if (uuids.length > 0) return open.find((turn) => turn.uuid !== null && uuids.includes(turn.uuid)) ?? null
  const byPerson = result.origin === undefined || result.origin.kind === 'human'
  if (!byPerson) return active?.uuid === null ? active : null
  if (active !== null) return active
  // A failure of the process itself names no message: it is the failure of what waits.
  return result.subtype !== 'success' && result.num_turns === 0 ? (open[0] ?? null) : null
}

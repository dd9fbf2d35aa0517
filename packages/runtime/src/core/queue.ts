/** The durable queue (decisions 1 and 7): inputs that nobody has taken yet, in order. */
import { LIMITS, type HeldReason } from '@wheelhouse/client/protocol'
import { accept, refuse, type Draft } from './draft.ts'
import type { CommandEvent } from './event.ts'
import { advance, openInputTurn, type Ending } from './turn.ts'
import type { Session, Turn, WaitingInput } from './types.ts'
import type { Write } from './write.ts'
import { isIdle } from './view.ts'

type Submitted = Extract<CommandEvent, { type: 'message-submitted' }>

/** A message of a client: runs at once, steers the open turn, or waits. Its row is saved before the answer. */
export function onSubmitted(d: Draft, event: Submitted): void {
  const { s, stamp } = d
  const { input } = event
  if (canOpen(s)) {
    insert(d, event, { inputState: 'taken', heldReason: null, steer: false, seq: (s.lastSeq += 1), queuePos: null, turnId: stamp.turnId })
    openInputTurn(d, { ...input, steer: false })
    accept(d, event.commandId, { messageId: input.id, turnId: stamp.turnId, disposition: 'turn' })
    return
  }
  if (s.queue.length >= LIMITS.queueLength) {
    refuse(d, event.commandId, 'QUEUE_FULL', `${s.queue.length} messages wait already`)
    return
  }
  const pos = (s.lastQueuePos += 1)
  const live = s.turn !== null && s.turn.kind === 'user'
  const waiting: WaitingInput = {
    id: input.id,
    pos,
    state: 'queued',
    heldReason: null,
    consumed: false,
    steer: input.when === 'steer' && live,
    origin: input.origin,
    headless: input.headless,
    modelId: input.modelId,
  }
  if (isStopping(s) && !stopRuns(s)) Object.assign(waiting, { state: 'held', heldReason: 'stopped' })
  else if (event.steerable && canSteer(s, event)) waiting.state = 'steering'
  s.queue.push(waiting)
  insert(d, event, {
    inputState: waiting.state,
    heldReason: waiting.heldReason,
    steer: waiting.steer,
    seq: null,
    queuePos: pos,
    turnId: null,
  })
  if (waiting.state === 'steering' && s.turn !== null && s.connection.phase === 'live') {
    d.effects.push({ type: 'redirect', generation: s.connection.generation, turnId: s.turn.id, inputId: input.id })
    accept(d, event.commandId, { messageId: input.id, turnId: s.turn.id, disposition: 'steering' })
  } else accept(d, event.commandId, { messageId: input.id, disposition: 'queued' })
  d.effects.push({ type: 'publish-status' })
}

type InputFacts = Pick<
  Extract<Write, { type: 'insert-input' }>['row'],
  'inputState' | 'heldReason' | 'steer' | 'seq' | 'queuePos' | 'turnId'
>

function insert(d: Draft, event: Submitted, facts: InputFacts): void {
  const { id, origin, headless, parts, modelId, sentBy, idempotencyKey, bodyHash } = event.input
  d.writes.push({ type: 'insert-input', row: { id, origin, headless, parts, modelId, sentBy, idempotencyKey, bodyHash, ...facts } })
}

/** A new message runs at once unless something runs, is being decided, or stands before it; held ones are passed by. */
function canOpen(s: Session): boolean {
  return s.turn === null && s.deferred === null && s.finalizing === null && !s.queue.some((input) => input.state === 'queued')
}

/** Every condition of a redirect (spec README): anything else waits for a turn of its own. */
function canSteer(s: Session, event: Submitted): boolean {
  const { turn } = s
  const { input } = event
  return (
    input.when === 'steer' &&
    !input.headless &&
    turn !== null &&
    turn.kind === 'user' &&
    turn.phase === 'open' &&
    turn.stop === null &&
    !turn.headless &&
    turn.modelId === input.modelId &&
    s.deferred === null &&
    s.compaction === null &&
    s.connection.phase === 'live' &&
    !s.connection.stale
  )
}

const isStopping = (s: Session): boolean => s.turn?.stop != null || s.deferred?.stop != null
const stopRuns = (s: Session): boolean => (s.turn?.stop ?? s.deferred?.stop)?.mode === 'run'

type OnMessage = Extract<CommandEvent, { messageId: string }>

/** Changes, withdraws, resends or dismisses one message that is not taken. */
export function onMessageCommand(d: Draft, event: OnMessage): void {
  const { s } = d
  const input = s.queue.find((waiting) => waiting.id === event.messageId)
  const undecided = event.type === 'message-resent' || event.type === 'message-dismissed'
  if (input === undefined || input.state === 'offered' || undecided !== (input.state === 'unknown')) {
    refuse(d, event.commandId, undecided ? 'INPUT_NOT_UNKNOWN' : 'INPUT_ALREADY_TAKEN')
    return
  }
  if (event.type === 'message-edited') {
    d.writes.push({ type: 'edit-input', id: input.id, parts: event.parts })
    if (input.state === 'steering') {
      takeBack(d, [input])
      // The turn it steers is the one that waits when the agent runs a turn of its own.
      const turn = s.deferred ?? s.turn
      if (turn !== null && s.connection.phase === 'live')
        d.effects.push({ type: 'redirect', generation: s.connection.generation, turnId: turn.id, inputId: input.id })
    }
  } else if (event.type === 'message-resent') move(d, input, 'queued', null)
  else withdraw(d, input)
  accept(d, event.commandId, { messageId: event.messageId })
  d.effects.push({ type: 'publish-status' })
  if (event.type === 'message-resent' && isIdle(s)) advance(d, false)
}

/** One click runs what is held (decision 1). */
export function onQueueRun(d: Draft, commandId: string): void {
  const { s } = d
  for (const input of s.queue) if (input.state === 'held') move(d, input, 'queued', null)
  accept(d, commandId)
  d.effects.push({ type: 'publish-status' })
  advance(d, false)
}

/** Withdraws what is held, and nothing that still runs by itself. */
export function onQueueDiscarded(d: Draft, commandId: string): void {
  for (const input of d.s.queue.slice()) if (input.state === 'held') withdraw(d, input)
  accept(d, commandId)
  d.effects.push({ type: 'publish-status' })
}

/** A Stop that discards withdraws everything that has not left the host and needs no decision. */
export function discardQueue(d: Draft): void {
  for (const input of d.s.queue.slice()) if (input.state !== 'offered' && input.state !== 'unknown') withdraw(d, input)
}

/** The queue does not go on by itself: it waits, with its reason, for a person. */
export function holdQueued(d: Draft, reason: HeldReason): void {
  for (const input of d.s.queue) if (input.state === 'queued') move(d, input, 'held', reason)
}

/**
 * What becomes of steers when the turn they were meant for ends (decision 2): consumed ones are
 * taken, after its row; offered ones nobody answered for are unknown; the others go back to the
 * front, in order.
 */
export function settleSteers(d: Draft, turn: Turn, ending: Ending): void {
  const { s } = d
  const back: WaitingInput[] = []
  for (const input of s.queue.slice()) {
    if (input.state === 'steering') back.push(input)
    else if (input.state === 'offered' && input.consumed) {
      s.queue = s.queue.filter((other) => other !== input)
      d.writes.push({ type: 'take-input', id: input.id, from: ['offered'], seq: (s.lastSeq += 1), turnId: turn.id, unanswered: true })
    } else if (input.state === 'offered') move(d, input, 'unknown', null)
  }
  takeBack(d, back)
  toFront(d, back, turn, ending)
}

/** Puts steers the agent did not take at the front, in their order: queued, or held when the turn was stopped. */
export function toFront(d: Draft, inputs: readonly WaitingInput[], turn: Turn, ending: Ending | null): void {
  const { s } = d
  const ids = new Set(inputs.map((input) => input.id))
  let pos = Math.min(0, ...s.queue.map((input) => input.pos)) - inputs.length
  const mode = turn.stop?.mode ?? null
  for (const input of inputs) {
    if (mode === 'discard') {
      withdraw(d, input)
      continue
    }
    input.pos = pos
    pos += 1
    input.steer = true
    const held = mode === 'hold' || (mode === null && ending?.status === 'paused')
    move(d, input, held ? 'held' : 'queued', held ? 'stopped' : null)
  }
  s.queue = [...s.queue.filter((input) => ids.has(input.id)), ...s.queue.filter((input) => !ids.has(input.id))]
}

/** Tells the driver to forget stashed steers; those it offers meanwhile are refused at the offering. */
function takeBack(d: Draft, inputs: readonly WaitingInput[]): void {
  const { connection } = d.s
  if (inputs.length === 0 || connection.phase !== 'live') return
  d.effects.push({ type: 'withdraw-redirect', generation: connection.generation, inputIds: inputs.map((input) => input.id) })
}

export function move(d: Draft, input: WaitingInput, to: WaitingInput['state'], heldReason: HeldReason | null): void {
  d.writes.push({ type: 'move-input', id: input.id, from: [input.state], to, heldReason, queuePos: input.pos, steer: input.steer })
  input.state = to
  input.heldReason = heldReason
}

function withdraw(d: Draft, input: WaitingInput): void {
  if (input.state === 'steering') takeBack(d, [input])
  d.s.queue = d.s.queue.filter((other) => other !== input)
  d.writes.push({
    type: 'move-input',
    id: input.id,
    from: [input.state],
    to: 'withdrawn',
    heldReason: null,
    queuePos: input.pos,
    steer: input.steer,
  })
}

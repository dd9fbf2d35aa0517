/** What people, other sessions and the world do to a host: one random operation at a time. */
import type { Posted } from '../packages/runtime/src/host/mailbox.ts'
import { SESSIONS, type World } from './world.ts'

/** Chance of each kind of operation; the rest moves an agent. */
export const MIX = {
  submit: 0.2,
  deliver: 0.03,
  stop: 0.03,
  answer: 0.06,
  queue: 0.05,
  hold: 0.02,
  edit: 0.03,
  late: 0.04,
  cut: 0.03,
  time: 0.03,
  kill: 0.01,
  agent: 0.01,
  compact: 0.01,
  release: 0.02,
}

export function operate(world: World): void {
  const { random } = world
  let roll = random.next()
  const is = (chance: number): boolean => {
    const hit = roll < chance
    roll -= chance
    return hit
  }
  const id = random.pick(SESSIONS)
  if (is(MIX.submit)) submit(world, busyOr(world, id))
  else if (is(MIX.deliver)) deliver(world, id)
  else if (is(MIX.stop)) stop(world, id)
  else if (is(MIX.answer)) answerOne(world, id)
  else if (is(MIX.queue)) manageQueue(world, id)
  else if (is(MIX.edit)) manageInput(world, id)
  else if (is(MIX.hold)) toggleHold(world)
  else if (is(MIX.late)) late(world)
  else if (is(MIX.cut)) world.reattach(random.below(world.sinks.length))
  else if (is(MIX.time)) passTime(world)
  else if (is(MIX.kill)) world.kill()
  else if (is(MIX.agent)) world.post(id, { type: 'agent-changed' })
  else if (is(MIX.compact)) world.command(id, (commandId) => ({ type: 'compact-requested', commandId, modelId: 'm' }))
  else if (is(MIX.release)) world.command(id, (commandId) => ({ type: 'session-released', commandId }))
  // Agents are busier than people: a turn must get far enough for a steer to reach it.
  else for (let moves = 1 + random.below(4); moves > 0; moves -= 1) moveAgent(world, false)
}

export function moveAgent(world: World, calm: boolean): boolean {
  const movable = world.connections.filter((connection) => connection.canMove && (!calm || connection.busy))
  if (movable.length === 0) return false
  const connection = world.random.pick(movable)
  world.guarded(() => connection.move(calm))
  const index = world.connections.indexOf(connection)
  if (connection.phase === 'down' && index >= 0) world.connections.splice(index, 1)
  return true
}

/** People talk to agents at work more often than to idle ones: that is where steers come from. */
function busyOr(world: World, id: string): string {
  const busy = SESSIONS.filter((each) => world.state(each)?.turn?.kind === 'user')
  return busy.length > 0 && world.random.chance(0.7) ? world.random.pick(busy) : id
}

function submit(world: World, id: string): void {
  const { random } = world
  const inputId = world.newId()
  const origin = random.chance(0.15) ? 'scheduled' : 'interactive'
  world.command(id, (commandId) => ({
    type: 'message-submitted',
    commandId,
    steerable: random.chance(0.9),
    input: {
      id: inputId,
      parts: [{ type: 'text', text: inputId }],
      when: random.chance(0.7) ? 'steer' : 'queue',
      origin,
      headless: origin === 'scheduled',
      sentBy: 'p',
      idempotencyKey: inputId,
      bodyHash: null,
      modelId: 'm',
    },
  }))
}

/** Transaction A of a send: the row is in the inbox, then the receiver is kicked; a crash may lie between. */
function deliver(world: World, to: string): void {
  const { random } = world
  const from = random.pick(SESSIONS)
  const delivery = { id: world.newId(), from, to, completion: random.chance(0.6) }
  world.store.acceptDelivery({
    id: delivery.id,
    sessionId: to,
    senderSessionId: from,
    reply: delivery.completion ? 'completion' : 'none',
    toolCallId: null,
    bodyHash: null,
    parts: [{ type: 'text', text: delivery.id }],
    display: {},
    at: world.clock.iso(),
  })
  world.ledger.accepted(delivery)
  if (random.chance(0.9)) world.post(to, { type: 'delivery-kicked' })
}

function stop(world: World, id: string): void {
  const { random, ledger } = world
  const state = world.state(id)
  const queue = random.pick(['hold', 'hold', 'run', 'discard'] as const)
  const turnId = random.chance(0.5) ? null : random.chance(0.8) ? (state?.turn?.id ?? null) : (state?.deferred?.id ?? 'gone')
  const waiting = (state?.queue ?? []).filter((input) => !input.consumed)
  const answer = world.command(id, (commandId) => ({ type: 'stop-requested', commandId, turnId, queue, by: 'p' }))
  for (const input of waiting) {
    // What is with the agent follows the last Stop; a lost answer leaves open which one that is.
    if ((input.state === 'offered' && queue !== 'hold') || (input.state === 'steering' && queue === 'run')) {
      if (answer === null || answer.ok) ledger.barred.delete(input.id)
    } else if (answer?.ok === true && queue !== 'run') ledger.barred.add(input.id)
  }
}

function answerOne(world: World, id: string): void {
  const { random } = world
  const open = world.store.listApprovals({ sessionId: null, status: null })
  if (open.length === 0) return
  const approval = random.chance(0.8) ? open.findLast((each) => each.status === 'pending') : random.pick(open)
  if (approval === undefined) return
  const decision = { allow: random.chance(0.7), reason: null, updatedInput: {}, answers: null }
  world.command(random.chance(0.95) ? approval.sessionId : id, (commandId) => ({
    type: 'approval-answered',
    commandId,
    approvalId: approval.id,
    decision,
    by: 'p',
  }))
}

export function runQueue(world: World, id: string): void {
  // A person runs what was held: from here on it may run.
  for (const input of world.state(id)?.queue ?? []) if (input.state === 'held') world.ledger.barred.delete(input.id)
  world.command(id, (commandId) => ({ type: 'queue-run', commandId }))
}

function manageQueue(world: World, id: string): void {
  if (world.random.chance(0.7)) runQueue(world, id)
  else world.command(id, (commandId) => ({ type: 'queue-discarded', commandId }))
}

function manageInput(world: World, id: string): void {
  const { random, ledger } = world
  const queue = world.state(id)?.queue ?? []
  if (queue.length === 0) return
  const input = random.pick(queue)
  const type = random.pick(['message-edited', 'message-withdrawn', 'message-resent', 'message-dismissed'] as const)
  if (type === 'message-resent' && input.state === 'unknown') ledger.resent(input.id)
  const build = (commandId: string): Posted =>
    type === 'message-edited'
      ? { type, commandId, messageId: input.id, parts: [{ type: 'text', text: 'edited' }] }
      : { type, commandId, messageId: input.id }
  world.command(id, build)
}

export function toggleHold(world: World): void {
  world.held = !world.held
  const { held } = world
  world.guarded(() => world.engine.runtime.setHeld(held))
}

/** Late, duplicate and wrong-generation events of an agent. */
function late(world: World): void {
  const { random, ledger } = world
  if (ledger.emissions.length === 0) return
  const recent = ledger.emissions.slice(-12)
  const { sessionId, generation, event } = random.chance(0.7) ? random.pick(recent) : random.pick(ledger.emissions)
  const state = world.state(sessionId)
  if (state === null) return
  // These begin or end something whenever they come in time; a driver that repeats them breaks its contract.
  const inTime = state.connection.phase !== 'none' && state.connection.generation === generation
  const unrepeatable = [
    'chunk',
    'connected',
    'connection-closed',
    'tool-approval-request',
    'autonomous-turn-state',
    'usage',
    'resume-token',
    'turn-complete',
    'error',
    'compaction-start',
    'background-tasks',
    'steer-undelivered',
    'steer-offering',
    'tool-approval-withdrawn',
  ]
  const wrong = random.chance(0.5)
  if (!wrong && inTime && unrepeatable.includes(event.type)) return
  const rev = state.rev
  world.post(sessionId, { type: 'driver', generation: wrong ? generation + 100 : generation, event })
  if (wrong)
    world.check(14, world.state(sessionId)?.rev === rev || world.crashes > 0, `a wrong generation's ${event.type} changed ${sessionId}`)
}

export function passTime(world: World): void {
  const { random, clock } = world
  if (random.chance(0.2)) clock.skewMs = random.below(1_200_000) - 600_000
  const wait = clock.next()
  world.guarded(() => clock.advance(random.chance(0.7) || wait === null ? 1 + random.below(20) : wait))
}

/** What people, other sessions and the world do to a host: one random operation at a time. */
import type { CommandEvent } from '../packages/runtime/src/core/event.ts'
import { isIdle } from '../packages/runtime/src/core/view.ts'
import type { Posted } from '../packages/runtime/src/host/mailbox.ts'
import type { World } from './world.ts'

/** Chance of each kind of operation; the rest moves an agent. Each history bends it (`world.ts`). */
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
  shutdown: 0.004,
  agent: 0.01,
  compact: 0.01,
  release: 0.02,
  update: 0.01,
  remove: 0.004,
  probe: 0.04,
}

export type Mix = typeof MIX

export function operate(world: World): void {
  const { random, mix } = world
  let roll = random.next()
  const is = (chance: number): boolean => {
    const hit = roll < chance
    roll -= chance
    return hit
  }
  const id = random.pick(world.sessions)
  if (is(mix.submit)) COMMANDS['message-submitted'](world, busyOr(world, id))
  else if (is(mix.deliver)) deliver(world, id)
  else if (is(mix.stop)) COMMANDS['stop-requested'](world, id)
  else if (is(mix.answer)) answerOne(world, id)
  else if (is(mix.queue)) COMMANDS[random.chance(0.7) ? 'queue-run' : 'queue-discarded'](world, id)
  else if (is(mix.edit)) COMMANDS[random.pick(MESSAGE_COMMANDS)](world, id)
  else if (is(mix.hold)) toggleHold(world)
  else if (is(mix.late)) late(world)
  else if (is(mix.cut)) world.reattach(random.below(world.sinks.length))
  else if (is(mix.time)) passTime(world)
  else if (is(mix.kill)) world.kill()
  else if (is(mix.shutdown)) shutdown(world)
  else if (is(mix.agent)) world.post(id, { type: 'agent-changed' })
  else if (is(mix.compact)) COMMANDS['compact-requested'](world, id)
  else if (is(mix.release)) COMMANDS['session-released'](world, id)
  else if (is(mix.update)) COMMANDS['session-updated'](world, id)
  else if (is(mix.remove)) COMMANDS['session-deleted'](world, id)
  else if (is(mix.probe)) answerProbe(world, id)
  // Agents are busier than people: a turn must get far enough for a steer to reach it.
  else for (let moves = 1 + random.below(4); moves > 0; moves -= 1) moveAgent(world, false)
}

const MESSAGE_COMMANDS = ['message-edited', 'message-withdrawn', 'message-resent', 'message-dismissed'] as const

/** One command of each kind, as a client would give it to that session. */
export const COMMANDS: { [type in CommandEvent['type']]: (world: World, id: string) => void } = {
  'message-submitted': submit,
  'message-edited': (world, id) => manageInput(world, id, 'message-edited'),
  'message-withdrawn': (world, id) => manageInput(world, id, 'message-withdrawn'),
  'message-resent': (world, id) => manageInput(world, id, 'message-resent'),
  'message-dismissed': (world, id) => manageInput(world, id, 'message-dismissed'),
  'queue-run': runQueue,
  'queue-discarded': (world, id) => void world.command(id, (commandId) => ({ type: 'queue-discarded', commandId })),
  'stop-requested': stop,
  'approval-answered': (world, id) => answerApproval(world, id, 'pending'),
  'compact-requested': (world, id) => void world.command(id, (commandId) => ({ type: 'compact-requested', commandId, modelId: 'm' })),
  'session-updated': update,
  'session-deleted': remove,
  'session-released': (world, id) => void world.command(id, (commandId) => ({ type: 'session-released', commandId })),
}

export function moveAgent(world: World, calm: boolean, id: string | null = null): boolean {
  const movable = world.connections.filter(
    (connection) => connection.canMove && (!calm || connection.busy) && (id === null || connection.input.sessionId === id),
  )
  if (movable.length === 0) return false
  const connection = world.random.pick(movable)
  world.guarded(() => connection.move(calm))
  world.forgetDown()
  return true
}

/** People talk to agents at work more often than to idle ones: that is where steers come from. */
function busyOr(world: World, id: string): string {
  const busy = world.sessions.filter((each) => world.state(each)?.turn?.kind === 'user')
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

function update(world: World, id: string): void {
  const { random } = world
  const rev = (world.state(id)?.rev ?? 0) - (random.chance(0.2) ? 1 : 0)
  const change = {
    name: null,
    description: null,
    agentId: null,
    workspacePath: null,
    ...random.pick([{ name: 'n' }, { workspacePath: '/w' }]),
  }
  world.command(id, (commandId) => ({ type: 'session-updated', commandId, expectedRev: rev, change }))
}

function remove(world: World, id: string): void {
  const rev = (world.state(id)?.rev ?? 0) - (world.random.chance(0.2) ? 1 : 0)
  world.command(id, (commandId) => ({ type: 'session-deleted', commandId, expectedRev: rev }))
}

/** A look into the inbox that took its time comes back: the oldest one, or the last. */
export function answerProbe(world: World, id: string | null, last = false): boolean {
  const is = (probe: { sessionId: string }): boolean => id === null || probe.sessionId === id
  const index = last ? world.probes.findLastIndex(is) : world.probes.findIndex(is)
  const [probe] = index < 0 ? [] : world.probes.splice(index, 1)
  if (probe === undefined) return false
  world.guarded(() => probe.done())
  return true
}

/** Transaction A of a send: the row is in the inbox, then the receiver is kicked; a crash may lie between. */
export function deliver(world: World, to: string): void {
  const { random } = world
  const from = random.pick(world.sessions)
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
  const reply = world.command(id, (commandId) => ({ type: 'stop-requested', commandId, turnId, queue, by: 'p' }))
  for (const input of waiting) {
    // What is with the agent follows the last Stop; a lost answer leaves open which one that is.
    if ((input.state === 'offered' && queue !== 'hold') || (input.state === 'steering' && queue === 'run')) {
      if (reply === null || reply.ok) ledger.barred.delete(input.id)
    } else if (reply?.ok === true && queue !== 'run') ledger.barred.add(input.id)
  }
}

function answerOne(world: World, id: string): void {
  const { random } = world
  const open = world.store.listApprovals({ sessionId: null, status: null })
  if (open.length === 0) return
  const approval = random.chance(0.8) ? open.findLast((each) => each.status === 'pending') : random.pick(open)
  if (approval !== undefined) answer(world, random.chance(0.95) ? approval.sessionId : id, approval.id)
}

function answerApproval(world: World, sessionId: string, status: 'pending'): void {
  answer(world, sessionId, world.store.listApprovals({ sessionId, status })[0]?.id ?? 'gone')
}

function answer(world: World, sessionId: string, approvalId: string): void {
  const decision = { allow: world.random.chance(0.7), reason: null, updatedInput: {}, answers: null }
  world.command(sessionId, (commandId) => ({ type: 'approval-answered', commandId, approvalId, decision, by: 'p' }))
}

export function runQueue(world: World, id: string): void {
  // A person runs what was held: from here on it may run.
  for (const input of world.state(id)?.queue ?? []) if (input.state === 'held') world.ledger.barred.delete(input.id)
  world.command(id, (commandId) => ({ type: 'queue-run', commandId }))
}

function manageInput(world: World, id: string, type: (typeof MESSAGE_COMMANDS)[number]): void {
  const { random, ledger } = world
  const queue = world.state(id)?.queue ?? []
  const input = queue.length === 0 ? null : random.pick(queue)
  const messageId = input?.id ?? 'gone'
  if (type === 'message-resent' && input?.state === 'unknown') ledger.resent(input.id)
  const build = (commandId: string): Posted =>
    type === 'message-edited' ? { type, commandId, messageId, parts: [{ type: 'text', text: 'edited' }] } : { type, commandId, messageId }
  world.command(id, build)
}

export function toggleHold(world: World): void {
  world.held = !world.held
  const { held } = world
  world.guarded(() => world.engine.runtime.setHeld(held))
}

/** The host goes down in order: its agents are asked to go, some are gone in time, and then it is. */
function shutdown(world: World): void {
  if (!world.held) toggleHold(world)
  world.ledger.goingDown = true
  world.guarded(() => void world.engine.connections.closeAll('shutdown'))
  for (let moves = world.random.below(MOVES_BEFORE_GONE); moves > 0; moves -= 1) moveAgent(world, false)
  world.ledger.goingDown = false
  world.kill()
}

const MOVES_BEFORE_GONE = 8

/** Late, duplicate and wrong-generation events of an agent; `wrong`: of another generation in any case. */
export function late(world: World, id: string | null = null, wrongOnly = false): void {
  const { random } = world
  const emissions = id === null ? world.ledger.emissions : world.ledger.emissions.filter((each) => each.sessionId === id)
  if (emissions.length === 0) return
  const { sessionId, generation, event } = random.chance(0.7) ? random.pick(emissions.slice(-12)) : random.pick(emissions)
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
  ]
  const wrong = wrongOnly || random.chance(0.5)
  if (!wrong && inTime && unrepeatable.includes(event.type)) return
  const rev = state.rev
  world.post(sessionId, { type: 'driver', generation: wrong ? generation + 100 : generation, event })
  // One that was given up is loaded by it, and settles what it owes.
  const mayRecover = state.connection.phase === 'none' && (!isIdle(state) || state.approvals.length > 0)
  if (wrong && !mayRecover)
    world.check(14, world.state(sessionId)?.rev === rev || world.crashes > 0, `a wrong generation's ${event.type} changed ${sessionId}`)
}

/** Time passes; `due`: until the next timer fires. */
export function passTime(world: World, due = false): void {
  const { random, clock } = world
  if (random.chance(0.2)) clock.skewMs = random.below(1_200_000) - 600_000
  const wait = clock.next()
  world.guarded(() => clock.advance(wait === null || (!due && random.chance(0.7)) ? 1 + random.below(20) : wait))
}

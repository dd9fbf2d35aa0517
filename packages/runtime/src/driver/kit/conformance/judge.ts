/** Rules that hold for every trace, whatever the test was about (contract.ts, spec README). */
import assert from 'node:assert/strict'
import type { Json, UIMessageChunk } from '@wheelhouse/client/protocol'
import type { DriverEvent } from '../../contract.ts'
import type { Entry } from './rig.ts'

/** Judges a finished connection. `secrets` must stand in no event and no line of the log. */
export async function judge(trace: readonly Entry[], secrets: readonly string[], logged: readonly string[]): Promise<void> {
  const events = trace.flatMap((entry) => ('event' in entry ? [entry.event] : []))
  judgeLife(trace, events)
  judgeTurns(trace)
  judgeSteers(trace)
  judgeApprovals(trace)
  for (const turn of turnsOf(events)) judgeChunks(turn, events)
  for (const event of events) judgeText(event)
  for (const secret of secrets)
    assert.ok(!JSON.stringify([events, logged]).includes(secret), 'the key stands in an event or a line of the log')
  const ids = events.flatMap((event) => (event.type === 'usage' ? [event.usage.requestId] : []))
  assert.equal(new Set(ids).size, ids.length, 'a provider call was reported twice')
  await judgeSchema(events)
}

/** connected at most once and before any turn; connection-closed once and last, before close() returned. */
function judgeLife(trace: readonly Entry[], events: readonly DriverEvent[]): void {
  const types = events.map((event) => event.type)
  assert.ok(types.filter((type) => type === 'connected').length <= 1, 'connected came twice')
  assert.equal(types.filter((type) => type === 'connection-closed').length, 1, 'connection-closed comes once')
  assert.equal(types.at(-1), 'connection-closed', 'connection-closed comes last')
  const closed = trace.findIndex((entry) => 'did' in entry && entry.did === 'closed')
  assert.ok(
    trace.slice(closed).every((entry) => !('event' in entry)),
    'something was told after close() had returned',
  )
  const first = events.findIndex((event) => 'turnId' in event)
  if (first >= 0) assert.ok(types.slice(0, first).includes('connected'), 'a turn spoke before the connection was there')
}

/** Each turn is known before it speaks, ends at most once, and is silent afterwards. A turn without an end was ended by the connection's. */
function judgeTurns(trace: readonly Entry[]): void {
  const open = new Set<string>()
  const over = new Set<string>()
  for (const entry of trace) {
    if ('did' in entry) {
      if (entry.did === 'send') open.add(entry.turnId)
      continue
    }
    const { event } = entry
    if (!('turnId' in event)) continue
    if (event.type === 'autonomous-turn-state') {
      assert.ok(!open.has(event.turnId) && !over.has(event.turnId), `${event.turnId} began twice`)
      open.add(event.turnId)
      continue
    }
    assert.ok(!over.has(event.turnId), `${event.type} of ${event.turnId} came after its end`)
    assert.ok(open.has(event.turnId), `${event.type} names a turn that never began: ${event.turnId}`)
    if (event.type === 'turn-complete' || event.type === 'error') {
      open.delete(event.turnId)
      over.add(event.turnId)
    }
  }
}

/** redirected -> offered -> granted -> consumed -> boundary; or undelivered, never after consumed; withdrawn ones are never heard of again. */
function judgeSteers(trace: readonly Entry[]): void {
  const state = new Map<string, 'stashed' | 'offered' | 'granted' | 'consumed' | 'answered' | 'back' | 'withdrawn'>()
  const expect = (ids: readonly string[], allowed: readonly string[], what: string): void => {
    assert.ok(ids.length > 0, `${what} names no steer`)
    for (const id of ids)
      assert.ok(allowed.includes(state.get(id) ?? 'unknown'), `${what} of ${id}, which is ${state.get(id) ?? 'unknown'}`)
  }
  const move = (ids: readonly string[], to: 'stashed' | 'offered' | 'granted' | 'consumed' | 'answered' | 'back' | 'withdrawn'): void => {
    for (const id of ids) state.set(id, to)
  }
  const offerings = new Map<string, readonly string[]>()
  for (const entry of trace) {
    if ('did' in entry) {
      if (entry.did === 'redirect' && entry.taken) move([entry.inputId], 'stashed')
      if (entry.did === 'withdraw') move(entry.inputIds, 'withdrawn')
      if (entry.did === 'answer-offering') {
        const offered = offerings.get(entry.offeringId) ?? []
        for (const id of offered) if (state.get(id) === 'offered') state.set(id, entry.inputIds.includes(id) ? 'granted' : 'withdrawn')
      }
      continue
    }
    const { event } = entry
    switch (event.type) {
      case 'steer-offering':
        expect(event.inputIds, ['stashed'], 'offering')
        offerings.set(event.offeringId, event.inputIds)
        move(event.inputIds, 'offered')
        break
      case 'steer-consumed':
        expect(event.inputIds, ['granted'], 'consumption')
        move(event.inputIds, 'consumed')
        break
      case 'steer-boundary':
        expect(event.inputIds, ['consumed'], 'boundary')
        move(event.inputIds, 'answered')
        break
      case 'steer-undelivered':
        expect(event.inputIds, ['stashed', 'offered', 'granted'], 'undelivered')
        move(event.inputIds, 'back')
        break
      case 'turn-complete':
      case 'error':
        for (const [id, each] of state)
          if (turnOfSteer(trace, id) === event.turnId)
            assert.ok(!['stashed', 'offered', 'granted'].includes(each), `${id} is still ${each} at the end of its turn`)
        break
      default:
        break
    }
  }
}

function turnOfSteer(trace: readonly Entry[], inputId: string): string | undefined {
  for (const entry of trace) if ('did' in entry && entry.did === 'redirect' && entry.inputId === inputId) return entry.turnId
  return undefined
}

/** Asked once; applied after an answer; withdrawn instead of applied; none open when its turn ends. */
function judgeApprovals(trace: readonly Entry[]): void {
  const state = new Map<string, { turnId: string; is: 'asked' | 'answered' | 'settled' }>()
  for (const entry of trace) {
    if ('did' in entry) {
      const asked = entry.did === 'answer-approval' ? state.get(entry.approvalId) : undefined
      if (asked?.is === 'asked') asked.is = 'answered'
      continue
    }
    const { event } = entry
    if (event.type === 'tool-approval-request') {
      assert.ok(!state.has(event.request.approvalId), 'an approval was asked twice')
      state.set(event.request.approvalId, { turnId: event.turnId, is: 'asked' })
    } else if (event.type === 'tool-approval-applied') {
      const asked = state.get(event.approvalId)
      assert.equal(asked?.is, 'answered', 'an approval was applied that nobody had answered')
      if (asked !== undefined) asked.is = 'settled'
    } else if (event.type === 'tool-approval-withdrawn') {
      const asked = state.get(event.approvalId)
      assert.ok(asked !== undefined && asked.is !== 'settled', 'an approval was withdrawn that was not open')
      asked.is = 'settled'
    } else if (event.type === 'turn-complete' || event.type === 'error')
      for (const asked of state.values())
        assert.ok(asked.turnId !== event.turnId || asked.is !== 'asked', 'an approval is open although its turn is over')
  }
}

const turnsOf = (events: readonly DriverEvent[]): Set<string> =>
  new Set(events.flatMap((event) => (event.type === 'chunk' ? [event.turnId] : [])))

type Open = { prose: Map<'text' | 'reasoning', string>; tools: Map<string, boolean>; step: boolean }

/** Chunks of one turn nest: a roll and a good end find everything closed. */
function judgeChunks(turnId: string, events: readonly DriverEvent[]): void {
  const open: Open = { prose: new Map(), tools: new Map(), step: false }
  const allClosed = (what: string): void => {
    assert.equal(open.prose.size, 0, `prose is open at ${what}`)
    for (const [id, done] of open.tools) assert.ok(done, `tool call ${id} is open at ${what}`)
  }
  for (const event of events) {
    if (!('turnId' in event) || event.turnId !== turnId) continue
    if (event.type === 'chunk') {
      assert.ok(event.chunks.length > 0, 'a chunk event holds no chunk')
      for (const chunk of event.chunks) nest(open, chunk)
    } else if (event.type === 'steer-boundary') {
      allClosed('a steer boundary')
      open.tools.clear()
      open.step = false
    } else if (event.type === 'turn-complete' && event.outcome === 'success') allClosed('the end of a turn')
  }
}

function nest(open: Open, chunk: UIMessageChunk): void {
  switch (chunk.type) {
    case 'start-step':
      assert.ok(!open.step, 'a step begins inside of another')
      open.step = true
      return
    case 'finish-step':
      assert.ok(open.step, 'a step ends that never began')
      assert.equal(open.prose.size, 0, 'a step ends over open prose')
      open.step = false
      return
    case 'text-start':
    case 'reasoning-start': {
      const kind = chunk.type === 'text-start' ? 'text' : 'reasoning'
      assert.ok(!open.prose.has(kind), `${kind} begins inside of ${kind}`)
      open.prose.set(kind, chunk.id)
      return
    }
    case 'text-delta':
    case 'reasoning-delta':
      assert.equal(open.prose.get(chunk.type === 'text-delta' ? 'text' : 'reasoning'), chunk.id, `${chunk.type} outside of its part`)
      return
    case 'text-end':
    case 'reasoning-end': {
      const kind = chunk.type === 'text-end' ? 'text' : 'reasoning'
      assert.equal(open.prose.get(kind), chunk.id, `${chunk.type} of a part that is not open`)
      open.prose.delete(kind)
      return
    }
    case 'tool-input-start':
      assert.ok(!open.tools.has(chunk.toolCallId), 'a tool call begins twice')
      open.tools.set(chunk.toolCallId, false)
      return
    case 'tool-input-available':
      assert.notEqual(open.tools.get(chunk.toolCallId), true, 'input of a tool call that is over')
      open.tools.set(chunk.toolCallId, false)
      return
    case 'tool-input-error':
      open.tools.set(chunk.toolCallId, true)
      return
    case 'tool-input-delta':
    case 'tool-approval-request':
      assert.equal(open.tools.get(chunk.toolCallId), false, `${chunk.type} of a tool call that is not open`)
      return
    case 'tool-output-available':
    case 'tool-output-error':
    case 'tool-output-denied':
      assert.equal(open.tools.get(chunk.toolCallId), false, `${chunk.type} of a tool call that is not open`)
      if (chunk.type !== 'tool-output-available' || chunk.preliminary !== true) open.tools.set(chunk.toolCallId, true)
      return
    default:
      return
  }
}

function judgeText(event: DriverEvent): void {
  const json: Json = JSON.parse(JSON.stringify(event))
  const look = (value: Json): void => {
    if (typeof value === 'string') {
      assert.ok(value.isWellFormed(), `${event.type} holds half a character`)
      assert.ok(!value.includes('\0'), `${event.type} holds NUL`)
    } else if (Array.isArray(value)) value.forEach(look)
    else if (value !== null && typeof value === 'object')
      for (const [key, each] of Object.entries(value)) {
        look(key)
        look(each)
      }
  }
  look(json)
}

/** The AI SDK is the judge of chunks (decisions, Libraries). */
async function judgeSchema(events: readonly DriverEvent[]): Promise<void> {
  const { uiMessageChunkSchema } = await import('ai')
  const schema = uiMessageChunkSchema()
  for (const event of events) {
    if (event.type !== 'chunk') continue
    for (const chunk of event.chunks) {
      const result = await schema.validate?.(chunk)
      assert.ok(result?.success === true, `not a UI message chunk: ${JSON.stringify(chunk)}`)
    }
  }
}

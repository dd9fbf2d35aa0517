/** The translation on recorded frames of the real CLI (record.ts): no process, no clock. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyContent, foldChunks, type MessageContent } from '@wheelhouse/client/protocol'
import type { DriverEvent } from '../../packages/runtime/src/driver/contract.ts'
import { Conversation } from '../../packages/runtime/src/drivers/claude-code/conversation.ts'
import { endingOf, type Ending } from '../../packages/runtime/src/drivers/claude-code/errors.ts'
import { Outbox } from '../../packages/runtime/src/drivers/claude-code/outbox.ts'
import type { Frame, ResultFrame } from '../../packages/runtime/src/drivers/claude-code/signals.ts'
import { judge, textOf, toolsOf } from './harness.ts'

/** A conversation without a process: frames go in, events come out. Each user message of the recording is a turn. */
class Stage {
  readonly events: DriverEvent[] = []
  readonly out = new Outbox(
    (event) => this.events.push(event),
    () => () => undefined,
  )
  interrupts = 0
  results: { turnId: string | null; ending: Ending }[] = []
  readonly talk: Conversation
  #ids = 0
  #now = 0

  constructor() {
    this.talk = new Conversation(this.out, {
      after: () => () => undefined,
      newId: () => `id-${++this.#ids}`,
      now: () => (this.#now += 1),
      redact: (text) => text.replaceAll('SECRET', '[key]'),
      interrupt: () => (this.interrupts += 1),
    })
  }

  /** Opens the turn whose message has this uuid. */
  open(turnId: string, uuid: string): void {
    const turn = this.talk.open({ turnId, inputId: 'i', kind: 'user', parts: [], steer: false, headless: false, seed: null })
    Object.assign(turn, { uuid })
  }

  play(frames: readonly Frame[]): void {
    for (const frame of frames) {
      for (const signal of this.talk.onFrame(frame)) if (signal.type === 'result') this.#onResult(signal.result)
    }
    this.out.flush()
  }

  #onResult(result: ResultFrame): void {
    const turn = this.talk.turnOf(result)
    const ending = endingOf(result, turn?.interrupted === true)
    this.results.push({ turnId: turn?.turnId ?? null, ending })
    if (turn === null) return
    this.talk.compaction.settle()
    this.talk.show(ending.kind === 'success' ? this.talk.lastWords(turn, result) : [])
    this.talk.endTurn(turn, ending)
  }

  content(turnId: string): MessageContent {
    return foldChunks(emptyContent(), this.chunks(turnId))
  }

  chunks(turnId: string): Extract<DriverEvent, { type: 'chunk' }>['chunks'] {
    return this.events.flatMap((event) => (event.type === 'chunk' && event.turnId === turnId ? event.chunks : []))
  }

  of<T extends DriverEvent['type']>(type: T): Extract<DriverEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<DriverEvent, { type: T }> => event.type === type)
  }
}

const read = (name: string): Frame[] =>
  readFileSync(join(import.meta.dirname, 'recordings', `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const frame: Frame = JSON.parse(line)
      return frame
    })

/** The uuids of the user messages of a recording, in order. */
const uuidsOf = (frames: readonly Frame[]): string[] =>
  frames.flatMap((frame) => (frame.type === 'command_lifecycle' && frame.state === 'queued' ? [frame.command_uuid] : []))

/** A recording played from the beginning, each message being the turn turn-0, turn-1 ... */
function play(name: string, change: (frames: Frame[]) => Frame[] = (frames) => frames): Stage {
  const stage = new Stage()
  const frames = change(read(name))
  for (const [index, uuid] of uuidsOf(read(name)).entries()) stage.open(`turn-${index}`, uuid)
  stage.play(frames)
  return stage
}

test('a recorded turn with two tools becomes one valid message, one failed call apart', async () => {
  const stage = play('tools')
  const { parts } = stage.content('turn-0')
  assert.deepEqual(
    parts.map((part) => part.type),
    ['step-start', 'reasoning', 'text', 'dynamic-tool', 'dynamic-tool', 'step-start', 'text'],
  )
  assert.deepEqual(
    toolsOf(parts).map((tool) => tool.state),
    ['output-available', 'output-error'],
  )
  assert.equal(toolsOf(parts)[0]?.output, 'one')
  assert.equal(textOf(parts), 'I look.Done now.')
  assert.deepEqual(stage.results, [{ turnId: 'turn-0', ending: { kind: 'success' } }])
  await judge(stage.chunks('turn-0'))
})

test('usage of a recorded turn is one whole record per model message', () => {
  const stage = play('tools')
  const records = stage.of('usage').map((event) => event.usage)
  assert.equal(records.length, 2)
  assert.equal(new Set(records.map((record) => record.requestId)).size, 2)
  for (const record of records) {
    assert.ok((record.outputTokens ?? 0) > 1)
    assert.ok(record.ttftMs !== null && record.durationMs !== null)
  }
})

test('a model message whose frames carry no first-token time has no duration, rather than a wrong one', () => {
  const stage = play('tools', (frames) =>
    frames.map((frame) => {
      if (frame.type !== 'stream_event') return frame
      const { ttft_ms: _, ...rest } = frame
      return rest
    }),
  )
  for (const { usage } of stage.of('usage')) assert.deepEqual([usage.ttftMs, usage.durationMs], [null, null])
})

test('without stream events the whole messages give the same message', async () => {
  const stage = play('tools', (frames) => frames.filter((frame) => frame.type !== 'stream_event'))
  const { parts } = stage.content('turn-0')
  assert.deepEqual(
    parts.map((part) => part.type),
    ['step-start', 'reasoning', 'text', 'dynamic-tool', 'dynamic-tool', 'step-start', 'text'],
  )
  assert.equal(textOf(parts), 'I look.Done now.')
  assert.equal(stage.of('usage').length, 2)
  await judge(stage.chunks('turn-0'))
})

test('frames nobody knows change nothing', () => {
  const strange: Frame = JSON.parse('{"type":"from_the_future","subtype":"x"}')
  const stranger: Frame = JSON.parse('{"type":"system","subtype":"from_the_future","session_id":"s"}')
  const plain = play('tools')
  const mixed = play('tools', (frames) => frames.flatMap((frame) => [strange, frame, stranger]))
  assert.deepEqual(mixed.content('turn-0'), plain.content('turn-0'))
})

test('a frame that comes twice shows nothing twice', async () => {
  const stage = play('tools', (frames) =>
    frames.flatMap((frame) =>
      Array.from<Frame>({ length: frame.type === 'user' || frame.type === 'command_lifecycle' ? 2 : 1 }).fill(frame),
    ),
  )
  assert.deepEqual(stage.content('turn-0').parts, play('tools').content('turn-0').parts)
  await judge(stage.chunks('turn-0'))
})

test('a Stop the agent reports as an error is a stop, and its cut answer is no known count', () => {
  const stage = new Stage()
  const frames = read('stopped')
  stage.open('turn-0', uuidsOf(frames)[0] ?? '')
  const cut = frames.findIndex((frame) => frame.type === 'user')
  stage.play(frames.slice(0, cut))
  const turn = stage.talk.find('turn-0')
  assert.ok(turn !== undefined)
  turn.interrupted = true
  const shown = textOf(stage.content('turn-0').parts)
  stage.play(frames.slice(cut))
  assert.deepEqual(stage.of('turn-complete'), [{ type: 'turn-complete', turnId: 'turn-0', outcome: 'stopped' }])
  assert.equal(textOf(stage.content('turn-0').parts), shown)
  assert.deepEqual(
    stage.of('usage').map((event) => [event.usage.outputTokens, event.usage.durationMs]),
    [[null, null]],
  )
})

test('an interrupt before the CLI has begun is given again when it begins', () => {
  const stage = new Stage()
  const frames = read('tools')
  stage.open('turn-0', uuidsOf(frames)[0] ?? '')
  const turn = stage.talk.find('turn-0')
  assert.ok(turn !== undefined)
  turn.interrupted = true
  stage.play(frames.slice(0, 3))
  assert.equal(stage.interrupts, 1)
  stage.play(frames.slice(3, 20))
  assert.deepEqual(stage.chunks('turn-0'), [])
})

test('a refused turn is an error with the provider’s words, told as retries before, and shows no text', () => {
  const stage = play('refused')
  assert.deepEqual(
    stage.of('api-retry').map((event) => [event.attempt, event.reason]),
    [
      [1, '529 overloaded'],
      [2, '529 overloaded'],
    ],
  )
  const [result] = stage.results
  assert.ok(result?.ending.kind === 'error')
  assert.deepEqual([result.ending.code, result.ending.status], ['PROVIDER_ERROR', 529])
  assert.equal(textOf(stage.content('turn-0').parts), '')
})

test('an answer that broke off is closed, and the rest of it follows', async () => {
  const stage = play('broken')
  assert.equal(textOf(stage.content('turn-0').parts), 'half whole')
  await judge(stage.chunks('turn-0'))
})

test('a sub-agent’s frames are a flow of their own under its call', async () => {
  const stage = play('subagent')
  const { parts } = stage.content('turn-0')
  assert.deepEqual(
    parts.map((part) => part.type),
    ['step-start', 'dynamic-tool', 'step-start', 'text'],
  )
  const flow = stage.of('background-flow-chunk')
  assert.ok(flow.length > 0 && flow.every((event) => event.toolCallId === toolsOf(parts)[0]?.toolCallId))
  assert.equal(stage.of('usage').length, 4)
})

test('a turn of the agent’s own begins before its chunks, and its result ends it and no other', () => {
  const stage = play('background')
  const [started, ...more] = stage.of('autonomous-turn-state')
  assert.ok(started !== undefined)
  assert.deepEqual(more, [])
  assert.deepEqual(
    stage.results.map((result) => result.turnId),
    ['turn-0', started.turnId],
  )
  assert.equal(textOf(stage.content(started.turnId).parts), 'it ended')
  assert.equal(textOf(stage.content('turn-0').parts), 'started')
  const order = stage.events.map((event) => (event.type === 'chunk' ? event.turnId : event.type))
  assert.ok(order.indexOf('autonomous-turn-state') < order.indexOf(started.turnId))
})

test('compaction tells its success once, by its boundary', () => {
  const stage = play('compacted')
  assert.deepEqual(
    stage.events.filter((event) => event.type.startsWith('compaction')).map((event) => event.type),
    ['compaction-start', 'compaction-complete'],
  )
  assert.notEqual(stage.of('compaction-complete')[0]?.anchor, null)
})

const isBoundary = (frame: Frame): boolean => frame.type === 'system' && frame.subtype === 'compact_boundary'
const isCompactionEnd = (frame: Frame): boolean =>
  frame.type === 'system' && frame.subtype === 'status' && frame.compact_result !== undefined

test('a compaction without a boundary is settled by the result, and one that ends unsaid as failed', () => {
  const unbounded = play('compacted', (frames) => frames.filter((frame) => !isBoundary(frame)))
  assert.deepEqual(unbounded.of('compaction-complete'), [{ type: 'compaction-complete', anchor: null }])
  const unsaid = play('compacted', (frames) => frames.filter((frame) => !isBoundary(frame) && !isCompactionEnd(frame)))
  assert.equal(unsaid.of('compaction-error').length, 1)
  assert.deepEqual(unsaid.of('compaction-complete'), [])
})

test('BUG-13 the trailer of an ended turn, delivered late, ends nothing of the next one', () => {
  const stage = new Stage()
  const frames = read('tools')
  const [uuid = ''] = uuidsOf(frames)
  const result = frames.find((frame) => frame.type === 'result')
  assert.ok(result !== undefined)
  stage.open('turn-0', uuid)
  stage.play(frames)
  stage.open('turn-1', 'another-uuid')
  stage.play([{ type: 'command_lifecycle', command_uuid: 'another-uuid', state: 'started' }, result])
  assert.equal(stage.talk.active?.turnId, 'turn-1')
  assert.deepEqual(
    stage.results.map((each) => each.turnId),
    ['turn-0', null],
  )
  assert.equal(stage.of('turn-complete').length, 1)
  assert.ok(stage.talk.find('turn-1') !== undefined)
})

test('a result of work the agent began itself, with no turn open for it, ends nothing', () => {
  const stage = new Stage()
  const result = read('background').findLast((frame) => frame.type === 'result')
  assert.ok(result !== undefined)
  stage.open('turn-0', 'mine')
  stage.play([result])
  assert.deepEqual(stage.of('turn-complete'), [])
})

const untilEnd = (frames: Frame[]): Frame[] =>
  frames.slice(
    0,
    frames.findIndex((frame) => frame.type === 'result'),
  )

test('an answer that was complete when the process went is kept as an answer; one that was not is lost', () => {
  const complete = play('tools', untilEnd)
  complete.talk.salvage()
  assert.deepEqual(complete.of('turn-complete'), [{ type: 'turn-complete', turnId: 'turn-0', outcome: 'success' }])
  assert.equal(complete.content('turn-0').metadata['truncated'], true)
  const half = play('tools', (frames) => frames.slice(0, 20))
  half.talk.salvage()
  assert.deepEqual(half.of('turn-complete'), [])
})

test('the key is taken out of what tools printed', () => {
  const stage = play('tools', (frames) => JSON.parse(JSON.stringify(frames).replaceAll('"content":"one"', '"content":"the SECRET"')))
  assert.equal(toolsOf(stage.content('turn-0').parts)[0]?.output, 'the [key]')
})

test('BUG-40 what is cut inside a character is whole when it is shown', () => {
  const halves: Frame[] = JSON.parse(
    JSON.stringify(read('tools'))
      .replaceAll('"text":"I "', String.raw`"text":"I \ud83d"`)
      .replaceAll('"text":"look."', String.raw`"text":"\ude00 look\u0000."`),
  )
  const stage = play('tools', () => halves)
  assert.equal(textOf(stage.content('turn-0').parts), 'I 😀 look␀.Done now.')
})

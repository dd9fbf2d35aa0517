/**
 * Frames of the CLI to signals: what was said, called, answered, used. Deterministic, with small
 * state; which turn a signal belongs to is decided by its reader. Frames nobody here knows change
 * nothing, so a newer CLI may send more.
 */
import { wellFormed, type BackgroundTask, type PermissionMode, type UIMessageChunk } from '@wheelhouse/client/protocol'
import {
  beginMessage,
  endBlock,
  endStep,
  growBlock,
  newFlow,
  settleCall,
  startBlock,
  wholeBlock,
  type Flow,
  type ShownBlock,
} from './flow.ts'
import type { Frame, Signal } from './signals.ts'
import { resultChunks, type Refusal, type ResultBlock } from './translate-tools.ts'
import { beginUsage, endUsage, newUsageDesk, snapshotUsage, updateUsage, type UsageDesk } from './usage.ts'

/** What the translation asks its surroundings. */
export type Surroundings = {
  /** Monotonic milliseconds. */
  now(): number
  /** Why the result of this call is no result, if it is none. */
  refusal(toolUseId: string, isError: boolean): Refusal
  redact(text: string): string
}

type Stream = { flow: Flow; usage: UsageDesk }
export type Translation = {
  main: Stream
  /** Sub-agents by the tool call that started them. */
  subs: Map<string, Stream>
  tasks: Map<string, BackgroundTask>
  /** Error text the CLI put where an answer stands; shown only when the turn ends well after all. */
  held: string | null
}

const newStream = (): Stream => ({ flow: newFlow(), usage: newUsageDesk() })
export const newTranslation = (): Translation => ({ main: newStream(), subs: new Map(), tasks: new Map(), held: null })

/** Calls of the agent itself that have no result yet, with the time they were made. */
export const openCalls = (state: Translation): { id: string; startedAt: number }[] =>
  [...state.main.flow.calls].flatMap(([id, call]) => (call.open ? [{ id, startedAt: call.startedAt }] : []))

/** Whether the agent's own transcript holds this call, so that chunks may name it. */
export const knowsCall = (state: Translation, id: string): boolean => state.main.flow.calls.has(id)

/** The plan a call to leave plan mode holds. */
export const planOf = (state: Translation, id: string): string | null => state.main.flow.calls.get(id)?.plan ?? null

export function translate(state: Translation, frame: Frame, around: Surroundings): Signal[] {
  switch (frame.type) {
    case 'stream_event':
      return [...stamps(frame), ...(frame.parent_tool_use_id === null ? streamEvent(state, frame, around) : [])]
    case 'assistant':
      return [...stamps(frame), ...assistant(state, frame, around)]
    case 'user':
      return user(state, frame, around)
    case 'system':
      return system(state, frame, around)
    case 'command_lifecycle':
      if (frame.state === 'started') return [{ type: 'taken', uuid: frame.command_uuid }]
      return frame.state === 'cancelled' ? [{ type: 'dropped', uuid: frame.command_uuid }] : []
    case 'result':
      return [...endOfTurn(state, around), { type: 'result', result: frame }]
    default:
      return []
  }
}

function stamps(frame: { user_message_uuids?: string[]; user_message_uuid?: string }): Signal[] {
  const uuids = frame.user_message_uuids ?? (frame.user_message_uuid === undefined ? [] : [frame.user_message_uuid])
  return uuids.length === 0 ? [] : [{ type: 'answers', uuids }]
}

type StreamFrame = Extract<Frame, { type: 'stream_event' }>

function streamEvent(state: Translation, frame: StreamFrame, around: Surroundings): Signal[] {
  const { flow, usage } = state.main
  const { event } = frame
  switch (event.type) {
    case 'message_start': {
      const used = endUsage(usage, around.now()).map(usageSignal)
      state.held = null
      beginUsage(usage, event.message, frame.ttft_ms ?? null, around.now())
      return [...used, chunks(endStep(flow)), { type: 'model-message' }, chunks(beginMessage(flow, event.message.id))]
    }
    case 'content_block_start':
      return [chunks(startBlock(flow, event.index, shown(event.content_block)))]
    case 'content_block_delta':
      return [chunks(growBlock(flow, event.index, grownText(event.delta)))]
    case 'content_block_stop':
      return [chunks(endBlock(flow, event.index))]
    case 'message_delta':
      updateUsage(usage, event.usage, event.delta.stop_reason !== null)
      return [{ type: 'model-stopped', reason: event.delta.stop_reason }]
    case 'message_stop':
      return endUsage(usage, around.now()).map(usageSignal)
    default:
      return []
  }
}

const chunks = (list: Extract<Signal, { type: 'chunks' }>['chunks']): Signal => ({ type: 'chunks', chunks: list })
const usageSignal = (usage: Extract<Signal, { type: 'usage' }>['usage']): Signal => ({ type: 'usage', usage })

function grownText(delta: { type: string; text?: string; thinking?: string; partial_json?: string }): string {
  return delta.text ?? delta.thinking ?? delta.partial_json ?? ''
}

function shown(block: { type: string }): ShownBlock {
  return block
}

type AssistantFrame = Extract<Frame, { type: 'assistant' }>

/** Model name of messages the CLI made up itself. */
const SYNTHETIC = '<synthetic>'

function assistant(state: Translation, frame: AssistantFrame, around: Surroundings): Signal[] {
  const { message } = frame
  if (frame.parent_tool_use_id !== null) return subAssistant(state, frame, frame.parent_tool_use_id, around)
  const { flow, usage } = state.main
  const isSynthetic = message.model === SYNTHETIC
  if (frame.error !== undefined && isSynthetic) {
    state.held = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    return []
  }
  const used = usage.open === null || usage.open.record.requestId === message.id ? [] : endUsage(usage, around.now()).map(usageSignal)
  if (!isSynthetic) snapshotUsage(usage, message)
  const streamed = flow.messageId === message.id && flow.parts.size > 0
  const begun: Signal[] =
    flow.messageId === message.id ? [] : [chunks(endStep(flow)), { type: 'model-message' }, chunks(beginMessage(flow, message.id))]
  const blocks = message.content.flatMap((block) => {
    if (!streamed) return wholeBlock(flow, shown(block), around.now())
    // The text of the block was streamed; only a call's whole input is news.
    return 'input' in block && 'id' in block ? settleCall(flow, block.id, block.name, block.input, around.now()) : []
  })
  return [...used, ...begun, chunks(blocks)]
}

/** Sub-agents come without streams, block by block. */
function subAssistant(state: Translation, frame: AssistantFrame, parentId: string, around: Surroundings): Signal[] {
  const { flow, usage } = subStream(state, parentId)
  const { message } = frame
  const isNew = flow.messageId !== message.id
  const used = isNew ? endUsage(usage, around.now()).map(usageSignal) : []
  if (message.model !== SYNTHETIC) snapshotUsage(usage, message)
  const begun = isNew ? beginMessage(flow, message.id) : []
  const blocks = message.content.flatMap((block) => wholeBlock(flow, shown(block), around.now()))
  return [...used, { type: 'sub-chunks', parentId, chunks: [...begun, ...blocks] }]
}

function subStream(state: Translation, parentId: string): Stream {
  const known = state.subs.get(parentId)
  if (known !== undefined) return known
  const stream = newStream()
  state.subs.set(parentId, stream)
  return stream
}

type UserFrame = Extract<Frame, { type: 'user' }>

/** The text that was held back, to be shown because the turn ended well; taken once. */
export function showHeld(state: Translation): UIMessageChunk[] {
  const { held } = state
  state.held = null
  if (held === null || held === '') return []
  const { flow } = state.main
  return [...beginMessage(flow, 'held'), ...wholeBlock(flow, { type: 'text', text: held }, 0), ...endStep(flow)]
}

/** User frames of interest are tool results; prompts, reminders and replays are the host's own words come back. */
function user(state: Translation, frame: UserFrame, around: Surroundings): Signal[] {
  const { content } = frame.message
  if (typeof content === 'string') return []
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []))
  const parentId = frame.parent_tool_use_id
  if (parentId !== null) return subResults(state, parentId, results, around)
  return results.flatMap((block) => {
    const call = state.main.flow.calls.get(block.tool_use_id)
    if (call === undefined || !call.open) return []
    call.open = false
    const refusal = around.refusal(block.tool_use_id, block.is_error === true)
    const ended = endSub(state, block.tool_use_id, around)
    // A stopped call leaves nothing in the agent's history that could carry a steer.
    const answered: Signal[] = refusal === 'stopped' ? [] : [{ type: 'tool-answered', toolUseId: block.tool_use_id }]
    return [...ended, chunks(resultChunks(block, refusal, around.redact)), ...answered]
  })
}

function subResults(state: Translation, parentId: string, results: ResultBlock[], around: Surroundings): Signal[] {
  const { flow } = subStream(state, parentId)
  const list = results.flatMap((block) => {
    const call = flow.calls.get(block.tool_use_id)
    if (call === undefined || !call.open) return []
    call.open = false
    return resultChunks(block, null, around.redact)
  })
  return list.length === 0 ? [] : [{ type: 'sub-chunks', parentId, chunks: list }]
}

/** The sub-agent behind this call has handed back, or goes on in the background, where its frames open a stream again. */
function endSub(state: Translation, parentId: string, around: Surroundings): Signal[] {
  const stream = state.subs.get(parentId)
  if (stream === undefined) return []
  const list = endStep(stream.flow)
  state.subs.delete(parentId)
  const used = endUsage(stream.usage, around.now()).map(usageSignal)
  return list.length === 0 ? used : [...used, { type: 'sub-chunks', parentId, chunks: list }]
}

/** Closes what the last model message left open. */
function endOfTurn(state: Translation, around: Surroundings): Signal[] {
  const { flow, usage } = state.main
  const signals = [...endUsage(usage, around.now()).map(usageSignal), chunks(endStep(flow))]
  for (const stream of state.subs.values()) signals.push(...endUsage(stream.usage, around.now()).map(usageSignal))
  flow.messageId = null
  flow.calls.clear()
  return signals
}

type SystemFrame = Extract<Frame, { type: 'system' }>

function system(state: Translation, frame: SystemFrame, around: Surroundings): Signal[] {
  switch (frame.subtype) {
    case 'init':
      return [{ type: 'session', sessionId: frame.session_id }, ...modeSignal(frame.permissionMode)]
    case 'status':
      return statusSignals(frame)
    case 'compact_boundary':
      return [{ type: 'compacted', anchor: frame.uuid }]
    case 'api_retry':
      return [
        {
          type: 'retry',
          attempt: frame.attempt,
          maxAttempts: frame.max_retries,
          delayMs: frame.retry_delay_ms,
          reason: frame.error_status === null ? frame.error : `${frame.error_status} ${frame.error}`,
        },
      ]
    case 'commands_changed':
      return [{ type: 'commands', commands: commandsOf(frame.commands) }]
    case 'background_tasks_changed':
      return tasksChanged(state, frame)
    case 'task_updated':
      return taskUpdated(state, frame)
    case 'task_notification':
      return taskEnded(state, frame, around)
    default:
      return []
  }
}

export const commandsOf = (commands: readonly { name: string; description: string }[]): { name: string; description: string }[] =>
  commands.map(({ name, description }) => ({ name: wellFormed(name), description: wellFormed(description) }))

const MODES: readonly string[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'auto'] satisfies PermissionMode[]
const isMode = (mode: string): mode is PermissionMode => MODES.includes(mode)
const modeSignal = (mode: string | undefined): Signal[] => (mode !== undefined && isMode(mode) ? [{ type: 'permission-mode', mode }] : [])

function statusSignals(frame: Extract<SystemFrame, { subtype: 'status' }>): Signal[] {
  const signals = modeSignal(frame.permissionMode)
  if (frame.status === 'compacting') signals.push({ type: 'compacting' })
  if (frame.compact_result === 'success') signals.push({ type: 'compaction-succeeded' })
  else if (frame.compact_result === 'failed' || frame.compact_error !== undefined)
    signals.push({ type: 'compaction-failed', message: wellFormed(frame.compact_error ?? 'The conversation could not be compacted.') })
  return signals
}

/** The whole set of live tasks after a change. */
function tasksChanged(state: Translation, frame: Extract<SystemFrame, { subtype: 'background_tasks_changed' }>): Signal[] {
  const before = state.tasks
  state.tasks = new Map()
  for (const entry of frame.tasks) {
    if (entry.ambient === true) continue
    state.tasks.set(entry.task_id, {
      id: entry.task_id,
      kind: entry.task_type,
      title: wellFormed(entry.description),
      status: 'running',
    })
  }
  // A task that left the set is still asked about by the news of its end, which come around the same time.
  for (const [id, task] of before)
    if (!state.tasks.has(id) && task.status === 'running') state.tasks.set(id, { ...task, status: 'completed' })
  return [{ type: 'tasks', tasks: [...state.tasks.values()].filter((task) => task.status === 'running') }]
}

function taskEnded(state: Translation, frame: Extract<SystemFrame, { subtype: 'task_notification' }>, around: Surroundings): Signal[] {
  const ended = frame.tool_use_id === undefined ? [] : endSub(state, frame.tool_use_id, around)
  const task = state.tasks.get(frame.task_id)
  state.tasks.delete(frame.task_id)
  return task === undefined ? ended : [...ended, { type: 'task', task: { ...task, status: frame.status } }]
}

function taskUpdated(state: Translation, frame: Extract<SystemFrame, { subtype: 'task_updated' }>): Signal[] {
  const task = state.tasks.get(frame.task_id)
  const status = taskStatus(frame.patch.status)
  if (task === undefined || status === null || status === task.status) return []
  const next: BackgroundTask = { ...task, status }
  state.tasks.set(task.id, next)
  return [{ type: 'task', task: next }]
}

function taskStatus(status: string | undefined): BackgroundTask['status'] | null {
  if (status === 'completed' || status === 'failed') return status
  if (status === 'killed') return 'stopped'
  return status === 'running' || status === 'pending' ? 'running' : null
}

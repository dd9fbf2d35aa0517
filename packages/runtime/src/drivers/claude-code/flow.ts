/**
 * One stream of model messages as UI message chunks: the agent's own, or that of one sub-agent. The
 * order is what the AI SDK demands: a part starts, grows and ends; a step holds one model message
 * with the results of its tool calls. Small state, no I/O.
 */
import type { Json, UIMessageChunk } from '@wheelhouse/client/protocol'
import { toJson } from './clean.ts'

type Part = { kind: 'text' | 'reasoning'; id: string } | { kind: 'tool'; id: string; name: string; settled: boolean }

/** A tool call of this stream. `open`: it has no result yet. */
type Call = { name: string; open: boolean; startedAt: number; plan: string | null }

export type Flow = {
  messageId: string | null
  stepOpen: boolean
  /** Parts of the streaming message by content block index. */
  parts: Map<number, Part>
  /** Whole blocks taken so far, to give their parts ids. */
  blocks: number
  calls: Map<string, Call>
}

export const newFlow = (): Flow => ({ messageId: null, stepOpen: false, parts: new Map(), blocks: 0, calls: new Map() })

/** A content block, as far as it is shown. */
export type ShownBlock = {
  type: string
  text?: string
  thinking?: string
  id?: string
  name?: string
  input?: unknown
}

/** The next model message: ends what the last one left open, then opens a step. */
export function beginMessage(flow: Flow, messageId: string): UIMessageChunk[] {
  const chunks = endStep(flow)
  flow.messageId = messageId
  flow.blocks = 0
  flow.stepOpen = true
  return [...chunks, { type: 'start-step' }]
}

/** Ends everything open: at the next model message and at the end of the turn. */
export function endStep(flow: Flow): UIMessageChunk[] {
  const chunks = endParts(flow)
  if (flow.stepOpen) chunks.push({ type: 'finish-step' })
  flow.stepOpen = false
  return chunks
}

/** A stream that broke leaves parts open; they are closed as far as they came. */
function endParts(flow: Flow): UIMessageChunk[] {
  const chunks = [...flow.parts.keys()].flatMap((index) => endPart(flow, index, 'The answer broke off inside this call.'))
  flow.parts.clear()
  return chunks
}

export function startBlock(flow: Flow, index: number, block: ShownBlock): UIMessageChunk[] {
  const id = `${flow.messageId ?? ''}:${index}`
  switch (block.type) {
    case 'text':
      flow.parts.set(index, { kind: 'text', id })
      return [{ type: 'text-start', id }]
    case 'thinking':
      flow.parts.set(index, { kind: 'reasoning', id })
      return [{ type: 'reasoning-start', id }]
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const name = block.name ?? 'tool'
      flow.parts.set(index, { kind: 'tool', id: block.id ?? id, name, settled: false })
      return [{ type: 'tool-input-start', toolCallId: block.id ?? id, toolName: name, dynamic: true }]
    }
    default:
      // Redacted thinking and block types to come show nothing.
      return []
  }
}

/** Text of a block as it grows. */
export function growBlock(flow: Flow, index: number, grown: string): UIMessageChunk[] {
  const part = flow.parts.get(index)
  if (part === undefined || grown === '') return []
  if (part.kind === 'tool') return [{ type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: grown }]
  return [{ type: `${part.kind}-delta`, id: part.id, delta: grown }]
}

/** The agent has the call whole, and is about to run it. */
export function settleCall(flow: Flow, id: string, name: string, input: unknown, now: number): UIMessageChunk[] {
  const part = [...flow.parts.values()].find((candidate) => candidate.kind === 'tool' && candidate.id === id)
  if (part?.kind === 'tool') part.settled = true
  if (flow.calls.has(id)) return []
  flow.calls.set(id, { name, open: true, startedAt: now, plan: planIn(input) })
  return [{ type: 'tool-input-available', toolCallId: id, toolName: name, input: toJson(input), dynamic: true }]
}

function planIn(input: unknown): string | null {
  const json = toJson(input)
  return typeof json === 'object' && json !== null && !Array.isArray(json) && typeof json['plan'] === 'string' ? json['plan'] : null
}

export function endBlock(flow: Flow, index: number): UIMessageChunk[] {
  const chunks = endPart(flow, index, 'The agent did not take this call.')
  flow.parts.delete(index)
  return chunks
}

function endPart(flow: Flow, index: number, why: string): UIMessageChunk[] {
  const part = flow.parts.get(index)
  if (part === undefined) return []
  if (part.kind !== 'tool') return [{ type: `${part.kind}-end`, id: part.id }]
  if (part.settled) return []
  const input: Json = null
  return [{ type: 'tool-input-error', toolCallId: part.id, toolName: part.name, input, errorText: why, dynamic: true }]
}

/** A block that came whole, without a stream. */
export function wholeBlock(flow: Flow, block: ShownBlock, now: number): UIMessageChunk[] {
  const id = `${flow.messageId ?? ''}:${flow.blocks++}`
  if (block.type === 'text' && block.text !== undefined && block.text !== '')
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: block.text },
      { type: 'text-end', id },
    ]
  if (block.type === 'thinking' && block.thinking !== undefined && block.thinking !== '')
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: block.thinking },
      { type: 'reasoning-end', id },
    ]
  if (block.type.endsWith('tool_use') && block.id !== undefined)
    return [
      { type: 'tool-input-start', toolCallId: block.id, toolName: block.name ?? 'tool', dynamic: true },
      ...settleCall(flow, block.id, block.name ?? 'tool', block.input, now),
    ]
  return []
}

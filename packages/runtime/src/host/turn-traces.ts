/**
 * History of a session's turns as OpenTelemetry spans, one JSON line each in its field names of OTLP
 * (requirement 039, docs/decisions/0006): a span for every assistant row, and below it one for every
 * provider call. It is made from rows after they are final, holds nothing a person or an agent wrote,
 * and is for diagnosis: what a crash keeps from being written, the rows still say.
 */
import { createHash } from 'node:crypto'
import { appendFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Message } from '@wheelhouse/client/protocol'
import type { MessageId, SessionId, UsageRecord } from '../core/types.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from './log.ts'

type Attributes = { [name: string]: string | number | boolean | null }

/** `parentSpanId` is null for the first row of a turn; a row that continues it after a steer stands below that one. */
export type TraceSpan = {
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attributes
  status: 'STATUS_CODE_OK' | 'STATUS_CODE_ERROR'
}

export type TracePorts = { folder: string; store: Pick<Store, 'readMessage' | 'listUsage'>; log: Logger }

export class TurnTraces {
  readonly #ports: TracePorts
  /** The last write of all; files are written one after the other. */
  #written: Promise<void> = Promise.resolve()

  constructor(ports: TracePorts) {
    this.#ports = ports
  }

  /** Appends the spans of a final row to the file of its session. What fails is logged and disturbs nothing. */
  flush(sessionId: SessionId, messageId: MessageId): void {
    const { folder, store } = this.#ports
    const row = store.readMessage(messageId)
    // A turn that never left the host has no row any more.
    if (row === null) return
    const lines = spansOf(row, store.listUsage(sessionId, messageId)).map((span) => `${JSON.stringify(span)}\n`)
    void this.#then(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await appendFile(this.#fileOf(sessionId), lines.join(''), { mode: 0o600 })
    })
  }

  /** The history of a deleted session goes with it. */
  forget(sessionId: SessionId): Promise<void> {
    return this.#then(() => rm(this.#fileOf(sessionId), { force: true }))
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.#written
  }

  #fileOf(sessionId: SessionId): string {
    return join(this.#ports.folder, `${sessionId}.jsonl`)
  }

  #then(write: () => Promise<void>): Promise<void> {
    this.#written = this.#written.then(write).catch((error: unknown) => {
      this.#ports.log.warn({ error: String(error) }, 'a trace could not be written')
    })
    return this.#written
  }
}

/** Ids are made from those of turn and row, so that the same row gives the same span. */
export function spansOf(row: Message, calls: readonly (UsageRecord & { at: string })[]): TraceSpan[] {
  const traceId = idOf(row.turnId ?? row.id, TRACE_ID_LENGTH)
  const spanId = idOf(row.id, SPAN_ID_LENGTH)
  const turn: TraceSpan = {
    traceId,
    spanId,
    parentSpanId: row.rollOf === null ? null : idOf(row.rollOf, SPAN_ID_LENGTH),
    name: 'agent-session.turn',
    startTimeUnixNano: nanoOf(Date.parse(row.createdAt)),
    endTimeUnixNano: nanoOf(Date.parse(row.updatedAt)),
    attributes: {
      'session.id': row.sessionId,
      'wheelhouse.turn.id': row.turnId,
      'wheelhouse.message.id': row.id,
      'wheelhouse.origin': row.origin,
      'wheelhouse.headless': row.headless,
      'wheelhouse.status': row.status,
      'wheelhouse.boundary': row.boundary,
      'error.type': row.errorCode,
      'gen_ai.request.model': row.modelId,
    },
    status: row.status === 'error' ? 'STATUS_CODE_ERROR' : 'STATUS_CODE_OK',
  }
  return [turn, ...calls.map((call) => callSpan(turn, call))]
}

function callSpan({ traceId, spanId }: TraceSpan, call: UsageRecord & { at: string }): TraceSpan {
  const end = Date.parse(call.at)
  return {
    traceId,
    spanId: idOf(call.requestId, SPAN_ID_LENGTH),
    parentSpanId: spanId,
    name: 'agent-session.provider-call',
    startTimeUnixNano: nanoOf(end - (call.durationMs ?? 0)),
    endTimeUnixNano: nanoOf(end),
    attributes: {
      'gen_ai.request.model': call.modelId,
      'gen_ai.usage.input_tokens': call.inputTokens,
      'gen_ai.usage.output_tokens': call.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': call.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': call.cacheWriteTokens,
      'wheelhouse.time_to_first_token_ms': call.ttftMs,
    },
    status: 'STATUS_CODE_OK',
  }
}

/** Hex digits of the ids that OpenTelemetry prescribes. */
const TRACE_ID_LENGTH = 32
const SPAN_ID_LENGTH = 16

const idOf = (id: string, length: number): string => createHash('sha256').update(id).digest('hex').slice(0, length)

const nanoOf = (ms: number): string => (BigInt(Math.round(ms)) * 1_000_000n).toString()

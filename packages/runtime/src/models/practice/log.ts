/** What the practice server was asked, newest last, bounded; without keys. The tests' witness of what reached the model. */
import { appendFileSync } from 'node:fs'
import type { Json } from '@wheelhouse/client/protocol'
import { firstCharacters, parseJson } from './json.ts'
import type { Usage } from './frames.ts'

/** How a request ended. `cut`, `broken` and `hung` were scripted; `gone`: the client left first. */
export type Outcome = 'open' | 'complete' | 'refused' | 'cut' | 'broken' | 'hung' | 'gone'

export type RequestRecord = {
  n: number
  at: string
  method: string
  path: string
  status: number | null
  outcome: Outcome
  modelId: string | null
  /** The agent's own name for its conversation, when it sends one. */
  session: string | null
  userAgent: string | null
  messages: number
  tools: string[]
  /** The newest prompt, shortened. */
  prompt: string
  asked: string | null
  round: number | null
  usage: Usage | null
  messageId: string | null
  /** The parsed body, when the server was started with `keepBodies`. */
  body: Json
}

/** Records kept: enough for any test, a few megabytes at most. */
const KEPT = 1_000
const PROMPT_CHARS = 2_000
const REDACTED = '[redacted]'

/** A ring of records. `secrets` of a request (its key) are blotted out wherever they stand in its record. */
export class RequestLog {
  readonly entries: RequestRecord[] = []
  readonly #file: string | null
  #count = 0

  constructor(file: string | null) {
    this.#file = file
  }

  open(method: string, path: string): RequestRecord {
    const record: RequestRecord = {
      n: ++this.#count,
      at: new Date().toISOString(),
      method,
      path,
      status: null,
      outcome: 'open',
      modelId: null,
      session: null,
      userAgent: null,
      messages: 0,
      tools: [],
      prompt: '',
      asked: null,
      round: null,
      usage: null,
      messageId: null,
      body: null,
    }
    this.entries.push(record)
    if (this.entries.length > KEPT) this.entries.shift()
    return record
  }

  /** Puts what is known about the request into its record, without the key it came with. */
  fill(record: RequestRecord, facts: Partial<RequestRecord>, secret: string | null): void {
    const text = JSON.stringify({
      ...facts,
      ...(facts.prompt === undefined ? {} : { prompt: firstCharacters(facts.prompt, PROMPT_CHARS) }),
    })
    const safe = secret === null || secret === '' ? text : text.replaceAll(JSON.stringify(secret).slice(1, -1), REDACTED)
    Object.assign(record, parseJson(safe))
    this.#write('asked', record)
  }

  end(record: RequestRecord, outcome: Outcome): void {
    if (record.outcome !== 'open') return
    record.outcome = outcome
    this.#write('ended', record)
  }

  /** One line when a request is understood and one when it ends: a log that a crash cannot roll back. */
  #write(event: 'asked' | 'ended', record: RequestRecord): void {
    if (this.#file === null) return
    appendFileSync(this.#file, `${JSON.stringify({ event, ...record, body: undefined })}\n`, { mode: 0o600 })
  }
}

/**
 * The real Claude Code CLI behind the driver, against the practice model server: everything a test
 * sees is an event of the driver, a request of the CLI or a file in the workspace.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asSchema, readUIMessageStream, uiMessageChunkSchema, type UIMessageChunk as AiChunk } from 'ai'
import { emptyContent, foldChunks, type MessageContent, type MessagePart, type UIMessageChunk } from '@wheelhouse/client/protocol'
import type { AgentRuntimeConnection, ConnectInput, DriverEvent, SendInput } from '../../packages/runtime/src/driver/contract.ts'
import { claudeCodeDriver } from '../../packages/runtime/src/drivers/claude-code/driver.ts'
import { startPracticeServer, type PracticeServer, type RequestRecord } from '../../packages/runtime/src/models/practice/server.ts'
import { ClaudeCodeProcessManager } from '../../packages/runtime/src/host/process-manager.ts'
import type { LedgerEntry } from '../../packages/runtime/src/store/store.ts'

export const KEY = 'sk-practice-canary-0123456789'

/** Longest wait for anything that happens without a scripted pause; a start of the CLI is the slowest. */
const PATIENCE_MS = 20_000

/** A task in the background that ends by `endBackground`, which news of it then follow. */
export const BACKGROUND =
  '#practice: tool Bash {"command":"until [ -e go ]; do sleep 0.05; done; rm go","run_in_background":true}; say "launched"'

export const endBackground = (house: House): void => writeFileSync(join(house.workspace, 'go'), '')

export type House = {
  practice: PracticeServer
  folder: string
  workspace: string
  processes: ClaudeCodeProcessManager
  ledger: LedgerEntry[]
  /** What every child was started with. */
  spawned: { command: string; args: readonly string[]; env: { [name: string]: string } }[]
  /** `maxRetries`: how often the CLI repeats a refused request; each time it waits half a second and more. */
  open(change?: Partial<ConnectInput>, maxRetries?: number): Session
  /** Closes every session and checks that none left a process or an entry. */
  rest(): Promise<void>
  close(): Promise<void>
}

export async function makeHouse(): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'claude-code-'))
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const ledger: LedgerEntry[] = []
  const spawned: House['spawned'] = []
  const practice = await startPracticeServer({ keepBodies: true, dripMs: 1 })
  const processes = processesOf(ledger)
  const sessions: Session[] = []
  return {
    practice,
    folder,
    workspace,
    processes,
    ledger,
    spawned,
    open(change = {}, maxRetries = 1) {
      const session = new Session(connectInput({ folder, workspace, practice, processes, spawned }), change, maxRetries)
      sessions.push(session)
      return session
    },
    async rest() {
      await Promise.all(sessions.splice(0).map((session) => session.connection.close('test over')))
      await processes.settled()
      assert.deepEqual(ledger, [], 'no process is left in the ledger')
    },
    async close() {
      await practice.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The host's manager of agent processes, with its ledger in `ledger`. */
export function processesOf(ledger: LedgerEntry[]): ClaudeCodeProcessManager {
  return new ClaudeCodeProcessManager({
    ledger: {
      add: (entry) => void ledger.push(entry),
      remove: (pid) =>
        void ledger.splice(
          ledger.findIndex((entry) => entry.pid === pid),
          1,
        ),
      list: () => ledger,
    },
    after,
    timestamp: () => new Date().toISOString(),
    log: () => undefined,
  })
}

export function after(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms)
  return () => clearTimeout(timer)
}

type Parts = Pick<House, 'folder' | 'workspace' | 'practice' | 'processes' | 'spawned'>

function connectInput({ folder, workspace, practice, processes, spawned }: Parts): Omit<ConnectInput, 'emit'> {
  const sessionId = randomUUID()
  return {
    sessionId,
    generation: 1,
    cwd: workspace,
    resumeToken: null,
    provider: { protocol: 'anthropic', baseUrl: practice.url, apiKey: KEY },
    modelId: 'practice',
    prompt: { base: null, append: 'You are tested.' },
    permissionMode: 'default',
    disabledTools: [],
    dirs: { home: join(folder, 'home'), tmp: join(folder, 'tmp') },
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    ports: {
      spawn(command, args, options) {
        spawned.push({ command, args, env: options.env })
        return processes.spawn(sessionId, command, args, options)
      },
      killTree: async (child, scope) => void (await processes.killTree(child.pid ?? 0, scope)),
      after,
      newId: randomUUID,
      log: () => undefined,
      now: () => performance.now(),
    },
  }
}

type EventOf<T extends DriverEvent['type']> = Extract<DriverEvent, { type: T }>

/** One connection and everything it said. */
export class Session {
  readonly events: DriverEvent[] = []
  readonly connection: AgentRuntimeConnection
  readonly input: ConnectInput
  readonly #watchers = new Set<() => void>()
  /** Called for every event, inside `emit`, as the host would. */
  onEvent: (event: DriverEvent) => void = () => undefined

  constructor(base: Omit<ConnectInput, 'emit'>, change: Partial<ConnectInput>, maxRetries: number) {
    this.input = {
      ...base,
      ...change,
      emit: (event) => {
        this.events.push(event)
        this.onEvent(event)
        for (const watcher of this.#watchers) watcher()
      },
    }
    this.connection = claudeCodeDriver({ maxRetries }).connect(this.input)
  }

  /** Sends a user message; returns the turn's id. */
  send(text: string, change: Partial<SendInput> = {}): string {
    const turnId = randomUUID()
    this.connection.send({
      turnId,
      inputId: randomUUID(),
      kind: 'user',
      parts: [{ type: 'text', text }],
      steer: false,
      headless: false,
      seed: null,
      ...change,
    })
    return turnId
  }

  /** Waits for the first event that fits, also among those already seen. */
  async until<T extends DriverEvent['type']>(
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
    withinMs = PATIENCE_MS,
  ): Promise<EventOf<T>> {
    const find = (): EventOf<T> | undefined =>
      this.events.find((event): event is EventOf<T> => event.type === type && fits(event as EventOf<T>))
    return await this.when(`${type} of the driver`, find, withinMs)
  }

  async when<V>(what: string, look: () => V | undefined | false, withinMs = PATIENCE_MS): Promise<V> {
    const found = look()
    if (found !== undefined && found !== false) return found
    return await new Promise<V>((resolve, reject) => {
      const watch = (): void => {
        const value = look()
        if (value === undefined || value === false) return
        this.#watchers.delete(watch)
        cancel()
        clearInterval(poll)
        resolve(value)
      }
      const poll = setInterval(watch, 10)
      const cancel = after(withinMs, () => {
        this.#watchers.delete(watch)
        clearInterval(poll)
        reject(new Error(`not within ${withinMs} ms: ${what}; seen: ${this.events.map((event) => event.type).join(' ')}`))
      })
      this.#watchers.add(watch)
    })
  }

  connected(): Promise<EventOf<'connected'>> {
    return this.until('connected')
  }

  /** The event that ends a turn. */
  async ended(turnId: string, withinMs = PATIENCE_MS): Promise<EventOf<'turn-complete'> | EventOf<'error'>> {
    return await this.when(
      'the end of the turn',
      () =>
        this.events.find(
          (event): event is EventOf<'turn-complete'> | EventOf<'error'> =>
            (event.type === 'turn-complete' || event.type === 'error') && event.turnId === turnId,
        ),
      withinMs,
    )
  }

  /** Sends, waits for the end, and gives what was shown. */
  async turn(
    text: string,
    change: Partial<SendInput> = {},
  ): Promise<{ turnId: string; end: EventOf<'turn-complete'> | EventOf<'error'>; content: MessageContent }> {
    const turnId = this.send(text, change)
    const end = await this.ended(turnId)
    return { turnId, end, content: this.content(turnId) }
  }

  chunks(turnId: string): UIMessageChunk[] {
    return this.events.flatMap((event) => (event.type === 'chunk' && event.turnId === turnId ? event.chunks : []))
  }

  content(turnId: string): MessageContent {
    return foldChunks(emptyContent(), this.chunks(turnId))
  }

  shownText(turnId: string): string {
    return textOf(this.content(turnId).parts)
  }

  all<T extends DriverEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }
}

export const textOf = (parts: readonly MessagePart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
export const toolsOf = (parts: readonly MessagePart[]): Extract<MessagePart, { type: 'dynamic-tool' }>[] =>
  parts.filter((part) => part.type === 'dynamic-tool')

/** The AI SDK is the judge: each chunk fits its schema, and the sequence makes a message. */
export async function judge(chunks: readonly UIMessageChunk[]): Promise<void> {
  const schema = asSchema(uiMessageChunkSchema)
  for (const chunk of chunks) {
    const verdict = await schema.validate?.(chunk)
    assert.ok(verdict?.success === true, JSON.stringify(chunk))
  }
  const stream = new ReadableStream<AiChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  const failures: unknown[] = []
  for await (const message of readUIMessageStream({ stream, onError: (error) => failures.push(error) }))
    assert.ok(message.parts.length >= 0)
  assert.deepEqual(failures, [])
}

/** Requests to the model that hold this text in their newest prompt. */
export const asked = (house: House, text: string): RequestRecord[] =>
  house.practice.requests.filter((record) => record.prompt.includes(text))

/** Grants every offering at once, as the host does after its commit; approves every tool. */
export function obliging(session: Session): Session {
  session.onEvent = (event) => {
    if (event.type === 'steer-offering') session.connection.answerOffering?.(event.offeringId, event.inputIds)
    if (event.type === 'tool-approval-request')
      session.connection.answerApproval(event.request.approvalId, { allow: true, reason: null, updatedInput: null, answers: null })
  }
  return session
}

/** Gives a steer to a running turn; returns its input's id. */
export function steer(session: Session, turnId: string, text: string): string {
  const inputId = randomUUID()
  assert.equal(session.connection.redirect?.({ turnId, inputId, parts: [{ type: 'text', text }] }), true)
  return inputId
}

/** The events of a steer and of the turn's shape, in order. */
export const story = (session: Session): string[] =>
  session.events
    .filter((event) => event.type.startsWith('steer-') || event.type === 'turn-complete' || event.type === 'error')
    .map((event) => event.type)

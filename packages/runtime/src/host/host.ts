/**
 * A host: the engine with its real parts, over one data directory. `createHost` is what `wheelhouse
 * serve` runs and what an embedder calls.
 */
import {
  wellFormed,
  wellFormedJson,
  LIMITS,
  PROTOCOL_VERSION,
  type Approval,
  type ApprovalInput,
  type HostInfo,
  type Message,
  type MessageInput,
  type MessagePart,
  type ProviderTest,
  type StopInput,
  type TranscriptPage,
} from '@wheelhouse/client/protocol'
import type { Answer } from '../core/effect.ts'
import type { CommandEvent } from '../core/event.ts'
import type { SessionId } from '../core/types.ts'
import type { AgentSessionRuntimeDriver } from '../driver/contract.ts'
import type { Store } from '../store/store.ts'
import { Answers } from './answers.ts'
import { AgentChatContextProvider, partsOf } from './chat-context-provider.ts'
import { systemClock, type Clock } from './clock.ts'
import { openDataDir, type DataDir, type LockFile } from './data-dir.ts'
import { DriverRegistry } from './drivers.ts'
import { createEngine, type Engine, type EnginePorts } from './engine.ts'
import { HostError, type Caller, type Keyed } from './host-api.ts'
import { idMaker } from './ids.ts'
import { KeyStore } from './key-store.ts'
import { AgentLifecycleService } from './lifecycle-service.ts'
import type { Logger } from './log.ts'
import { ClaudeCodeProcessManager } from './process-manager.ts'
import { findProcessTable } from './process-table.ts'
import { testProvider } from './provider-test.ts'
import { startSweep } from './sweep.ts'
import { TurnTraces } from './turn-traces.ts'
import { Workspaces } from './workspace.ts'
import { VERSION } from '../version.ts'

/** What a host is made of: its folder, its store, its drivers. */
export type HostOptions = {
  /** Made when it is missing; one host at a time. */
  dataDir: string
  /** Opens the store; the composition root chooses which. */
  openStore(path: string): Store
  /** Holds the data directory against other hosts; the composition root chooses how. */
  lockFile: LockFile
  /** Agent runtimes by type; of two with one type the later counts. */
  drivers: readonly AgentSessionRuntimeDriver[]
  log: Logger
  /** Keeps the spans of every turn in `traces/` of the data directory; off unless it is said. */
  traces?: boolean
  clock?: Clock
  timers?: EnginePorts['timers']
  aroundEffect?: EnginePorts['aroundEffect']
}

/** A running host: the commands of PROTOCOL, section 5, its streams, and `stop`. Refusals are {@link HostError}s. */
export type Host = Awaited<ReturnType<typeof createHost>>

/** Opens the data directory, recovers what an earlier host left, and is ready when it resolves. Throws DataDirLocked, StoreError. */
export async function createHost(options: HostOptions) {
  const { log } = options
  const clock = options.clock ?? systemClock
  const newId = idMaker(() => Date.now())
  const table = findProcessTable()
  const dataDir = openDataDir(options.dataDir, options.lockFile)
  let store: Store
  let keys: KeyStore
  try {
    keys = new KeyStore(dataDir.keysFile)
    store = options.openStore(dataDir.database)
  } catch (error) {
    dataDir.release()
    throw error
  }
  const processes = new ClaudeCodeProcessManager({
    ledger: {
      add: (entry) => store.addProcess(entry),
      remove: (pid, startTime) => store.removeProcess(pid, startTime),
      list: () => store.listProcesses(),
    },
    after: (ms, fire) => clock.after(ms, fire),
    timestamp: () => clock.iso(),
    log: (level, message, fields) => log[level](fields, message),
    table,
  })
  const drivers = new DriverRegistry({ drivers: options.drivers, store, keys, dataDir, processes, clock, newId, log })
  const workspaces = new Workspaces(clock)
  const answers = new Answers({ store, clock, log })
  const traces = new TurnTraces({ folder: dataDir.traces, store, log })
  const firstEpoch = dataDir.hostId * EPOCHS_PER_HOST
  const engine: Engine = createEngine({
    store,
    clock,
    newId,
    epoch: firstEpoch + store.nextStreamEpoch(),
    firstEpoch,
    facts: (id) => drivers.facts(id),
    validateDelivery: (id, done) => provider.validateDelivery(id, done),
    forget: (id) => void Promise.all([drivers.forget(id), traces.forget(id)]),
    ...(options.traces === true ? { turnEnded: (id, messageId) => traces.flush(id, messageId) } : {}),
    report: (what, sessionId, detail) => log[what === 'stale-event' ? 'debug' : 'error']({ sessionId, detail }, what),
    ...(options.timers === undefined ? {} : { timers: options.timers }),
    ...(options.aroundEffect === undefined ? {} : { aroundEffect: options.aroundEffect }),
  })
  const provider: AgentChatContextProvider = new AgentChatContextProvider({
    store,
    runtime: engine.runtime,
    drivers,
    workspaces,
    newId,
    freeBytes: () => dataDir.free(),
  })
  const lifecycle = new AgentLifecycleService({
    store,
    runtime: engine.runtime,
    keys,
    dataDir,
    drivers,
    workspaces,
    clock,
    newId,
    created: (session) => engine.streams.listed(session),
    relisted: (sessions) => engine.streams.relisted(sessions),
  })

  // An agent of an earlier host may still write: it is gone before anything of it is resumed (decision 11).
  try {
    await Promise.all([processes.reap(), drivers.probe()])
    engine.boot()
  } catch (error) {
    await engine.connections.closeAll('shutdown')
    engine.stop()
    processes.stop()
    store.close()
    dataDir.release()
    throw error
  }
  const stopSweep = startSweep({ store, clock, runtime: engine.runtime, report: (detail) => log.error({ detail }, 'sweep failed') })
  const startedAt = clock.iso()

  return {
    ...surface({ store, answers, engine, provider, lifecycle, drivers, keys, dataDir, startedAt }),
    dataDir,
    log,
    lifecycle,
    engine,
    /** Ends every agent, saves what is left, and gives the data directory free. */
    async stop(): Promise<void> {
      stopSweep()
      // Nothing is admitted and no successor starts while agents go down one by one.
      engine.runtime.setHeld(true)
      let cancel = (): void => undefined
      const deadline = new Promise<void>((resolve) => {
        cancel = clock.after(CLOSE_DEADLINE_MS, resolve)
      })
      await Promise.race([engine.connections.closeAll('shutdown'), deadline])
      cancel()
      engine.stop()
      processes.stop()
      await Promise.all([processes.settled(), traces.settled()])
      store.close()
      dataDir.release()
    },
  }
}

/** Leaves room for starts between the epochs of two data directories whose random numbers happen to be neighbours. */
const EPOCHS_PER_HOST = 2 ** 10
/** How long agents get to end by themselves (spec README, constants). */
const CLOSE_DEADLINE_MS = 20_000

const textOf = (parts: readonly MessagePart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

const wellFormedAnswers = (answers: { [question: string]: string }): { [question: string]: string } =>
  Object.fromEntries(Object.entries(answers).map(([question, answer]) => [wellFormed(question), wellFormed(answer)]))

type Parts = {
  store: Store
  answers: Answers
  engine: Engine
  provider: AgentChatContextProvider
  lifecycle: AgentLifecycleService
  drivers: DriverRegistry
  keys: KeyStore
  dataDir: DataDir
  startedAt: string
}

/** What the server asks of a host, beside the lifecycle service. */
function surface({ store, answers, engine, provider, lifecycle, drivers, keys, dataDir, startedAt }: Parts) {
  const { runtime, streams, views } = engine
  const command = async (
    id: SessionId,
    build: (commandId: string) => CommandEvent,
  ): Promise<Extract<Answer, { ok: true }> & { cursor: string }> => {
    const answer = await runtime.command(id, build)
    if (!answer.ok) throw new HostError(answer.code, answer.detail)
    return { ...answer, cursor: streams.cursor(id) }
  }
  const messageOf = (sessionId: SessionId, messageId: string): Message => {
    if (runtime.session(sessionId) === null) throw new HostError('SESSION_NOT_FOUND', sessionId)
    const message = store.readMessage(messageId)
    if (message === null || message.sessionId !== sessionId) throw new HostError('MESSAGE_NOT_FOUND', messageId)
    return message
  }
  return {
    info: (): HostInfo => ({
      name: 'wheelhouse',
      version: VERSION,
      protocol: PROTOCOL_VERSION,
      dataDir: dataDir.path,
      startedAt,
      limits: { ...LIMITS },
      drivers: drivers.list(),
    }),
    /** Accepts a message; durable when it resolves (requirement 006). */
    async send(id: SessionId, input: MessageInput, caller: Caller, key: Keyed) {
      const session = runtime.session(id)
      const isFirst = session !== null && session.lastSeq === 0 && session.queue.length === 0
      const answer = await provider.dispatch(id, input, caller, key)
      if (!answer.ok) throw new HostError(answer.code, answer.detail)
      if (isFirst) await lifecycle.nameSession(id, textOf(partsOf(input)))
      return {
        messageId: answer.messageId ?? '',
        turnId: answer.turnId,
        disposition: answer.disposition ?? 'queued',
        cursor: streams.cursor(id),
      } as const
    },
    /** Stops what runs (decision 3); `stopped` false when nothing did. TURN_NOT_CURRENT. */
    async stopTurn(id: SessionId, input: StopInput, caller: Caller) {
      const answer = await command(id, (commandId) => ({
        type: 'stop-requested',
        commandId,
        turnId: input.turnId ?? null,
        queue: input.queue ?? 'hold',
        by: caller.name,
      }))
      return { stopped: answer.turnId !== null, turnId: answer.turnId, cursor: answer.cursor }
    },
    /** Changes an input that is not taken. INPUT_ALREADY_TAKEN. */
    async edit(id: SessionId, messageId: string, input: Pick<MessageInput, 'text' | 'parts'>): Promise<Message> {
      messageOf(id, messageId)
      const parts = partsOf(input)
      await command(id, (commandId) => ({ type: 'message-edited', commandId, messageId, parts }))
      return messageOf(id, messageId)
    },
    /** Takes an input back; again is no error. INPUT_ALREADY_TAKEN. */
    async withdraw(id: SessionId, messageId: string): Promise<void> {
      if (messageOf(id, messageId).inputState === 'withdrawn') return
      await command(id, (commandId) => ({ type: 'message-withdrawn', commandId, messageId }))
    },
    /** Decides about an input of which nobody can say whether the agent has it. INPUT_NOT_UNKNOWN. */
    async settle(id: SessionId, messageId: string, how: 'resent' | 'dismissed') {
      messageOf(id, messageId)
      return command(id, (commandId) => ({ type: `message-${how}`, commandId, messageId }))
    },
    runQueue: (id: SessionId) => command(id, (commandId) => ({ type: 'queue-run', commandId })),
    discardQueue: (id: SessionId) => command(id, (commandId) => ({ type: 'queue-discarded', commandId })),
    release: (id: SessionId) => command(id, (commandId) => ({ type: 'session-released', commandId })),
    /** A page of taken inputs and answers, ascending, with the cursor that continues it. */
    transcript(id: SessionId, page: { limit: number; before: number | null }): TranscriptPage {
      const session = runtime.session(id)
      if (session === null) throw new HostError('SESSION_NOT_FOUND', id)
      // Content of a pending row comes by chunks alone, so that no chunk is applied twice (PROTOCOL, The transcript).
      const items = store.listMessages(id, page).map((row) => (row.status === 'pending' ? { ...row, parts: [], metadata: {} } : row))
      const first = items[0]?.seq ?? null
      const more = first !== null && items.length === page.limit && store.listMessages(id, { limit: 1, before: first }).length > 0
      return { items, before: more ? String(first) : null, cursor: streams.openingCursor(session) }
    },
    /** Everything of a session but its transcript, with the cursor that continues it. */
    snapshot(id: SessionId) {
      const session = runtime.session(id)
      if (session === null) throw new HostError('SESSION_NOT_FOUND', id)
      return { ...views.snapshot(id), cursor: streams.openingCursor(session) }
    },
    readAgent(id: string) {
      const agent = store.readAgent(id)
      if (agent === null) throw new HostError('AGENT_NOT_FOUND', id)
      return agent
    },
    listAgents: () => store.listAgents(),
    listApprovals: (filter: { sessionId: string | null; status: 'pending' | null }, page: { after: number; limit: number }): Approval[] =>
      store.listApprovals(filter, page),
    /** The first answer counts. APPROVAL_NOT_FOUND, APPROVAL_NOT_PENDING. */
    async answerApproval(id: string, input: ApprovalInput, caller: Caller): Promise<Approval> {
      const approval = store.readApproval(id)
      if (approval === null) throw new HostError('APPROVAL_NOT_FOUND', id)
      const decision = {
        allow: input.decision === 'allow',
        reason: input.reason === undefined ? null : wellFormed(input.reason),
        updatedInput: input.updatedInput === undefined ? approval.input : wellFormedJson(input.updatedInput),
        answers: input.answers === undefined ? null : wellFormedAnswers(input.answers),
      }
      await command(approval.sessionId, (commandId) => ({
        type: 'approval-answered',
        commandId,
        approvalId: id,
        decision,
        by: caller.name,
      }))
      return store.readApproval(id) ?? approval
    },
    testProvider: (id: string, modelId: string | null): Promise<ProviderTest> =>
      testProvider(lifecycle.readProvider(id), keys.get(id), modelId),
    once: (name: string, request: { bodyHash: string; status: number }, run: () => unknown) => answers.once(name, request, run),
    streams,
  }
}

/**
 * One session's connection to the CLI: one long-lived process fed by a queue (spec, Claude Code
 * driver). It binds what the CLI says to turns; what a frame means is translate.ts, what a turn's
 * steers become is steers.ts.
 *
 *   connecting -> live -> closing -> closed
 *        +-- recovery: once, a process without the history that cannot go on takes the place of the first --+
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk'
import type { MessagePart, UIMessageChunk } from '@wheelhouse/client/protocol'
import { assertNever } from '../../core/assert.ts'
import type {
  AgentRuntimeConnection,
  ApprovalDecision,
  ConnectInput,
  DesiredPolicy,
  DriverEvent,
  ReconcileAnswer,
  SendInput,
  UsageRecord,
} from '../../driver/contract.ts'
import { Approvals, kindOf } from './approvals.ts'
import { CompactionWatch } from './compaction.ts'
import { cleanText } from './clean.ts'
import { endingOf, mendable, messageOf, type Ending, type Mendable } from './errors.ts'
import { metadataOf } from './metadata.ts'
import { prepareDirs, sessionDirs, type ClaudeCodeOptions } from './options.ts'
import { Outbox } from './outbox.ts'
import { newPolicy, planPolicy, type LivePolicy } from './policy.ts'
import { exitOf, openRun, type Run, type RunCallbacks } from './run.ts'
import type { Sdk } from './sdk.ts'
import { INSTALL_ADVICE } from './sdk.ts'
import type { Frame, ResultFrame, Signal } from './signals.ts'
import {
  commandsOf,
  knowsCall,
  newTranslation,
  openCalls,
  planOf,
  showHeld,
  translate,
  type Surroundings,
  type Translation,
} from './translate.ts'
import { newTurn, turnOfResult, type LiveTurn } from './turns.ts'
import { steerText, toUserMessage } from './user-message.ts'

/** A start takes 0.3 to 1.5 s; one that takes this long will not come up. */
const CONNECT_WAIT_MS = 60_000
/** A process that is asked to end gets this long: it saves its session and ends its tools. */
const CLOSE_WAIT_MS = 3_000
/** How full the context is belongs to the end of a turn, but must not hold it up. */
const CONTEXT_WAIT_MS = 1_000
/** A card must not stand before the call it is about; the call's own frame is at most this far behind. */
const CALL_WAIT_MS = 1_000
/** What started a little before its call was seen belongs to it, too. */
const TOOL_SLACK_MS = 1_000
/** Usage of sub-agents between turns, kept for the turn that reports them. */
const HELD_USAGE = 1_000

type ClosedCode = Extract<DriverEvent, { type: 'connection-closed' }>['code']

export class ClaudeCodeConnection implements AgentRuntimeConnection {
  readonly #input: ConnectInput
  readonly #options: ClaudeCodeOptions
  readonly #out: Outbox
  readonly #approvals: Approvals
  readonly #policy: LivePolicy
  readonly #around: Surroundings
  readonly #compaction: CompactionWatch
  #phase: 'connecting' | 'live' | 'closing' | 'closed' = 'connecting'
  #sdk: Sdk | null = null
  #run: Run | null = null
  #translation: Translation = newTranslation()
  /** Turns given or begun and not ended, oldest first. */
  #open: LiveTurn[] = []
  /** The one the CLI works on. */
  #active: LiveTurn | null = null
  #token: string | null
  /** The one recovery of this connection is spent (decision 10). */
  #recovered = false
  #costKnown: boolean
  #working = false
  #heldUsage: UsageRecord[] = []
  #policyChain: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | null = null
  #callSeen = new Set<() => void>()

  constructor(input: ConnectInput, options: ClaudeCodeOptions, load: () => Promise<Sdk>) {
    const { ports } = input
    this.#input = input
    this.#options = options
    this.#out = new Outbox(input.emit, (ms, fire) => ports.after(ms, fire))
    this.#approvals = new Approvals((event) => this.#out.event(event))
    this.#compaction = new CompactionWatch((event) => this.#out.event(event))
    this.#policy = newPolicy(input)
    this.#token = input.resumeToken
    this.#costKnown = input.resumeToken === null
    this.#around = {
      now: () => ports.now(),
      refusal: (toolUseId, isError) => this.#refusal(toolUseId, isError),
      redact: (text) => this.#redact(text),
    }
    void this.#start(load)
  }

  // ---- the contract

  send(input: SendInput): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    const { after, newId } = this.#input.ports
    const turn = newTurn(input.turnId, randomUUID(), input, { after, newId, emit: (event) => this.#out.event(event) })
    this.#open.push(turn)
    this.#give(turn)
  }

  redirect(input: { turnId: string; inputId: string; parts: readonly MessagePart[] }): boolean {
    const turn = this.#open.find((open) => open.turnId === input.turnId)
    const kind = turn?.input?.kind
    if (turn === undefined || kind !== 'user' || turn.interrupted || this.#phase !== 'live' || this.#compaction.running) return false
    return turn.steers.stash(input.inputId, steerText(input.parts))
  }

  withdrawRedirect(inputIds: readonly string[]): void {
    for (const turn of this.#open) turn.steers.withdraw(inputIds)
  }

  answerOffering(offeringId: string, inputIds: readonly string[]): void {
    for (const turn of this.#open) turn.steers.answer(offeringId, inputIds)
  }

  reconcile(want: DesiredPolicy): Promise<ReconcileAnswer> {
    const answer = this.#policyChain.then(() => this.#applyPolicy(want))
    this.#policyChain = answer
    return answer
  }

  interrupt(turnId: string): void {
    const turn = this.#open.find((open) => open.turnId === turnId)
    if (turn === undefined) return
    turn.interrupted = true
    turn.steers.close()
    // The CLI ignores an interrupt before it has begun the turn; it gets one then.
    if (turn === this.#active) this.#interruptNow()
  }

  answerApproval(approvalId: string, decision: ApprovalDecision): void {
    this.#approvals.answer(approvalId, decision)
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  // ---- coming up

  async #start(load: () => Promise<Sdk>): Promise<void> {
    const { cwd, permissionMode, env } = this.#input
    const obstacle = workspaceObstacle(cwd) ?? rootObstacle(permissionMode, env)
    try {
      this.#sdk = await load()
    } catch {
      // The package is not there; what the loader says about it helps nobody.
      this.#finish('DRIVER_NOT_INSTALLED', `Claude Code is not installed. ${INSTALL_ADVICE}`)
      return
    }
    if (this.#phase !== 'connecting') return
    if (obstacle !== null) this.#finish('CONNECT_FAILED', obstacle)
    else this.#openRun(this.#input.resumeToken)
  }

  /** Starts a process, and gives it the turns that wait. */
  #openRun(resumeToken: string | null): void {
    const { ports } = this.#input
    if (this.#sdk === null) return
    try {
      prepareDirs(sessionDirs(this.#input))
      const run = openRun(this.#sdk, this.#input, this.#options, resumeToken, this.#callbacks())
      this.#run = run
      const cancel = ports.after(CONNECT_WAIT_MS, () => this.#tooSlow(run))
      run.query.initializationResult().then(
        (result) => {
          cancel()
          this.#onReady(run, commandsOf(result.commands))
        },
        // The reader of frames is told the same, and acts on it.
        () => cancel(),
      )
      void this.#read(run)
    } catch (error) {
      void this.#end('CONNECT_FAILED', messageOf(error))
      return
    }
    for (const turn of this.#open) this.#give(turn)
  }

  #onReady(run: Run, commands: { name: string; description: string }[]): void {
    if (run !== this.#run || this.#phase !== 'connecting') return
    this.#phase = 'live'
    this.#out.event({ type: 'connected', resumed: this.#input.resumeToken !== null && !this.#recovered })
    this.#out.event({ type: 'supported-commands', commands })
  }

  #tooSlow(run: Run): void {
    if (run === this.#run && this.#phase === 'connecting') void this.#end('CONNECT_FAILED', 'Claude Code did not come up in time.')
  }

  #give(turn: LiveTurn): void {
    if (turn.input !== null && turn.uuid !== null) this.#run?.queue.push(toUserMessage(turn.input, turn.uuid))
  }

  // ---- what the CLI says

  async #read(run: Run): Promise<void> {
    try {
      for await (const message of run.query) {
        if (run !== this.#run) return
        await this.#onFrame(run, message)
      }
      await this.#onRunEnded(run, null)
    } catch (error) {
      await this.#onRunEnded(run, error)
    }
  }

  async #onFrame(run: Run, frame: Frame): Promise<void> {
    const signals = translate(this.#translation, frame, this.#around)
    for (const signal of signals) {
      if (signal.type === 'result') await this.#onResult(run, signal.result)
      else this.#onSignal(run, signal)
    }
  }

  #onSignal(run: Run, signal: Exclude<Signal, { type: 'result' }>): void {
    switch (signal.type) {
      case 'session':
        run.sessions.add(signal.sessionId)
        return this.#keepToken(run, signal.sessionId)
      case 'permission-mode':
        this.#policy.permissionMode = signal.mode
        return
      case 'taken':
        return this.#onTaken([signal.uuid])
      case 'answers':
        return this.#onTaken(signal.uuids)
      case 'dropped':
        return this.#onDropped(signal.uuid)
      case 'model-message':
        return this.#onModelMessage()
      case 'model-stopped':
        if (this.#active !== null) this.#active.answered = signal.reason === 'end_turn' || signal.reason === 'stop_sequence'
        return
      case 'chunks':
        return this.#show(signal.chunks)
      case 'sub-chunks':
        return this.#showSub(signal.parentId, signal.chunks)
      case 'usage':
        return this.#onUsage(signal.usage)
      case 'tool-answered':
        return this.#active?.steers.toolAnswered(signal.toolUseId)
      case 'retry': {
        const { attempt, maxAttempts, delayMs, reason } = signal
        if (this.#active !== null)
          this.#out.event({ type: 'api-retry', turnId: this.#active.turnId, attempt, maxAttempts, delayMs, reason })
        return
      }
      case 'compacting':
        return this.#compaction.begin(this.#active?.input ?? null)
      case 'compaction-succeeded':
        return this.#compaction.succeeded()
      case 'compacted':
        return this.#compaction.complete(signal.anchor)
      case 'compaction-failed':
        return this.#compaction.fail(signal.message)
      case 'tasks':
        return this.#onTasks(signal.tasks)
      case 'task':
        return this.#out.event({ type: 'background-task-event', task: signal.task })
      case 'commands':
        return this.#out.event({ type: 'supported-commands', commands: signal.commands })
      default:
        return assertNever(signal)
    }
  }

  /** The CLI works on one of ours. A turn of the agent's own that never got its result ends with that. */
  #onTaken(uuids: readonly string[]): void {
    const turn = this.#open.find((open) => open.uuid !== null && uuids.includes(open.uuid))
    if (turn === undefined || turn === this.#active) return
    if (this.#active !== null) this.#endTurn(this.#active, { kind: 'success' })
    turn.taken = true
    this.#activate(turn)
    if (turn.interrupted) this.#interruptNow()
  }

  #activate(turn: LiveTurn): void {
    this.#active = turn
    for (const usage of this.#heldUsage) this.#out.event({ type: 'usage', turnId: turn.turnId, usage })
    this.#heldUsage = []
  }

  /** Taken out of the CLI's queue unread, which only an interrupt does. */
  #onDropped(uuid: string): void {
    const turn = this.#open.find((open) => open.uuid === uuid)
    if (turn !== undefined && turn.interrupted) this.#endTurn(turn, { kind: 'stopped' })
  }

  #onModelMessage(): void {
    if (this.#active === null) this.#beginAutonomous()
    else this.#active.steers.modelMessage()
    if (this.#active !== null) this.#active.answered = false
  }

  /** The agent works without being asked: news of a background task, mostly. */
  #beginAutonomous(): void {
    const { newId, after } = this.#input.ports
    const turn = newTurn(newId(), null, null, { after, newId, emit: (event) => this.#out.event(event) })
    turn.taken = true
    this.#open.push(turn)
    this.#out.event({ type: 'autonomous-turn-state', state: 'started', turnId: turn.turnId })
    this.#activate(turn)
  }

  #show(chunks: readonly UIMessageChunk[]): void {
    const turn = this.#active
    if (turn === null) return
    this.#out.chunks(turn.turnId, turn.interrupted ? turn.shown.passEnds(chunks) : turn.shown.pass(chunks))
    for (const seen of this.#callSeen) seen()
  }

  #showSub(parentId: string, chunks: readonly UIMessageChunk[]): void {
    this.#active?.shown.note()
    // The row is the host's to find by the call: rows roll, and a sub-agent may outlive its turn.
    for (const chunk of chunks) this.#out.event({ type: 'background-flow-chunk', messageId: '', toolCallId: parentId, chunk })
  }

  #onUsage(usage: UsageRecord): void {
    if (this.#active !== null) this.#out.event({ type: 'usage', turnId: this.#active.turnId, usage })
    else if (this.#heldUsage.length < HELD_USAGE) this.#heldUsage.push(usage)
  }

  #onTasks(tasks: Extract<DriverEvent, { type: 'background-tasks' }>['tasks']): void {
    this.#out.event({ type: 'background-tasks', tasks })
    if (this.#working === tasks.length > 0) return
    this.#working = tasks.length > 0
    this.#out.event({ type: 'background-work-state', active: this.#working })
  }

  // ---- how turns end

  async #onResult(run: Run, result: ResultFrame): Promise<void> {
    const turn = turnOfResult(result, this.#open, this.#active)
    const ending = endingOf(result, turn?.interrupted === true)
    const mend = ending.kind === 'error' ? mendable(ending.message) : null
    if (mend !== null && this.#mayRecover(mend, turn)) return await this.#recover(run, mend)
    if (turn === null)
      return this.#log('info', 'a result that ends no turn was dropped', { reason: result.terminal_reason ?? result.subtype })
    this.#compaction.settle()
    turn.steers.end()
    this.#keepToken(run, result.session_id)
    if (ending.kind === 'success') this.#show(turn.shown.any ? showHeld(this.#translation) : this.#silentAnswer(result))
    this.#show([{ type: 'message-metadata', messageMetadata: metadataOf(result, this.#costKnown) }])
    this.#costKnown = true
    if (ending.kind === 'success') await this.#tellContext(run)
    this.#endTurn(turn, ending)
  }

  /** Commands of the CLI answer without a model: their answer stands in the result alone. */
  #silentAnswer(result: ResultFrame): UIMessageChunk[] {
    const held = showHeld(this.#translation)
    if (held.length > 0 || result.subtype !== 'success' || result.result.trim() === '') return held
    const id = 'answer'
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: cleanText(result.result) },
      { type: 'text-end', id },
    ]
  }

  #endTurn(turn: LiveTurn, ending: Ending): void {
    turn.steers.end()
    this.#open = this.#open.filter((open) => open !== turn)
    if (this.#active === turn) this.#active = null
    const { turnId } = turn
    if (ending.kind === 'error') {
      const { code, message, status } = ending
      this.#out.event({ type: 'error', turnId, code, message: this.#redact(message), status })
    } else this.#out.event({ type: 'turn-complete', turnId, outcome: ending.kind })
  }

  async #tellContext(run: Run): Promise<void> {
    const usage = await within(run.query.getContextUsage({ detail: 'summary' }), CONTEXT_WAIT_MS, (ms, fire) =>
      this.#input.ports.after(ms, fire),
    )
    if (usage !== null) this.#out.event({ type: 'context-usage', usage: { usedTokens: usage.totalTokens, maxTokens: usage.maxTokens } })
  }

  /** Only ids the CLI announced for its own conversation: a failed resume names the id it did not find. */
  #keepToken(run: Run, sessionId: string): void {
    if (!run.sessions.has(sessionId) || this.#token === sessionId) return
    this.#token = sessionId
    this.#out.event({ type: 'resume-token', token: sessionId })
  }

  // ---- recovery (decision 10)

  /** A missing conversation has shown nothing by itself; a poisoned one only counts while the turn has shown nothing. */
  #mayRecover(mend: Exclude<Mendable, null>, turn: LiveTurn | null): boolean {
    if (this.#recovered || this.#phase === 'closing' || this.#phase === 'closed' || turn?.interrupted === true) return false
    return mend === 'missing' ? this.#input.resumeToken !== null : turn !== null && turn.input !== null && !turn.shown.any
  }

  async #recover(run: Run, mend: Exclude<Mendable, null>): Promise<void> {
    this.#recovered = true
    this.#run = null
    this.#log('warn', 'the agent’s conversation cannot go on; starting a fresh one', { reason: mend })
    run.queue.end()
    run.query.close()
    await this.#gone(run)
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    this.#translation = newTranslation()
    this.#active = null
    for (const turn of this.#open) turn.taken = false
    this.#tellContextLost()
    this.#openRun(null)
  }

  /** A person sees that the agent starts without its memory; before `connected` the event itself says so. */
  #tellContextLost(): void {
    const [turn] = this.#open
    if (this.#phase !== 'live' || turn === undefined) return
    const text = 'The agent could not go on from its earlier conversation and answers without it.'
    this.#out.chunks(turn.turnId, turn.shown.pass([{ type: 'data-notice', id: 'context-lost', data: { code: 'CONTEXT_LOST', text } }]))
  }

  // ---- asking a person

  #callbacks(): RunCallbacks {
    return {
      canUseTool: (toolName, toolInput, ask) => this.#ask(toolName, toolInput, ask),
      refuses: (toolName) => (this.#policy.disabled.has(toolName) ? `${toolName} is switched off for this agent.` : null),
      inject: (toolUseId) => this.#active?.steers.offer(toolUseId) ?? Promise.resolve(null),
      toolTook: (toolUseId, ms) => this.#show([{ type: 'message-metadata', messageMetadata: { toolMs: { [toolUseId]: Math.round(ms) } } }]),
    }
  }

  async #ask(...[toolName, toolInput, ask]: Parameters<CanUseTool>): ReturnType<CanUseTool> {
    const turn = this.#active
    if (turn === null) return { behavior: 'deny', message: 'Nobody can be asked now: no turn is open.' }
    const isMain = ask.agentID === undefined
    if (isMain) await this.#callShown(ask.toolUseID)
    const approvalId = this.#input.ports.newId()
    const plan = kindOf(toolName) === 'plan' ? planOf(this.#translation, ask.toolUseID) : null
    const answer = this.#approvals.ask(approvalId, {
      turnId: turn.turnId,
      toolName,
      toolCallId: ask.toolUseID,
      input: toolInput,
      plan,
      signal: ask.signal,
    })
    if (isMain && this.#approvals.isOpen(approvalId) && knowsCall(this.#translation, ask.toolUseID))
      this.#show([{ type: 'tool-approval-request', approvalId, toolCallId: ask.toolUseID }])
    return await answer
  }

  /** Resolves when the transcript holds the call, or soon. */
  #callShown(toolUseId: string): Promise<void> {
    if (knowsCall(this.#translation, toolUseId)) return Promise.resolve()
    return new Promise((resolve) => {
      const settle = (): void => {
        cancel()
        this.#callSeen.delete(look)
        resolve()
      }
      const look = (): void => (knowsCall(this.#translation, toolUseId) ? settle() : undefined)
      const cancel = this.#input.ports.after(CALL_WAIT_MS, settle)
      this.#callSeen.add(look)
    })
  }

  #refusal(toolUseId: string, isError: boolean): ReturnType<Surroundings['refusal']> {
    if (!isError) return null
    if (this.#active?.interrupted === true) return 'stopped'
    return this.#approvals.wasDenied(toolUseId) ? 'denied' : null
  }

  // ---- stopping, policy, closing

  /** Asks the CLI to stop, and ends what the unfinished calls started, which the CLI leaves running. */
  #interruptNow(): void {
    const run = this.#run
    if (run === null) return
    const { ports } = this.#input
    run.query.interrupt().catch((error: unknown) => this.#log('debug', 'interrupt was not taken', { error: messageOf(error) }))
    const child = run.child()
    const calls = openCalls(this.#translation)
    if (child === null || calls.length === 0 || ports.killTree === undefined) return
    const oldest = Math.min(...calls.map((call) => call.startedAt))
    const scope = { root: false, startedWithinMs: ports.now() - oldest + TOOL_SLACK_MS }
    ports.killTree(child, scope).catch((error: unknown) => this.#log('warn', 'tools could not be ended', { error: messageOf(error) }))
  }

  async #applyPolicy(want: DesiredPolicy): Promise<ReconcileAnswer> {
    const plan = planPolicy(this.#policy, want, this.#open.length > 0)
    for (const tool of plan.disable) this.#policy.disabled.add(tool)
    if (plan.answer !== 'patched') return plan.answer
    const run = this.#run
    if (this.#phase !== 'live' || run === null) return 'rebuild'
    try {
      if (plan.mode !== null) await run.query.setPermissionMode(plan.mode)
      if (plan.modelId !== null) await run.query.setModel(plan.modelId)
    } catch (error) {
      this.#log('warn', 'the agent refused its new policy', { error: messageOf(error) })
      return 'failed'
    }
    this.#policy.permissionMode = want.permissionMode
    this.#policy.modelId = want.modelId
    this.#policy.disabled = new Set(want.disabledTools)
    return 'patched'
  }

  async #close(reason: string): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closing'
    this.#log('debug', 'closing', { reason })
    await this.#leave()
    this.#finish(null, '')
  }

  /** The run ended by itself. A complete answer without its result is still an answer. */
  async #onRunEnded(run: Run, error: unknown): Promise<void> {
    if (run !== this.#run || this.#phase === 'closing' || this.#phase === 'closed') return
    const said = error === null ? 'Claude Code ended.' : messageOf(error)
    const mend = mendable(said)
    if (mend === 'missing' && this.#mayRecover(mend, this.#active)) return await this.#recover(run, mend)
    const turn = this.#active
    if (turn !== null && turn.answered && openCalls(this.#translation).length === 0) {
      this.#show([{ type: 'message-metadata', messageMetadata: { truncated: true } }])
      this.#endTurn(turn, turn.interrupted ? { kind: 'stopped' } : { kind: 'success' })
    }
    const words = run.lastWords()
    const detail = this.#phase === 'connecting' && words !== '' ? `${said}\n${words}` : said
    await this.#end(this.#phase === 'connecting' ? 'CONNECT_FAILED' : 'AGENT_PROCESS_LOST', detail)
  }

  async #end(code: ClosedCode, message: string): Promise<void> {
    this.#phase = 'closing'
    await this.#leave()
    this.#finish(code, message)
  }

  /** Asks the process to go, and makes sure. */
  async #leave(): Promise<void> {
    const run = this.#run
    for (const turn of this.#open) turn.steers.close()
    this.#approvals.withdrawAll('The agent is closing.')
    if (run === null) return
    run.queue.end()
    run.query.close()
    // In the middle of a turn the end of its input does not move the CLI; a signal does.
    if (this.#open.length > 0) run.child()?.kill('SIGTERM')
    await this.#gone(run)
  }

  async #gone(run: Run): Promise<void> {
    const { ports } = this.#input
    const child = run.child()
    const exited = await within(
      exitOf(child).then(() => true),
      CLOSE_WAIT_MS,
      (ms, fire) => ports.after(ms, fire),
    )
    if (exited === true || child === null) return
    if (ports.killTree === undefined) child.kill('SIGKILL')
    else await ports.killTree(child, { root: true, startedWithinMs: null })
    await exitOf(child)
  }

  #finish(code: ClosedCode, message: string): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#closing ??= Promise.resolve()
    this.#out.last({ type: 'connection-closed', code, message: this.#redact(cleanText(message)) })
  }

  #redact(text: string): string {
    const { apiKey } = this.#input.provider
    return apiKey === null || apiKey === '' ? text : text.replaceAll(apiKey, '[key]')
  }

  #log(level: 'debug' | 'info' | 'warn', message: string, fields: { [name: string]: string }): void {
    this.#input.ports.log(level, message, fields)
  }
}

/** The folder first: the SDK blames its own program when the folder is gone (BUG-45). */
function workspaceObstacle(cwd: string): string | null {
  try {
    return statSync(cwd).isDirectory() ? null : `The workspace is not a folder: ${cwd}`
  } catch (error) {
    return `The workspace folder is missing: ${cwd} (${error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'})`
  }
}

/** The CLI's own rule, told before it ends without a word (decision 21). */
function rootObstacle(mode: string, env: { [name: string]: string }): string | null {
  if (mode !== 'bypassPermissions' || process.getuid?.() !== 0 || env['IS_SANDBOX'] === '1') return null
  return 'Claude Code refuses full access when it runs as root. Run the host as another user, or set IS_SANDBOX=1 where it is isolated anyway.'
}

/** The value, or null when it fails or takes too long. */
function within<T>(promise: Promise<T>, ms: number, after: (ms: number, fire: () => void) => () => void): Promise<T | null> {
  return new Promise((resolve) => {
    const cancel = after(ms, () => resolve(null))
    promise.then(
      (value) => {
        cancel()
        resolve(value)
      },
      () => {
        cancel()
        resolve(null)
      },
    )
  })
}

/**
 * One session's connection to the CLI: one long-lived process fed by a queue (spec, Claude Code
 * driver), and its one replacement when the stored conversation cannot go on (decision 10).
 *
 *   connecting -> live -> closing -> closed
 *
 * What the CLI says is bound to turns by conversation.ts; this is the life of the process behind it.
 */
import { statSync } from 'node:fs'
import { wellFormed, type MessagePart, type PermissionMode } from '@wheelhouse/client/protocol'
import type {
  AgentRuntimeConnection,
  ApprovalDecision,
  ConnectInput,
  DesiredPolicy,
  DriverEvent,
  ReconcileAnswer,
  SendInput,
} from '../../driver/contract.ts'
import { Conversation } from './conversation.ts'
import { endingOf, mendable, messageOf, type Mendable } from './errors.ts'
import { metadataOf } from './metadata.ts'
import { prepareDirs, sessionDirs, type ClaudeCodeOptions } from './options.ts'
import { Outbox } from './outbox.ts'
import { newPolicy, PERMISSION_MODES, planPolicy, type LivePolicy } from './policy.ts'
import { exitOf, openRun, type Run, type RunCallbacks } from './run.ts'
import { INSTALL_ADVICE, type Sdk } from './sdk.ts'
import type { Frame, ResultFrame } from './signals.ts'
import { commandsOf } from './translate.ts'
import type { LiveTurn } from './turns.ts'
import { steerText, toUserMessage } from './user-message.ts'

/** A start takes 0.3 to 1.5 s; one that takes this long will not come up. */
const CONNECT_WAIT_MS = 60_000
/** A process that is asked to end gets this long: it saves its session and ends its tools. */
const CLOSE_WAIT_MS = 3_000
/** How full the context is belongs to the end of a turn, but must not hold it up. */
const CONTEXT_WAIT_MS = 1_000
/** What started a little before its call was seen belongs to it, too. */
const TOOL_SLACK_MS = 1_000

type ClosedCode = Extract<DriverEvent, { type: 'connection-closed' }>['code']
type Broken = Exclude<Mendable, null>

export class ClaudeCodeConnection implements AgentRuntimeConnection {
  readonly #input: ConnectInput
  readonly #options: ClaudeCodeOptions
  readonly #out: Outbox
  readonly #talk: Conversation
  readonly #policy: LivePolicy
  #phase: 'connecting' | 'live' | 'closing' | 'closed' = 'connecting'
  #sdk: Sdk | null = null
  #run: Run | null = null
  #token: string | null
  /** The one recovery of this connection is spent. */
  #recovered = false
  /** The CLI's running total of costs holds nothing of earlier connections. */
  #totalIsOwn: boolean
  /** The newest change of policy that is not done; changes are made one after the other. */
  #wish: { key: string; answer: Promise<ReconcileAnswer> } | null = null
  #closing: Promise<void> | null = null

  constructor(input: ConnectInput, options: ClaudeCodeOptions, load: () => Promise<Sdk>) {
    const { after, newId, now } = input.ports
    this.#input = input
    this.#options = options
    this.#out = new Outbox(input.emit, after)
    this.#talk = new Conversation(this.#out, {
      after,
      newId,
      now,
      redact: (text) => this.#redact(text),
      interrupt: () => this.#interruptNow(),
    })
    this.#policy = newPolicy(input)
    this.#token = input.resumeToken
    this.#totalIsOwn = input.resumeToken === null
    void this.#start(load)
  }

  // ---- the contract

  send(input: SendInput): void {
    if (this.#isLeaving()) return
    this.#give(this.#talk.open(input))
  }

  redirect(input: { turnId: string; inputId: string; parts: readonly MessagePart[] }): boolean {
    const turn = this.#talk.find(input.turnId)
    if (turn === undefined || turn.input?.kind !== 'user' || turn.interrupted) return false
    if (this.#phase !== 'live' || this.#talk.compaction.running) return false
    return turn.steers.stash(input.inputId, steerText(input.parts))
  }

  withdrawRedirect(inputIds: readonly string[]): void {
    for (const turn of this.#talk.turns) turn.steers.withdraw(inputIds)
  }

  answerOffering(offeringId: string, inputIds: readonly string[]): void {
    for (const turn of this.#talk.turns) turn.steers.answer(offeringId, inputIds)
  }

  reconcile(want: DesiredPolicy): Promise<ReconcileAnswer> {
    // The same wish twice at once is one: both are told how it went.
    const key = JSON.stringify([want.modelId, want.permissionMode, want.disabledTools])
    if (this.#wish?.key === key) return this.#wish.answer
    const answer = (this.#wish?.answer ?? Promise.resolve()).then(() => this.#applyPolicy(want))
    const wish = { key, answer }
    this.#wish = wish
    return answer.finally(() => {
      if (this.#wish === wish) this.#wish = null
    })
  }

  interrupt(turnId: string): void {
    const turn = this.#talk.find(turnId)
    if (turn === undefined) return
    turn.interrupted = true
    turn.steers.close()
    // Before it has begun a turn the CLI ignores an interrupt; it gets one then.
    if (turn === this.#talk.active) this.#interruptNow()
  }

  answerApproval(approvalId: string, decision: ApprovalDecision): void {
    this.#talk.answerApproval(approvalId, decision)
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#end(null, '', reason)
    return this.#closing
  }

  // ---- coming up

  async #start(load: () => Promise<Sdk>): Promise<void> {
    const { cwd, permissionMode, env, resumeToken } = this.#input
    try {
      this.#sdk = await load()
    } catch {
      // The package is not there; what the loader says about it helps nobody.
      this.#finish('DRIVER_NOT_INSTALLED', `Claude Code is not installed. ${INSTALL_ADVICE}`)
      return
    }
    if (this.#isLeaving()) return
    const missing = workspaceObstacle(cwd)
    const obstacle = modeObstacle(permissionMode, env)
    if (missing !== null) this.#finish('WORKSPACE_MISSING', missing)
    else if (obstacle !== null) this.#finish('CONNECT_FAILED', obstacle)
    else this.#openRun(isSessionId(resumeToken) ? resumeToken : null)
  }

  /** Starts a process, and gives it the turns that wait. */
  #openRun(resumeToken: string | null): void {
    if (this.#sdk === null) return
    try {
      prepareDirs(sessionDirs(this.#input))
      this.#run = openRun(this.#sdk, this.#input, this.#options, resumeToken, this.#callbacks())
    } catch (error) {
      void this.#failStart(messageOf(error))
      return
    }
    void this.#read(this.#run)
    void this.#awaitReady(this.#run, resumeToken !== null)
    for (const turn of this.#talk.turns) this.#give(turn)
  }

  /** The control channel is up long before the CLI says `init`, which it does only once it has work. */
  async #awaitReady(run: Run, resumed: boolean): Promise<void> {
    const result = await this.#within(run.query.initializationResult(), CONNECT_WAIT_MS)
    if (run !== this.#run || this.#phase !== 'connecting') return
    if (result === 'failed') return // The reader of frames is told the same, with the reason.
    if (result === 'late') return await this.#end('CONNECT_FAILED', 'Claude Code did not come up in time.', 'too slow')
    this.#phase = 'live'
    this.#out.event({ type: 'connected', resumed })
    this.#out.event({ type: 'supported-commands', commands: commandsOf(result.value.commands) })
  }

  #give(turn: LiveTurn): void {
    if (turn.input !== null && turn.uuid !== null) this.#run?.queue.push(toUserMessage(turn.input, turn.uuid))
  }

  // ---- while it runs

  async #read(run: Run): Promise<void> {
    try {
      for await (const message of run.query) {
        if (run !== this.#run) return
        await this.#onFrame(run, message)
      }
      await this.#onRunEnded(run, 'Claude Code ended.')
    } catch (error) {
      await this.#onRunEnded(run, messageOf(error))
    }
  }

  async #onFrame(run: Run, frame: Frame): Promise<void> {
    for (const signal of this.#talk.onFrame(frame)) {
      if (signal.type === 'result') await this.#onResult(run, signal.result)
      else if (signal.type === 'permission-mode') this.#policy.permissionMode = signal.mode
      else {
        run.sessions.add(signal.sessionId)
        this.#keepToken(run, signal.sessionId)
      }
    }
  }

  async #onResult(run: Run, result: ResultFrame): Promise<void> {
    const turn = this.#talk.turnOf(result)
    const ending = endingOf(result, turn?.interrupted === true)
    const broken = ending.kind === 'error' ? mendable(ending.message) : null
    if (broken !== null && this.#mayRecover(broken, turn)) return await this.#recover(run, broken)
    if (turn === null) {
      this.#log('info', 'a result that ends no turn was dropped', { reason: result.terminal_reason ?? result.subtype })
      return
    }
    this.#talk.compaction.settle()
    turn.steers.end()
    this.#keepToken(run, result.session_id)
    if (ending.kind === 'success') this.#talk.show(this.#talk.lastWords(turn, result))
    this.#talk.show([{ type: 'message-metadata', messageMetadata: metadataOf(result, this.#totalIsOwn) }])
    if (ending.kind === 'success') await this.#tellContext(run)
    this.#talk.endTurn(turn, ending)
  }

  async #tellContext(run: Run): Promise<void> {
    const answer = await this.#within(run.query.getContextUsage({ detail: 'summary' }), CONTEXT_WAIT_MS)
    if (typeof answer === 'string') return
    const { totalTokens: usedTokens, maxTokens } = answer.value
    this.#out.event({ type: 'context-usage', usage: { usedTokens, maxTokens } })
  }

  /** Only ids the CLI announced for its own conversation: a failed resume names the id it did not find. */
  #keepToken(run: Run, sessionId: string): void {
    if (!run.sessions.has(sessionId) || this.#token === sessionId) return
    this.#token = sessionId
    this.#out.event({ type: 'resume-token', token: sessionId })
  }

  #callbacks(): RunCallbacks {
    return {
      canUseTool: (...ask) => this.#talk.ask(...ask),
      refuses: (toolName) => (this.#policy.disabled.has(toolName) ? `${toolName} is switched off for this agent.` : null),
      inject: (toolUseId) => this.#talk.active?.steers.offer(toolUseId) ?? Promise.resolve(null),
      toolTook: (toolUseId, ms) =>
        this.#talk.show([{ type: 'message-metadata', messageMetadata: { toolMs: { [toolUseId]: Math.round(ms) } } }]),
    }
  }

  /** Asks the CLI to stop, and ends what the unfinished calls started, which the CLI may leave running (BUG-29). */
  #interruptNow(): void {
    const run = this.#run
    if (run === null) return
    const { ports } = this.#input
    run.query.interrupt().catch((error: unknown) => this.#log('debug', 'an interrupt was not taken', { error: messageOf(error) }))
    const child = run.child()
    const sinceMs = this.#talk.oldestCallMs()
    if (child === null || sinceMs === null || ports.killTree === undefined) return
    const scope = { root: false, startedWithinMs: ports.now() - sinceMs + TOOL_SLACK_MS }
    ports.killTree(child, scope).catch((error: unknown) => this.#log('warn', 'tools could not be ended', { error: messageOf(error) }))
  }

  async #applyPolicy(want: DesiredPolicy): Promise<ReconcileAnswer> {
    const plan = planPolicy(this.#policy, want, this.#talk.turns.length > 0)
    for (const tool of plan.disable) this.#policy.disabled.add(tool)
    const run = this.#run
    if (plan.answer !== 'patched') return plan.answer
    if (this.#phase !== 'live' || run === null) return 'rebuild'
    try {
      if (plan.mode !== null) await run.query.setPermissionMode(plan.mode)
      if (plan.modelId !== null) await run.query.setModel(plan.modelId)
    } catch (error) {
      this.#log('warn', 'the agent refused its new policy', { error: messageOf(error) })
      return 'failed'
    }
    const { permissionMode, modelId, disabledTools } = want
    Object.assign(this.#policy, { permissionMode, modelId, disabled: new Set(disabledTools) })
    return 'patched'
  }

  // ---- recovery

  /** A missing conversation has shown nothing by itself; a poisoned one counts only while the turn has shown nothing. */
  #mayRecover(broken: Broken, turn: LiveTurn | null): boolean {
    if (this.#recovered || this.#isLeaving() || turn?.interrupted === true) return false
    return broken === 'missing' ? this.#input.resumeToken !== null : turn !== null && turn.input !== null && !turn.shown.any
  }

  async #recover(run: Run, broken: Broken): Promise<void> {
    this.#recovered = true
    this.#run = null
    this.#log('warn', 'the stored conversation cannot go on; a fresh one takes its place', { reason: broken })
    run.queue.end()
    run.query.close()
    await this.#gone(run)
    if (this.#isLeaving()) return
    this.#talk.restart()
    // Before `connected` that event says so itself.
    if (this.#phase === 'live')
      this.#talk.notice('CONTEXT_LOST', 'The agent could not go on from its earlier conversation and answers without it.')
    this.#openRun(null)
  }

  // ---- going

  async #onRunEnded(run: Run, said: string): Promise<void> {
    if (run !== this.#run || this.#isLeaving()) return
    if (mendable(said) === 'missing' && this.#mayRecover('missing', this.#talk.active)) return await this.#recover(run, 'missing')
    this.#talk.salvage()
    const words = run.lastWords()
    if (this.#phase === 'connecting') await this.#failStart(words === '' ? said : `${said}\n${words}`)
    else await this.#end('AGENT_PROCESS_LOST', said, 'it ended')
  }

  /** The folder may have gone since it was looked at, and the SDK blames its own program for that (BUG-45). */
  async #failStart(said: string): Promise<void> {
    const missing = workspaceObstacle(this.#input.cwd)
    await this.#end(missing === null ? 'CONNECT_FAILED' : 'WORKSPACE_MISSING', missing ?? said, 'it could not be started')
  }

  async #end(code: ClosedCode, message: string, reason: string): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closing'
    this.#log('debug', 'closing', { reason })
    this.#talk.closeTurns('The agent is closing.')
    const run = this.#run
    if (run !== null) {
      run.queue.end()
      run.query.close()
      // In the middle of a turn the end of its input does not move the CLI; a signal does.
      if (this.#talk.turns.length > 0) run.child()?.kill('SIGTERM')
      await this.#gone(run)
    }
    this.#finish(code, message)
  }

  /** Resolves when the process is gone, with force if need be. */
  async #gone(run: Run): Promise<void> {
    const { ports } = this.#input
    const child = run.child()
    if (child === null) return
    if ((await this.#within(exitOf(child), CLOSE_WAIT_MS)) !== 'late') return
    if (ports.killTree === undefined) child.kill('SIGKILL')
    else await ports.killTree(child, { root: true, startedWithinMs: null })
    // What even that does not end sleeps in the kernel; the connection is over all the same.
    await this.#within(exitOf(child), CLOSE_WAIT_MS)
  }

  #finish(code: ClosedCode, message: string): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#closing ??= Promise.resolve()
    this.#out.last({ type: 'connection-closed', code, message: wellFormed(this.#redact(message)) })
  }

  #isLeaving(): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  #redact(text: string): string {
    const { apiKey } = this.#input.provider
    return apiKey === null || apiKey === '' ? text : text.replaceAll(apiKey, '[key]')
  }

  #log(level: 'debug' | 'info' | 'warn', message: string, fields: { [name: string]: string }): void {
    this.#input.ports.log(level, message, fields)
  }

  /** The value; `failed` when it rejects, `late` when it takes longer. */
  #within<T>(promise: Promise<T>, ms: number): Promise<{ value: T } | 'failed' | 'late'> {
    return new Promise((resolve) => {
      const cancel = this.#input.ports.after(ms, () => resolve('late'))
      const settle = (outcome: { value: T } | 'failed'): void => {
        cancel()
        resolve(outcome)
      }
      promise.then(
        (value) => settle({ value }),
        () => settle('failed'),
      )
    })
  }
}

/** Only an id: the CLI takes titles of other conversations as well, and stops on anything else. */
const isSessionId = (token: string | null): token is string =>
  token !== null && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(token)

/** The folder first: the SDK blames its own program when the folder is gone (BUG-45). */
function workspaceObstacle(cwd: string): string | null {
  try {
    return statSync(cwd).isDirectory() ? null : `The workspace is not a folder: ${cwd}`
  } catch (error) {
    return `The workspace folder is missing: ${cwd} (${error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'})`
  }
}

/** The CLI's own rules, told before it ends without a word (decision 21). */
function modeObstacle(mode: PermissionMode, env: { [name: string]: string }): string | null {
  if (!PERMISSION_MODES.includes(mode)) return `Claude Code does not offer the permission mode ${mode} here.`
  if (mode !== 'bypassPermissions' || process.getuid?.() !== 0 || env['IS_SANDBOX'] === '1') return null
  return 'Claude Code refuses full access when it runs as root. Run the host as another user, or set IS_SANDBOX=1 where it is isolated anyway.'
}

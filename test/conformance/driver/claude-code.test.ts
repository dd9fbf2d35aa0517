/** The Claude Code driver keeps the contract, with the real CLI against the practice model server. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants, existsSync, mkdirSync, mkdtempSync, openSync, closeSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { driverConformance, type HeldPrompt, type OpenedTarget } from '../../../packages/runtime/src/driver/kit/index.ts'
import { claudeCodeDriver } from '../../../packages/runtime/src/drivers/claude-code/driver.ts'
import type { ClaudeCodeProcessManager } from '../../../packages/runtime/src/host/process-manager.ts'
import { startPracticeServer, type PracticeServer } from '../../../packages/runtime/src/models/practice/server.ts'
import type { LedgerEntry } from '../../../packages/runtime/src/store/store.ts'
import { after, processesOf } from '../../claude-code/harness.ts'

const POLL_MS = 20

driverConformance({
  name: 'claude-code',
  driver: claudeCodeDriver({ maxRetries: 1 }),
  open,
  deadlineMs: 30_000,
})

async function open(): Promise<OpenedTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'claude-conformance-'))
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const practice = await startPracticeServer({ dripMs: 1 })
  const ledger: LedgerEntry[] = []
  const processes = processesOf(ledger)
  const news = heldTool(workspace)
  const watch = setInterval(() => {
    killWhoAsked(practice, ledger)
    bringNews(practice, news)
  }, POLL_MS)
  return {
    input: inputOf(folder, workspace, practice, processes),
    prompts: promptsOf(workspace, practice, news),
    async dispose() {
      clearInterval(watch)
      await processes.settled()
      await practice.close()
      rmSync(folder, { recursive: true, force: true })
      assert.deepEqual(ledger, [], 'a process is left')
    },
  }
}

function inputOf(folder: string, cwd: string, practice: PracticeServer, processes: ClaudeCodeProcessManager): OpenedTarget['input'] {
  return {
    cwd,
    provider: { protocol: 'anthropic', baseUrl: practice.url, apiKey: `canary-${randomUUID()}` },
    modelId: 'practice',
    prompt: { base: null, append: '' },
    permissionMode: 'default',
    disabledTools: [],
    dirs: { home: join(folder, 'home'), tmp: join(folder, 'tmp') },
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    ports: {
      spawn: (command, args, options) => processes.spawn(null, command, args, options),
      killTree: async (child, scope) => void (await processes.killTree(child.pid ?? 0, scope)),
      after,
      newId: randomUUID,
      log: () => undefined,
      now: () => performance.now(),
    },
  }
}

const DIE = 'this is the end of it'

function promptsOf(workspace: string, practice: PracticeServer, news: HeldTool): OpenedTarget['prompts'] {
  const question = { question: 'Which colour?', header: 'Colour', multiSelect: false, options: [option('Red'), option('Blue')] }
  return {
    text: '#practice: say "good morning"',
    tool: '#practice: tool Bash {"command":"ls -la"}; say "done"',
    longTool: () => heldTool(workspace),
    longText: () => heldText(practice),
    steer: 'and this, too',
    approval: '#practice: tool Write {"file_path":"asked.txt","content":"x"}; say "done"',
    question: `#practice: tool AskUserQuestion ${JSON.stringify({ questions: [question] })}; say "done"`,
    plan: '#practice: tool EnterPlanMode {}; then; tool ExitPlanMode {"plan":"first this, then that"}; say "done"',
    reasoning: '#practice: think "hm, hm"; say "done"',
    autonomous: `#practice: tool Bash ${JSON.stringify({ command: news.command, run_in_background: true })}; say "now"; notice; say "later"`,
    autoCompaction: '#practice: tool Bash {"command":"ls"}; fault promptTooLong scope=all; say "done"',
    recall: { tell: '#practice: say "the number is 42"', ask: '#practice: say "it began with: $first"', expect: /the number is 42/ },
    fail: { text: '#practice: fault status=400 message="so not" times=always', code: 'PROVIDER_ERROR' },
    die: `#practice: say "half"; hang\n${DIE}`,
    illFormed: String.raw`#practice: say "half \ud83d and \u0000 and done"`,
    broken: { cwd: join(workspace, 'missing') },
  }
}

const option = (label: string): { label: string; description: string } => ({ label, description: label })

type HeldTool = HeldPrompt & { command: string }

/** Reading a pipe needs no permission and ends when somebody writes. */
function heldTool(workspace: string): HeldTool {
  const pipe = join(workspace, `pipe-${randomUUID()}`)
  execFileSync('mkfifo', [pipe])
  let released = false
  const write = (): void => {
    try {
      closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
    } catch {
      // Nobody reads yet, or any more: the tool has not begun, or was stopped.
      if (existsSync(pipe)) setTimeout(write, POLL_MS).unref()
    }
  }
  const release = (): void => {
    if (!released) write()
    released = true
  }
  const command = `cat ${pipe}`
  return { command, text: `#practice: tool Bash ${JSON.stringify({ command })}; say "done"`, release }
}

function heldText(practice: PracticeServer): HeldPrompt {
  const name = randomUUID()
  return { text: `#practice: say "well "; hold ${name}; say "done"`, release: () => practice.release(name) }
}

/** A prompt that asks for it ends the agent's process from outside. */
function killWhoAsked(practice: PracticeServer, ledger: readonly LedgerEntry[]): void {
  const asked = practice.requests.some((record) => record.prompt.includes(DIE) && record.outcome === 'hung')
  const [entry] = ledger
  if (asked && entry !== undefined) process.kill(entry.pid, 'SIGKILL')
}

/** The task in the background ends once the answer after its start is complete, so that its news begin a turn. */
function bringNews(practice: PracticeServer, news: HeldTool): void {
  if (practice.requests.some((record) => record.prompt.includes(news.command) && record.round === 1 && record.outcome === 'complete'))
    news.release()
}

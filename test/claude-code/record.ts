/**
 * Records what the real CLI says, for the tests of the translation: `node test/claude-code/record.ts`
 * after a new version of the SDK, then read the diff. Paths of the machine are taken out.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { query, type Query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { InputQueue } from '../../packages/runtime/src/drivers/claude-code/input-queue.ts'
import type { Frame } from '../../packages/runtime/src/drivers/claude-code/signals.ts'
import { startPracticeServer } from '../../packages/runtime/src/models/practice/server.ts'

const SUB_AGENT = JSON.stringify({
  description: 'look',
  prompt: '#practice: think "deep"; say "sub one"; tool Bash {"command":"echo sub"}; say "sub done"',
  subagent_type: 'general-purpose',
  run_in_background: false,
})

/** What is said to the CLI, and how many results end it; `stopAt`: interrupted when this text has come. */
const SCENES: { name: string; say: string[]; results: number; stopAt?: string }[] = [
  {
    name: 'tools',
    say: ['#practice: think "hm hm"; say "I look."; tool Bash {"command":"echo one"}; tool Bash {"command":"exit 3"}; say "Done now."'],
    results: 1,
  },
  { name: 'stopped', say: ['#practice: say "Begin. "; drip 5; long 200'], results: 1, stopAt: 'steady' },
  { name: 'refused', say: ['#practice: fault overloaded times=always'], results: 1 },
  { name: 'broken', say: ['#practice: say "half "; midError; say "whole"'], results: 1 },
  { name: 'subagent', say: [`#practice: tool Agent ${SUB_AGENT}; say "main done"`], results: 1 },
  {
    name: 'background',
    say: [
      '#practice: tool Bash {"command":"for i in 1 2 3; do sleep 0.1; done","run_in_background":true}; say "started"; notice; say "it ended"',
    ],
    results: 2,
  },
  { name: 'compacted', say: ['#practice: say "words"', '/compact'], results: 2 },
]

const folder = mkdtempSync(join(tmpdir(), 'record-'))
const [home, workspace, scratch] = ['home', 'workspace', 'scratch'].map((name) => join(folder, name))
const practice = await startPracticeServer()
for (const scene of SCENES) await record(scene)
await practice.close()
rmSync(folder, { recursive: true, force: true })

async function record(scene: (typeof SCENES)[number]): Promise<void> {
  for (const path of [home, workspace, scratch]) mkdirSync(path ?? folder, { recursive: true })
  const queue = new InputQueue()
  const talk = open(queue)
  const waiting = [...scene.say]
  const frames: unknown[] = []
  let results = 0
  tell(queue, waiting.shift())
  for await (const frame of talk) {
    const kept = trim(frame)
    if (kept !== null) frames.push(kept)
    if (scene.stopAt !== undefined && JSON.stringify(frame).includes(`"text":"${scene.stopAt}`)) await talk.interrupt()
    if (frame.type !== 'result') continue
    results += 1
    tell(queue, waiting.shift())
    if (results === scene.results) break
  }
  talk.close()
  const text = frames.map((frame) => JSON.stringify(frame)).join('\n')
  writeFileSync(join(import.meta.dirname, 'recordings', `${scene.name}.jsonl`), `${withoutPaths(text)}\n`)
}

function open(queue: InputQueue): Query {
  return query({
    prompt: queue,
    options: {
      cwd: workspace ?? folder,
      model: 'practice',
      permissionMode: 'acceptEdits',
      settingSources: [],
      includePartialMessages: true,
      forwardSubagentText: true,
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      canUseTool: (_name, updatedInput) => Promise.resolve({ behavior: 'allow', updatedInput }),
      spawnClaudeCodeProcess: ({ command, args, cwd, env }) => spawn(command, args, { cwd, env, stdio: 'pipe' }),
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        TMPDIR: scratch,
        CLAUDE_CONFIG_DIR: home,
        ANTHROPIC_BASE_URL: practice.url,
        ANTHROPIC_API_KEY: 'practice',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '2',
      },
    },
  })
}

function tell(queue: InputQueue, text: string | undefined): void {
  if (text === undefined) return
  const content = [{ type: 'text' as const, text }]
  queue.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, priority: 'later', uuid: randomUUID() })
}

/** Long lists and times that say nothing here are left out. */
function trim(frame: SDKMessage): unknown {
  const given: Frame = frame
  if (given.type === 'system' && given.subtype === 'thinking_tokens') return null
  if (given.type === 'system' && given.subtype === 'init') {
    const { type, subtype, session_id, permissionMode, model, uuid } = given
    return { type, subtype, session_id, permissionMode, model, uuid }
  }
  const kept: { [key: string]: unknown } = { ...given }
  for (const name of ['written_at', 'timestamp', 'owed_rows', 'modelUsage', 'subagent_stats']) delete kept[name]
  return kept
}

function withoutPaths(text: string): string {
  const place = workspace ?? folder
  return text
    .replaceAll(place, '/workspace')
    .replaceAll(scratch ?? folder, '/scratch')
    .replaceAll(home ?? folder, '/home')
    .replaceAll(place.replaceAll(/[^A-Za-z0-9]/g, '-'), '-workspace')
}

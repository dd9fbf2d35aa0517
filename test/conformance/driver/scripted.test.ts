/** The scripted driver keeps the contract over both its transports. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import {
  createScriptedDriver,
  driverConformance,
  type DriverTarget,
  type HeldPrompt,
  type OpenedTarget,
  type ScriptedDriver,
  type ScriptedDriverOptions,
} from '../../../packages/runtime/src/driver/kit/index.ts'

function target(name: string, options: ScriptedDriverOptions, broken: OpenedTarget['input']['ports']['spawn'] | null): DriverTarget {
  const driver = createScriptedDriver(options)
  return {
    name,
    driver,
    open: () => open(driver, broken),
    ...(broken === null
      ? { skip: { 'an agent that cannot start says so and nothing else': 'an object in this process always starts' } }
      : {}),
  }
}

async function open(driver: ScriptedDriver, broken: OpenedTarget['input']['ports']['spawn'] | null): Promise<OpenedTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-driver-'))
  const ports = portsOf()
  const held = (before: string, after: string): HeldPrompt => {
    const key = randomUUID()
    return { text: `${before} ${key} ${after}`.trim(), release: () => driver.release(key) }
  }
  return {
    input: {
      cwd: folder,
      provider: { protocol: 'anthropic', baseUrl: 'http://127.0.0.1:1', apiKey: `canary-${randomUUID()}` },
      modelId: 'm1',
      prompt: { base: null, append: '' },
      permissionMode: 'default',
      disabledTools: [],
      dirs: { home: folder, tmp: folder },
      env: { PATH: process.env['PATH'] ?? '' },
      ports,
    },
    prompts: {
      text: 'say good morning',
      tool: 'tool Bash {"command":"ls"} -> a file\nsay done',
      longTool: () => held('tool Bash {"command":"sleep"} wait', '-> slept\nsay done'),
      longText: () => held('say well\nwait', '\nsay done'),
      steer: 'say and this too',
      approval: 'ask Bash {"command":"rm"} -> removed\nsay done',
      question: 'question Which colour? | red | blue\nsay done',
      plan: 'plan first this, then that\nsay done',
      reasoning: 'think hm\nsay done',
      autonomous: 'say now\nautonomous say later',
      autoCompaction: 'compact\nsay done',
      recall: { tell: 'say the number is 42', ask: 'recall', expect: /I remember 2 inputs, first: say the number is 42/ },
      fail: { text: 'say half\nfail PROVIDER_ERROR 529 overloaded', code: 'PROVIDER_ERROR' },
      die: 'say half\ndie',
      illFormed: 'garble',
      ...(broken === null ? {} : { broken: { ports: { ...ports, spawn: broken } } }),
    },
    dispose: () => rm(folder, { recursive: true, force: true }),
  }
}

function portsOf(): OpenedTarget['input']['ports'] {
  return {
    spawn: (command, args, options) => spawn(command, [...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] }),
    after: (ms, fire) => {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
    newId: randomUUID,
    log: () => undefined,
    now: () => performance.now(),
  }
}

const nowhere: OpenedTarget['input']['ports']['spawn'] = (_command, args, options) =>
  spawn('/nonexistent/program', [...args], { ...options, stdio: ['pipe', 'pipe', 'pipe'] })

driverConformance(target('scripted in process', { transport: 'in-process' }, null))
driverConformance(target('scripted over stdio', { transport: 'stdio' }, nowhere))
driverConformance(
  target(
    'scripted with little',
    { transport: 'in-process', without: { steer: 'none', interrupt: false, resume: false, reasoning: false } },
    null,
  ),
)
driverConformance(target('scripted steered at any time', { transport: 'in-process', without: { steer: 'any-time' } }, null))

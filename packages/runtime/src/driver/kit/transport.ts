/** The two ways a scripted driver reaches its agent. Both tell exactly once that the agent is gone, and nothing after it. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConnectInput } from '../contract.ts'
import { ScriptedAgent } from './agent.ts'
import type { Histories } from './history.ts'
import type { FromAgent, ToAgent } from './native.ts'

/** What a connection hears. `detail` says how the agent ended, for an error text. */
export type Listener = { message(message: FromAgent): void; gone(detail: string): void }

export type Link = {
  /** Never throws; what is sent to an agent that is gone is lost, as it would be anyway. */
  send(message: ToAgent): void
  /** Asks the agent to end and makes sure of it; `gone` tells when. Idempotent. */
  close(): void
}

export type Transport = (input: ConnectInput, listener: Listener) => Link

/** The agent as an object of this process. It answers within the call, but never before `connect` has returned. */
export function inProcess(histories: Histories): Transport {
  return (input, listener) => {
    let gone = false
    const exit = (detail: string): void => {
      if (gone) return
      gone = true
      listener.gone(detail)
    }
    const agent = new ScriptedAgent({
      say: (message) => listener.message(message),
      after: (ms, fire) => input.ports.after(ms, fire),
      newId: () => input.ports.newId(),
      histories,
      exit: () => exit('the agent ended'),
      // Nothing in this process can cling: there is nothing to outlive.
      cling: () => undefined,
    })
    let waiting: ToAgent[] | null = []
    const begin = input.ports.after(0, () => {
      const first = waiting ?? []
      waiting = null
      for (const message of first) agent.receive(message)
    })
    return {
      send: (message) => {
        if (waiting === null) agent.receive(message)
        else waiting.push(message)
      },
      close: () => {
        begin()
        // Ended here and told later, so that closing never answers within its own call.
        input.ports.after(0, () => agent.end())
      },
    }
  }
}

/** One line an agent may say; a longer one is a mistake that must not fill the memory. */
const LINE_MAX = 16 * 1024 * 1024
/** What is kept of its error output: enough for the last words of a process. */
const STDERR_KEPT = 2_000
/** How long a closing agent may take before it is told by SIGTERM, and then by SIGKILL: an idle one ends in milliseconds. */
const CLOSE_GRACE_MS = 1_000
const KILL_GRACE_MS = 1_000

const PROGRAM = fileURLToPath(new URL('./scripted-agent.ts', import.meta.url))

/** The agent as a child with three pipes, a JSON line a message. Its conversations lie in `dirs.home`. */
export function overStdio(node: string): Transport {
  return (input, listener) => {
    try {
      const child = input.ports.spawn(node, ['--no-warnings', PROGRAM, join(input.dirs.home, 'scripted')], {
        cwd: input.cwd,
        env: input.env,
      })
      return new StdioLink(child, input, listener)
    } catch (error) {
      // A driver's methods do not throw: that it could not start is an event like any other end.
      input.ports.after(0, () => listener.gone(error instanceof Error ? error.message : String(error)))
      return { send: () => undefined, close: () => undefined }
    }
  }
}

class StdioLink implements Link {
  readonly #child: ChildProcess
  readonly #input: ConnectInput
  readonly #listener: Listener
  #gone = false
  #closing = false
  #cancel: () => void = () => undefined
  #rest = ''
  #stderr = ''

  constructor(child: ChildProcess, input: ConnectInput, listener: Listener) {
    this.#child = child
    this.#input = input
    this.#listener = listener
    child.once('error', (error) => this.#end(error.message))
    child.once('close', (code, signal) => this.#end(signal === null ? `exit code ${code}` : `signal ${signal}`))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => void (this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT)))
    // EPIPE of a child that is going away: `close` tells of it.
    child.stdin?.on('error', () => undefined)
  }

  send(message: ToAgent): void {
    if (!this.#gone && !this.#closing) this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  close(): void {
    if (this.#closing || this.#gone) return
    this.#closing = true
    this.#child.stdin?.end()
    this.#cancel = this.#input.ports.after(CLOSE_GRACE_MS, () => {
      this.#child.kill('SIGTERM')
      this.#cancel = this.#input.ports.after(KILL_GRACE_MS, () => void this.#child.kill('SIGKILL'))
    })
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > LINE_MAX) this.#child.kill('SIGKILL')
    for (const line of lines) if (!this.#gone) this.#listener.message(parse(line))
  }

  #end(detail: string): void {
    if (this.#gone) return
    this.#gone = true
    this.#cancel()
    this.#listener.gone(this.#stderr.trim() === '' ? detail : `${detail}: ${this.#stderr.trim()}`)
  }
}

/** The other end is our own program: its lines are what {@link FromAgent} says. */
const parse = (line: string): FromAgent => JSON.parse(line)

/** `wheelhouse serve`: the host, its server and the practice model server, until it is told to end. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { claudeCodeDriver } from '../../drivers/claude-code/driver.ts'
import { defaultDataDir, writePrivate } from '../../host/data-dir.ts'
import { createHost, type Host } from '../../host/host.ts'
import { createLogger } from '../../host/log.ts'
import { startPracticeServer } from '../../models/practice/server.ts'
import { startServer } from '../../server/http.ts'
import { lockFile } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/open.ts'
import type { Store } from '../../store/store.ts'
import { globalsOf, SERVER_FILE } from '../connect.ts'
import { furnish } from '../furnish.ts'
import { print } from '../output.ts'

/** Where browsers and scripts look by default. */
const DEFAULT_PORT = 4780
const PORT_MAX = 65_535
const WEB_DIR = fileURLToPath(new URL('../../../dist/web', import.meta.url))

type ServeOptions = { port: number; host: string; practicePort: number; practice: boolean; traces: boolean; logLevel: string }

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the host')
    .option('--port <port>', 'port of the server; 0 picks one', portOf, DEFAULT_PORT)
    .option('--host <address>', 'loopback address to listen on', '127.0.0.1')
    .option('--practice-port <port>', 'port of the practice model server; 0 picks one', portOf, 0)
    .option('--no-practice', 'run without the practice model server')
    .option('--traces', 'keep the spans of every turn in the data directory', false)
    .addOption(new Option('--log-level <level>', 'what is logged').choices(['debug', 'info', 'warn', 'error', 'silent']).default('info'))
    .action((options: ServeOptions, command: Command) => serve(options, command))
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { dataDir, json } = globalsOf(command)
  const log = createLogger(options.logLevel)
  // Warnings of the libraries become lines of the log, too.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => log.warn({ name, message }, 'warning'))
  const { traces } = options
  const openStore = (path: string): Store => openSqliteStore({ path })
  const host = await createHost({ dataDir, openStore, lockFile, drivers: [claudeCodeDriver()], log, traces })
  const stops: (() => Promise<void>)[] = [() => host.stop()]
  try {
    if (options.practice) {
      const practice = await startPracticeServer({ port: options.practicePort })
      // After the host: agents that are ending still speak to their model.
      stops.push(() => practice.close())
      furnish(host, { practiceUrl: practice.url, anthropicKey: process.env['ANTHROPIC_API_KEY'] ?? null })
    } else furnish(host, { practiceUrl: null, anthropicKey: process.env['ANTHROPIC_API_KEY'] ?? null })
    const server = await startServer({ host, port: options.port, address: options.host, webDir: WEB_DIR })
    stops.unshift(() => server.close())
    writePrivate(join(dataDir, SERVER_FILE), JSON.stringify({ url: server.url, pid: process.pid }))
    announce(host, server, json)
  } catch (error) {
    for (const stop of stops) await stop()
    throw isTaken(error) ? new Error(`Port ${error.port} is taken. Stop what listens there, or choose another one.`) : error
  }
  endOnSignal(host, stops)
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= PORT_MAX)) throw new InvalidArgumentError(`It must be a number from 0 to ${PORT_MAX}.`)
  return port
}

function isTaken(error: unknown): error is Error & { port: number } {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error
}

function announce(host: Host, server: { url: string; gate: { issueCode(): { code: string } } }, json: boolean): void {
  const { url } = server
  print(json, { url, tokenFile: host.dataDir.tokenFile }, () => {
    const command = commandOf(host.dataDir.path)
    const link = `${url}/#code=${server.gate.issueCode().code}`
    return [
      `Wheelhouse is ready at ${url}`,
      '',
      `  Open it in your browser:  ${link}`,
      `  (the link works once, for 60 seconds; \`${command} open\` prints another)`,
      '',
      `  Data and token:           ${host.dataDir.path}`,
      `  Talk to it from a shell:  ${command} session new && ${command} send last "hello" --follow`,
      '  Stop it:                  Ctrl-C',
    ].join('\n')
  })
}

/** How the reader calls this command line: npm runs it where it is not on the path. */
function commandOf(dataDir: string): string {
  const name = process.env['npm_lifecycle_event'] === undefined ? 'wheelhouse' : 'npx wheelhouse'
  return dataDir === defaultDataDir() ? name : `${name} --data-dir ${dataDir}`
}

/** The first signal ends everything in order; a second one ends the process at once. */
function endOnSignal(host: Host, stops: readonly (() => Promise<void>)[]): void {
  let ending = false
  const end = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(1)
    ending = true
    host.log.info({ signal }, 'stopping')
    void (async () => {
      for (const stop of stops) await stop().catch((error: unknown) => host.log.error({ error: String(error) }, 'stop failed'))
      process.exit(0)
    })()
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

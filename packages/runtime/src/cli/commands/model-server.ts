/** `wheelhouse model-server`: the practice model server alone. */
import type { Command } from 'commander'
import { startPracticeServer } from '../../models/practice/server.ts'
import { globalsOf } from '../connect.ts'
import { print } from '../output.ts'

export function addModelServerCommand(program: Command): void {
  program
    .command('model-server')
    .description('run the practice model server alone (docs/practice-model.md)')
    .option('--port <port>', 'port; 0 picks one', '0')
    .option('--log <file>', 'write one JSON line a request')
    .action(async (options: { port: string; log?: string }, command: Command) => {
      const server = await startPracticeServer({ port: Number(options.port), ...(options.log === undefined ? {} : { log: options.log }) })
      print(globalsOf(command).json, { url: server.url }, () => `Practice model server at ${server.url} (Ctrl-C stops it)`)
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void server.close().then(() => process.exit(0)))
    })
}

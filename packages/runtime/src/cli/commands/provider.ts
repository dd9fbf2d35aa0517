/** `wheelhouse provider`: places that serve models. Keys are read from standard input or the environment, never from arguments. */
import { text as readAll } from 'node:stream/consumers'
import { password, isCancel } from '@clack/prompts'
import { listAll } from '@wheelhouse/client'
import type { Provider, ProviderProtocol } from '@wheelhouse/client/protocol'
import type { Command } from 'commander'
import { clientOf, globalsOf, pick } from '../connect.ts'
import { print, table } from '../output.ts'

export function addProviderCommands(program: Command): void {
  const provider = program.command('provider').description('places that serve models')
  provider
    .command('list')
    .description('list providers')
    .action(async (_options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const items = await listAll((query) => clientOf(globals).providers.list(query))
      print(globals.json, { items }, () => table([['ID', 'NAME', 'PROTOCOL', 'KEY', 'ADDRESS'], ...items.map(rowOf)]))
    })
  provider
    .command('add <name>')
    .description('add one; the key is asked for, or read from standard input')
    .requiredOption('--base-url <url>', 'address of its API')
    .requiredOption('--model <id...>', 'models it serves')
    .option('--protocol <protocol>', 'anthropic, openai-chat or openai-responses', 'anthropic')
    .option('--no-key', 'it needs no key')
    .action(
      async (name: string, options: { baseUrl: string; model: string[]; protocol: ProviderProtocol; key: boolean }, command: Command) => {
        const globals = globalsOf(command)
        const apiKey = options.key ? await readKey() : ''
        const models = options.model.map((id) => ({ id }))
        const made = await clientOf(globals).providers.create({
          name,
          protocol: options.protocol,
          baseUrl: options.baseUrl,
          models,
          ...(apiKey === '' ? {} : { apiKey }),
        })
        print(globals.json, made, () => `Provider ${made.name} is ${made.id}`)
      },
    )
  provider
    .command('test <provider>')
    .description('send it one smallest request')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const found = pick(await listAll((query) => client.providers.list(query)), wanted, 'provider')
      const result = await client.providers.test(found.id)
      print(globals.json, result, () =>
        result.ok
          ? `${found.name} answers (${result.latencyMs} ms)`
          : `${found.name} refuses${result.status === null ? '' : ` with ${result.status}`}: ${result.detail}`,
      )
      if (!result.ok) process.exitCode = 1
    })
  provider
    .command('remove <provider>')
    .description('remove one')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const found = pick(await listAll((query) => client.providers.list(query)), wanted, 'provider')
      await client.providers.remove(found.id, found.rev)
      print(globals.json, { removed: found.id }, () => `Removed ${found.name}`)
    })
}

const rowOf = ({ id, name, protocol, hasApiKey, baseUrl }: Provider): string[] => [id, name, protocol, hasApiKey ? 'yes' : 'no', baseUrl]

/** From the terminal without echo, or all of standard input. */
async function readKey(): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).trim()
  const answer = await password({ message: 'API key (empty for none)' })
  if (isCancel(answer)) throw new Error('Nothing was added.')
  return answer.trim()
}

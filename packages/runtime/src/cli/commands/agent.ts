/** `wheelhouse agent`: named ways of working. */
import { listAll } from '@wheelhouse/client'
import type { Agent, PermissionMode } from '@wheelhouse/client/protocol'
import type { Command } from 'commander'
import { clientOf, globalsOf, pick } from '../connect.ts'
import { print, table } from '../output.ts'

type AddOptions = { provider: string; model: string; type: string; instructions?: string; mode?: PermissionMode }

export function addAgentCommands(program: Command): void {
  const agent = program.command('agent').description('named ways of working: runtime, model, policy')
  agent
    .command('list')
    .description('list agents')
    .action(async (_options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const items = await listAll((query) => clientOf(globals).agents.list(query))
      print(globals.json, { items }, () => table([['ID', 'NAME', 'TYPE', 'MODEL', 'MODE'], ...items.map(rowOf)]))
    })
  agent
    .command('add <name>')
    .description('add one')
    .requiredOption('--provider <provider>', 'name or id of its provider')
    .requiredOption('--model <id>', 'model it runs on')
    .option('--type <type>', 'runtime', 'claude-code')
    .option('--instructions <text>', 'what it should know and do')
    .option('--mode <mode>', 'how far it may go without asking')
    .action(async (name: string, options: AddOptions, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const provider = pick(await listAll((query) => client.providers.list(query)), options.provider, 'provider')
      const made = await client.agents.create({
        name,
        type: options.type,
        providerId: provider.id,
        modelId: options.model,
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
        ...(options.mode === undefined ? {} : { permissionMode: options.mode }),
      })
      print(globals.json, made, () => `Agent ${made.name} is ${made.id}`)
    })
  agent
    .command('remove <agent>')
    .description('remove one; its sessions stay, without an agent')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const found = pick(await listAll((query) => client.agents.list(query)), wanted, 'agent')
      await client.agents.remove(found.id, found.rev)
      print(globals.json, { removed: found.id }, () => `Removed ${found.name}`)
    })
}

const rowOf = ({ id, name, type, modelId, permissionMode }: Agent): string[] => [id, name, type, modelId ?? '-', permissionMode]

/** `wheelhouse session`: conversations. A session is named by id, the end of its id, its name, or `last`. */
import { resolve } from 'node:path'
import { firstLine, listAll, type WheelhouseClient } from '@wheelhouse/client'
import type { Session } from '@wheelhouse/client/protocol'
import type { Command } from 'commander'
import { clientOf, globalsOf, pick } from '../connect.ts'
import { cut, print, table } from '../output.ts'

export function addSessionCommands(program: Command): void {
  const session = program.command('session').description('conversations with agents')
  session
    .command('list')
    .description('list sessions, newest first')
    .action(async (_options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const items = await listAll((query) => clientOf(globals).sessions.list(query))
      print(globals.json, { items }, () =>
        items.length === 0
          ? 'No sessions yet. Make one with `wheelhouse session new`.'
          : table([['ID', 'STATUS', 'NAME', 'LAST'], ...items.map(rowOf)]),
      )
    })
  session
    .command('new')
    .description('make one')
    .option('--agent <agent>', 'name or id of its agent (default: the only or first one)')
    .option('--name <name>', 'a name for it')
    .option('--workspace <path>', 'an existing folder to work in (default: a folder of the host)')
    .action(async (options: { agent?: string; name?: string; workspace?: string }, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const agents = await listAll((query) => client.agents.list(query))
      const agent = options.agent === undefined ? agents[0] : pick(agents, options.agent, 'agent')
      if (agent === undefined) throw new Error('There is no agent yet. Add one with `wheelhouse agent add`.')
      const made = await client.sessions.create({
        agentId: agent.id,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.workspace === undefined ? {} : { workspace: { kind: 'user', path: resolve(options.workspace) } }),
      })
      print(globals.json, made, () => `Session ${made.id} with ${agent.name} in ${made.workspace.path}`)
    })
  session
    .command('remove <session>')
    .description('remove one with its transcript')
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const found = await findSession(client, wanted)
      await client.sessions.remove(found.id, found.rev)
      print(globals.json, { removed: found.id }, () => `Removed ${found.name === '' ? found.id : found.name}`)
    })
}

/** By id, the beginning or end of it, name, or `last` for the newest. */
export async function findSession(client: WheelhouseClient, wanted: string): Promise<Session> {
  const sessions = await listAll((query) => client.sessions.list(query))
  const [newest] = sessions
  if (wanted === 'last' && newest !== undefined) return newest
  return pick(sessions, wanted, 'session')
}

const NAME_LENGTH = 40
const LAST_LENGTH = 60
const rowOf = ({ id, status, name, lastText }: Session): string[] => [
  id,
  status,
  name === '' ? '-' : cut(name, NAME_LENGTH),
  cut(firstLine(lastText), LAST_LENGTH),
]

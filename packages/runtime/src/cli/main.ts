/** The command line, and the composition root: the only place that names concrete stores and drivers. */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../version.ts'
import { addAgentCommands } from './commands/agent.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addModelServerCommand } from './commands/model-server.ts'
import { addProviderCommands } from './commands/provider.ts'
import { addServeCommand } from './commands/serve.ts'
import { addSessionCommands } from './commands/session.ts'
import { addTalkCommands } from './commands/talk.ts'
import { addressOf, globalsOf } from './connect.ts'
import { EXIT, fail } from './output.ts'

/** Runs a command line. Sets the exit code; see `EXIT` for what they mean. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('wheelhouse')
    .description('One host that keeps, steers and approves the sessions of coding agents.')
    .version(VERSION)
    .option('--data-dir <path>', 'folder of the host (default: $WHEELHOUSE_DATA_DIR or ~/.wheelhouse)')
    .option('--url <url>', 'address of a running host (default: the one of the data directory)')
    .option('--json', 'print JSON')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  for (const add of [
    addServeCommand,
    addProviderCommands,
    addAgentCommands,
    addSessionCommands,
    addTalkCommands,
    addDoctorCommand,
    addModelServerCommand,
  ])
    add(program)
  program.addHelpText(
    'after',
    `\nExit codes: ${Object.entries(EXIT)
      .map(([name, code]) => `${code} ${name}`)
      .join(', ')}.`,
  )
  try {
    await program.parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
    else {
      const globals = globalsOf(program)
      fail(error, globals.json, () => addressOf(globals))
    }
  }
}

/** `send`, `attach`, `stop`, `open`: living with a session from a terminal. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { clientOf, globalsOf } from '../connect.ts'
import { Follower } from '../follow.ts'
import { EXIT, print } from '../output.ts'
import { findSession } from './session.ts'

export function addTalkCommands(program: Command): void {
  program
    .command('send <session> <text...>')
    .description('give a session a message')
    .option('--follow', 'show the answer as it comes, until the turn ends')
    .option('--queue', 'wait for the end of the running turn instead of steering it')
    .action(async (wanted: string, text: string[], options: { follow?: boolean; queue?: boolean }, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const session = await findSession(client, wanted)
      // Where the answer will begin: taken before the message, so that nothing of it is missed.
      const { cursor } = await client.sessions.get(session.id)
      const sent = await client.sessions.send(session.id, { text: text.join(' '), when: options.queue === true ? 'queue' : 'steer' })
      if (options.follow !== true) return print(globals.json, sent, () => WORDS[sent.disposition])
      const follower = new Follower(globals.json)
      const status = await follower.follow(client.stream({ only: session.id, sessions: [[session.id, cursor]] }), {
        untilAnswered: sent.messageId,
      })
      if (status !== 'success') process.exitCode = EXIT['turn failed']
    })
  program
    .command('attach <session>')
    .description('show what a session does, as it happens; Ctrl-C leaves it running')
    .option('--last <n>', 'rows of the transcript to show first, 1 to 200', rowsOf, 10)
    .action(async (wanted: string, options: { last: number }, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const session = await findSession(client, wanted)
      const page = await client.sessions.transcript(session.id, { limit: options.last })
      const follower = new Follower(globals.json)
      for (const row of page.items) follower.row(row)
      await follower.follow(client.stream({ only: session.id, sessions: [[session.id, page.cursor]] }), { untilAnswered: null })
    })
  program
    .command('stop <session>')
    .description('stop what a session does')
    .addOption(new Option('--queue <what>', 'what becomes of waiting messages').choices(['hold', 'run', 'discard']).default('hold'))
    .action(async (wanted: string, options: { queue: 'hold' | 'run' | 'discard' }, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      const session = await findSession(client, wanted)
      const result = await client.sessions.stop(session.id, { queue: options.queue })
      print(globals.json, result, () => (result.stopped ? 'Stopping.' : 'Nothing runs.'))
    })
  program
    .command('open')
    .description('print a one-time link to the web app')
    .action(async (_options: unknown, command: Command) => {
      const globals = globalsOf(command)
      const code = await clientOf(globals).createLoginCode()
      print(globals.json, code, () => `${code.url}\n(works once, for 60 seconds)`)
    })
}

/** What one page of a transcript holds. */
const ROWS_MAX = 200

function rowsOf(text: string): number {
  const rows = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (rows < 1 || rows > ROWS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${ROWS_MAX}.`)
  return rows
}

const WORDS = {
  turn: 'Sent: the agent has it.',
  steering: 'Sent: it goes to the agent at its next step.',
  queued: 'Queued: it runs after what runs now.',
}

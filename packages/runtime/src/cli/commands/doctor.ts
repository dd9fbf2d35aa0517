/** `wheelhouse doctor`: looks at everything a host depends on and says what is wrong and what to do. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listAll, type WheelhouseClient } from '@wheelhouse/client'
import type { Command } from 'commander'
import { claudeCodeDriver } from '../../drivers/claude-code/driver.ts'
import { clientOf, globalsOf, type GlobalOptions } from '../connect.ts'
import { EXIT, print } from '../output.ts'
import { findSession } from './session.ts'

type Finding = { check: string; ok: boolean; detail: string }

const GROUP_AND_OTHERS = 0o077

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('look for what is wrong, and release quarantined sessions')
    .option('--release <session>', 'let a quarantined session run again')
    .action(async (options: { release?: string }, command: Command) => {
      const globals = globalsOf(command)
      const client = clientOf(globals)
      if (options.release !== undefined) {
        const session = await findSession(client, options.release)
        await client.sessions.release(session.id)
        return print(globals.json, { released: session.id }, () => `Released ${session.id}`)
      }
      const findings = [...(await local(globals)), ...(await remote(client))]
      print(globals.json, { findings }, () =>
        findings.map(({ ok, check, detail }) => `${ok ? 'ok  ' : 'FAIL'}  ${check}: ${detail}`).join('\n'),
      )
      if (findings.some((finding) => !finding.ok)) process.exitCode = EXIT.refused
    })
}

async function local({ dataDir }: GlobalOptions): Promise<Finding[]> {
  const driver = await claudeCodeDriver().probe()
  return [
    { check: 'node', ok: true, detail: process.version },
    {
      check: 'data directory',
      ok: existsSync(dataDir),
      detail: existsSync(dataDir) ? dataDir : `${dataDir} is missing; the first \`wheelhouse serve\` makes it`,
    },
    ...['token', 'keys.json', 'wheelhouse.db']
      .filter((name) => existsSync(join(dataDir, name)))
      .map((name) => privacy(join(dataDir, name), name)),
    {
      check: 'claude-code',
      ok: driver.installed,
      detail: driver.installed ? `version ${driver.version ?? 'unknown'}` : (driver.advice ?? 'not installed'),
    },
  ]
}

function privacy(path: string, name: string): Finding {
  const open = process.platform !== 'win32' && (statSync(path).mode & GROUP_AND_OTHERS) !== 0
  return { check: name, ok: !open, detail: open ? `others can read it; run chmod 600 ${path}` : 'readable by you alone' }
}

async function remote(client: WheelhouseClient): Promise<Finding[]> {
  let info
  try {
    info = await client.info()
  } catch (error) {
    return [
      { check: 'host', ok: false, detail: `${error instanceof Error ? error.message : String(error)}; start it with \`wheelhouse serve\`` },
    ]
  }
  const sessions = await listAll((query) => client.sessions.list(query))
  const sick = sessions.filter((session) => session.status === 'quarantined')
  return [
    { check: 'host', ok: true, detail: `version ${info.version}, up since ${info.startedAt}` },
    {
      check: 'sessions',
      ok: sick.length === 0,
      detail:
        sick.length === 0
          ? `${sessions.length}, none quarantined`
          : `quarantined: ${sick.map((session) => session.id).join(', ')}; release with --release ID`,
    },
  ]
}

/** A client of the host that a command talks to. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type WheelhouseClient } from '@wheelhouse/client'
import type { Command } from 'commander'
import { defaultDataDir } from '../host/data-dir.ts'

export type GlobalOptions = { dataDir: string; url: string | null; json: boolean }

/** Where a running host says how to reach it, in its data directory. */
export const SERVER_FILE = 'server.json'

export function globalsOf(command: Command): GlobalOptions {
  const { dataDir, url, json } = command.optsWithGlobals<{ dataDir?: string; url?: string; json?: boolean }>()
  return { dataDir: dataDir ?? defaultDataDir(), url: url ?? null, json: json === true }
}

/** Reads address and token from the data directory; neither travels on the command line. */
export function clientOf({ dataDir, url }: GlobalOptions): WheelhouseClient {
  const tokenFile = join(dataDir, 'token')
  const token = existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8').trim() : undefined
  return createClient({ baseUrl: addressOf({ dataDir, url }), ...(token === undefined ? {} : { token }) })
}

/** Where a host is looked for. */
export function addressOf({ dataDir, url }: Pick<GlobalOptions, 'dataDir' | 'url'>): string {
  return url ?? savedUrl(dataDir) ?? 'http://127.0.0.1:4780'
}

function savedUrl(dataDir: string): string | null {
  const file = join(dataDir, SERVER_FILE)
  if (!existsSync(file)) return null
  return (JSON.parse(readFileSync(file, 'utf8')) as { url: string }).url
}

/** One of a list by id, by the beginning of its id, or by name; throws when none or several fit. */
export function pick<T extends { id: string; name: string }>(items: readonly T[], wanted: string, kind: string): T {
  const exact = items.filter((item) => item.id === wanted || item.name === wanted)
  const found = exact.length > 0 ? exact : items.filter((item) => item.id.startsWith(wanted) || item.id.endsWith(wanted))
  const [first] = found
  if (first === undefined) throw new Error(`There is no ${kind} "${wanted}". \`wheelhouse ${kind} list\` shows which there are.`)
  if (found.length > 1) throw new Error(`"${wanted}" fits ${found.length} of the ${kind}s; give more of the id.`)
  return first
}

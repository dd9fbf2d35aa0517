import { readdirSync, readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { claudeCodeDriver } from '../../packages/runtime/src/drivers/claude-code/driver.ts'
import { startPracticeServer } from '../../packages/runtime/src/models/practice/server.ts'
import { furnishSession, until } from '../support/daemon.ts'
import { startTestHost, stopTestHosts } from '../support/host.ts'

afterEach(() => stopTestHosts())

/** Files below a folder that hold `text`. */
function holding(folder: string, text: string): string[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path, 'utf8').includes(text))
}

test('the transcript that the agent keeps of a session goes with the session', { timeout: 60_000 }, async () => {
  const practice = await startPracticeServer()
  const host = await startTestHost({ drivers: [claudeCodeDriver()] })
  const { sessionId } = await furnishSession(host.client, { type: 'claude-code', baseUrl: practice.url })
  await host.client.sessions.send(sessionId, { text: '#practice: say "remember-this-word"' })
  await until('the answer', async () => (await host.client.sessions.transcript(sessionId)).items.some((row) => row.status === 'success'))
  const home = join(host.dataDir, 'runtimes', 'claude-code')
  await until('the agent to write it down', () => holding(home, 'remember-this-word').length > 0)
  const { session } = await host.client.sessions.get(sessionId)
  await host.client.sessions.remove(sessionId, session.rev)
  await until('it to be gone', () => holding(home, 'remember-this-word').length === 0)
  await practice.close()
})

/** Providers, agents and the data directory, where the world comes between two steps. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { DataDirLocked, openDataDir } from '../../packages/runtime/src/host/data-dir.ts'
import { childEnvironment } from '../../packages/runtime/src/host/drivers.ts'
import { lockFile } from '../../packages/runtime/src/store/sqlite/database.ts'
import { furnishSession, makeTempDir, until } from '../support/daemon.ts'
import { raw, startTestHost, stopTestHosts } from '../support/host.ts'

afterEach(() => stopTestHosts())

test('a key that cannot be written leaves no provider, and an old key in use', async () => {
  const host = await startTestHost()
  const { providerId } = await furnishSession(host.client)
  // What stands in the way of the draft of the new file.
  const obstacle = join(host.dataDir, `keys.json.${process.pid}`)
  mkdirSync(obstacle)
  const input = { name: 'p', protocol: 'anthropic' as const, baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-new', models: [] }
  const refused = await raw(host, '/v1/providers', { method: 'POST', body: JSON.stringify(input) })
  const text = await refused.text()
  assert.deepEqual([refused.status, (JSON.parse(text) as { code: string }).code], [503, 'STORE_FAILED'])
  assert.ok(!text.includes('sk-new'))
  assert.deepEqual(
    (await host.client.providers.list()).items.map((each) => each.id),
    [providerId],
  )
  rmdirSync(obstacle)
  const made = await host.client.providers.create(input, { idempotencyKey: 'again' })
  const again = await host.client.providers.create(input, { idempotencyKey: 'again' })
  assert.deepEqual([again.id, again.hasApiKey], [made.id, true])
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(host.dataDir, 'keys.json'), 'utf8')) as object), [providerId, made.id])
})

test('a damaged key file is told without a word of it, and locks nobody out', async () => {
  const dir = makeTempDir('keys')
  writeFileSync(join(dir.path, 'keys.json'), '{"x": sk-canary')
  await assert.rejects(startTestHost({ dataDir: dir.path }), (error: Error) => {
    assert.match(error.message, /keys\.json is not JSON\. Move it away/)
    assert.ok(!String(error.stack).includes('sk-canary'))
    return true
  })
  rmSync(join(dir.path, 'keys.json'))
  writeFileSync(join(dir.path, 'logins.json'), 'what')
  const host = await startTestHost({ dataDir: dir.path })
  await host.stop()
  dir.remove()
})

test('BUG-40 the text of an agent is made whole when it is changed, as when it is made', async () => {
  const host = await startTestHost()
  const { agentId } = await furnishSession(host.client)
  const agent = await host.client.agents.get(agentId)
  const changed = await host.client.agents.update(agentId, { name: 'a\ud83d', instructions: 'b\0\udc68' }, agent.rev)
  assert.deepEqual([changed.name, changed.instructions], ['a\ufffd', 'b\u2400\ufffd'])
})

test('a message that was taken needs no decision', async () => {
  const host = await startTestHost()
  const { sessionId } = await furnishSession(host.client)
  const { messageId } = await host.client.sessions.send(sessionId, { text: 'wait a' })
  for (const verb of ['resend', 'dismiss']) {
    const answer = await raw(host, `/v1/sessions/${sessionId}/messages/${messageId}/${verb}`, { method: 'POST', body: '{}' })
    assert.equal(((await answer.json()) as { code: string }).code, 'INPUT_NOT_UNKNOWN')
  }
})

test('BUG-21 what lies in the folder of a dead owner keeps nobody out, and a living one keeps it whatever the folder says', () => {
  const dir = makeTempDir('lock')
  // A pid that lives, in a file that a killed host left behind.
  writeFileSync(join(dir.path, 'host.pid'), String(process.ppid))
  writeFileSync(join(dir.path, 'host.lock'), '')
  const owned = openDataDir(dir.path, lockFile)
  // As another pid namespace would see it: the owner's number means nothing there.
  writeFileSync(join(dir.path, 'host.pid'), String(2 ** 22 + 1))
  assert.throws(() => openDataDir(dir.path, lockFile), DataDirLocked)
  rmSync(join(dir.path, 'host.pid'))
  assert.throws(() => openDataDir(dir.path, lockFile), /^DataDirLocked: Another wheelhouse host is using/)
  owned.release()
  openDataDir(dir.path, lockFile).release()
  dir.remove()
})

test('files of the data directory that hold nonsense are made anew', async () => {
  const dir = makeTempDir('damaged')
  openDataDir(dir.path, lockFile).release()
  writeFileSync(join(dir.path, 'token'), '', { mode: 0o644 })
  writeFileSync(join(dir.path, 'host-id'), 'zz')
  writeFileSync(join(dir.path, 'logins.json'), '{"a":1}')
  const host = await startTestHost({ dataDir: dir.path })
  const { sessionId } = await furnishSession(host.client)
  assert.match((await host.client.sessions.get(sessionId)).cursor, /^\d+\.\d+\.\d+$/)
  assert.equal((await fetch(`${host.url}/v1/info`, { headers: { cookie: 'wheelhouse=x' } })).status, 401)
  await host.stop()
  writeFileSync(join(dir.path, 'token'), 'a-token-that-a-person-chose', { mode: 0o644 })
  assert.equal(openDataDir(dir.path, lockFile).token, 'a-token-that-a-person-chose')
  assert.equal(statSync(join(dir.path, 'token')).mode & 0o077, 0)
  dir.remove()
})

test('an agent that is deleted is gone from every window at once', async () => {
  const host = await startTestHost()
  const { sessionId, agentId } = await furnishSession(host.client)
  const seen: (string | null)[] = []
  const stream = host.client.stream({ sessions: [[sessionId, null]] })
  const reading = (async () => {
    for await (const event of stream) if (event.type === 'status') seen.push(event.session.agentId)
  })()
  await until('the reader to be there', () => host.host.engine.streams.cursor(sessionId) !== '0.0.0')
  const { rev } = (await host.client.agents.list()).items.find((agent) => agent.id === agentId) ?? { rev: 0 }
  await host.client.agents.remove(agentId, rev)
  await until('the window to be told', () => seen.includes(null))
  stream.close()
  await reading
})

/** A provider that answers 401 with what it was sent, spelled as it likes. */
async function echoing(answer: (key: string) => string): Promise<{ url: string; asked: () => number; close(): void }> {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    const key = request.headers['x-api-key']?.toString() ?? ''
    if (request.url === '/elsewhere/v1/messages') response.writeHead(307, { location: '/v1/messages' }).end()
    else response.writeHead(401, { 'content-type': 'application/json' }).end(answer(key))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked: () => asked, close: () => void server.close() }
}

test('BUG-56 BUG-40 a provider that echoes the key is quoted without it, well-formed and in bounds, and leads nowhere else', async () => {
  const host = await startTestHost()
  const key = 'sk-canary/Ab+"9'
  const slashed = (text: string): string => JSON.stringify(text).replaceAll('/', '\\/')
  const provider = await echoing(
    (sent) => `{"error":{"message":${slashed(`${'x'.repeat(480)} no ${sent} \ud83d`)},"more":"${'y'.repeat(200_000)}"}}`,
  )
  const words = await echoing((sent) => `{"error":{"message":${slashed(`${'x'.repeat(499)}👨 no ${sent}`)}}}`)
  const input = { name: 'p', protocol: 'anthropic' as const, apiKey: key, models: [{ id: 'm' }] }
  const details: string[] = []
  for (const [name, baseUrl] of Object.entries({ long: provider.url, cut: words.url, moved: `${provider.url}/elsewhere` })) {
    const { id } = await host.client.providers.create({ ...input, name, baseUrl })
    const { ok, detail } = await host.client.providers.test(id)
    assert.equal(ok, false)
    details.push(detail ?? '')
  }
  for (const detail of details) {
    assert.ok(!detail.includes('canary') && detail.isWellFormed() && detail.length <= 500, detail)
  }
  assert.match(details[2] ?? '', /cannot be reached/)
  assert.equal(provider.asked(), 2, 'a redirect is not followed: the key would go with it')
  provider.close()
  words.close()
})

test('BUG-56 a child sees the variables that are listed, and nothing else of the host', () => {
  const own = { PATH: '/bin', LANG: 'C', ANTHROPIC_API_KEY: 'sk-x', WHEELHOUSE_TOKEN: 't', AWS_SECRET_ACCESS_KEY: 's' }
  assert.deepEqual(childEnvironment(own), { PATH: '/bin', LANG: 'C' })
})

test('BUG-40 a name is cut between characters', async () => {
  const host = await startTestHost()
  const { agentId } = await furnishSession(host.client)
  const session = await host.client.sessions.create({ agentId, name: `${'x'.repeat(253)}👨` })
  const cut = await host.client.agents.create({ name: `${'x'.repeat(254)}\ud83d`, type: 'scripted' })
  for (const { name } of [session, cut]) assert.ok(name.isWellFormed() && name.length <= 255, name)
})

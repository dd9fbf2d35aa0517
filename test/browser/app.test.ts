/** The web app in a real Chromium, against `wheelhouse serve` with its practice agent: the real CLI. */
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'
import { createClient, type WheelhouseClient } from '@wheelhouse/client'
import { chromium as playwright, type Browser, type Page } from 'playwright-core'
import { makeTempDir, until } from '../support/daemon.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const dir = makeTempDir('browser')
let browser: Browser
let serve: ChildProcess
let url: string
let client: WheelhouseClient

before(async () => {
  const built = spawnSync(process.execPath, ['scripts/build-web.ts', '--if-stale'], { cwd: ROOT, encoding: 'utf8' })
  assert.equal(built.status, 0, built.stderr)
  serve = spawn(
    process.execPath,
    ['packages/runtime/bin/wheelhouse.js', 'serve', '--json', '--port', '0', '--log-level', 'error', '--data-dir', dir.path],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  assert.ok(serve.stdout)
  const [line] = (await once(createInterface({ input: serve.stdout }), 'line')) as [string]
  const ready = JSON.parse(line) as { url: string; tokenFile: string }
  url = ready.url
  client = createClient({ baseUrl: url, token: readFileSync(ready.tokenFile, 'utf8').trim() })
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--font-render-hinting=none'],
    headless: true,
  })
})

after(async () => {
  await browser.close()
  serve.kill('SIGTERM')
  await once(serve, 'exit')
  dir.remove()
})

/** Opens the page by a one-time link; what goes wrong in it fails the test. */
async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, locale: 'en-GB' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:') && !request.url().startsWith('blob:'))
      complaints.push(`a request to ${request.url()}`)
  })
  const { code } = await client.createLoginCode()
  await page.goto(`${url}${path}#code=${code}`)
  return { page, complaints }
}

test('a person opens the link, sends a message and watches the real agent answer, in two tabs', { timeout: 120_000 }, async () => {
  const [agent] = (await client.agents.list()).items
  const session = await client.sessions.create({ agentId: agent?.id ?? '', name: 'From the browser' })
  const { page, complaints } = await open(`/s/${session.id}`)
  const composer = page.getByRole('textbox', { name: 'Message to the agent' })
  await composer.waitFor()
  assert.ok(!page.url().includes('code='), 'the code does not stay in the address bar')
  const second = await page.context().newPage()
  await second.goto(`${url}/s/${session.id}`)
  await second.getByRole('textbox', { name: 'Message to the agent' }).waitFor()

  await composer.fill('hello from the browser')
  await composer.press('Enter')
  // It streams: some of the answer stands there before the turn is over.
  await page.getByText('I am the practice model').first().waitFor({ timeout: 60_000 })
  assert.equal((await client.sessions.get(session.id)).turn?.phase, 'open')
  await second.getByText('I am the practice model').first().waitFor()
  const answer = await until(
    'the turn to end',
    async () => (await client.sessions.transcript(session.id)).items.find((row) => row.status === 'success') ?? null,
    60_000,
  )
  const last = answer.parts.findLast((part) => part.type === 'text')
  assert.ok(last?.type === 'text' && last.text.includes('practice'))
  for (const tab of [page, second]) await tab.getByText('For real work, connect a provider with a key.').waitFor()
  if (process.env['PICTURES'] !== undefined) await page.screenshot({ path: `${process.env['PICTURES']}/app.png` })
  assert.deepEqual(complaints, [])
})

test('Stop in the page ends the turn, and the row says so', { timeout: 120_000 }, async () => {
  const [agent] = (await client.agents.list()).items
  const session = await client.sessions.create({ agentId: agent?.id ?? '' })
  const { page } = await open(`/s/${session.id}`)
  const composer = page.getByRole('textbox', { name: 'Message to the agent' })
  await composer.fill('#practice: drip 200; long 400')
  await composer.press('Enter')
  await until('the turn to speak', async () => (await client.sessions.get(session.id)).turn?.phase === 'open', 60_000)
  await page.getByRole('button', { name: /^Stop/ }).first().click()
  await page.getByText('Stopped', { exact: true }).first().waitFor()
  assert.equal((await client.sessions.transcript(session.id)).items.at(-1)?.status, 'paused')
})

test('a page that is not logged in says so and shows nothing, until a link is opened in it', async () => {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  await page.goto(url)
  await page.getByText('npx wheelhouse open').first().waitFor()
  // The address differs in its fragment alone, so the page is not loaded anew.
  await page.goto(`${url}/#code=used-already`)
  await page.getByText('This link was used already').waitFor()
  const { code } = await client.createLoginCode()
  await page.goto(`${url}/#code=${code}`)
  await page.getByRole('link', { name: 'New session' }).waitFor()
  assert.equal(page.url(), `${url}/`)
})

test('keys do what they say: Enter in the finder opens and writes nothing, a waiting message is changed where it ends', async () => {
  const [agent] = (await client.agents.list()).items
  const session = await client.sessions.create({ agentId: agent?.id ?? '', name: 'Keys' })
  const { page } = await open('/agents')
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).fill('Keys')
  await page.keyboard.press('Enter')
  const composer = page.getByRole('textbox', { name: 'Message to the agent' })
  await composer.waitFor()
  await page.keyboard.type('#practice: drip 200; long 400')
  assert.equal(await composer.inputValue(), '#practice: drip 200; long 400')
  await composer.press('Enter')
  await until('the turn to speak', async () => (await client.sessions.get(session.id)).turn?.phase === 'open', 60_000)
  await composer.fill('and then')
  await composer.press('Control+Enter')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.keyboard.type(' some')
  assert.equal(await page.getByRole('textbox', { name: 'Edit' }).inputValue(), 'and then some')
  await client.sessions.stop(session.id, { queue: 'discard' })
})

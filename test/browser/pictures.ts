/**
 * Takes a picture of every state, in light, dark and at 360 px, into the folder given as argument:
 * node test/browser/pictures.ts <folder> [name …]. They are looked at, not compared.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { chromium as playwright, type Browser, type Page } from 'playwright-core'
import { startSeed, type SeedOptions, type SeedServer } from './seed/server.ts'
import { emptyWorld, fullWorld, hugeWorld, type World } from './seed/world.ts'

type Shot = {
  name: string
  seed?: Partial<SeedOptions>
  path: (world: World) => string
  act?: (page: Page, seed: SeedServer) => Promise<void>
  language?: 'zh'
  size?: { width: number; height: number }
}

const sessionNamed =
  (name: string) =>
  (world: World): string =>
    `/s/${world.sessions.find((each) => each.session.name.startsWith(name))?.session.id ?? 'none'}`
const at = (path: string) => (): string => path

const SHOTS: Shot[] = [
  { name: 'finished', path: sessionNamed('Rows lost') },
  {
    name: 'tools-open',
    path: sessionNamed('Rows lost'),
    act: async (page) => {
      for (const words of ['Edited src', 'npm run lint', 'tracker']) await page.getByRole('button', { name: words }).first().click()
      await page.getByRole('button', { name: 'Edited src' }).first().scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'code',
    path: sessionNamed('Rows lost'),
    act: (page) => page.locator('figcaption').first().scrollIntoViewIfNeeded(),
  },
  { name: 'running', path: sessionNamed('Why is') },
  { name: 'approval', path: sessionNamed('Publish') },
  { name: 'question', path: sessionNamed('Move the docs') },
  { name: 'interrupted', path: sessionNamed('Translate') },
  { name: 'errors', path: sessionNamed('Nightly') },
  { name: 'plan', path: sessionNamed('Split') },
  { name: 'stalled', path: sessionNamed('Index') },
  { name: 'quarantined', path: sessionNamed('Old experiment') },
  {
    name: 'unsent',
    path: sessionNamed('Why is'),
    act: async (page) => {
      await page.locator('#composer').fill('This one cannot be sent, since the seeded host refuses all writes.')
      await page.getByRole('button', { name: 'Queue' }).click()
      await page.getByText('Not sent').waitFor()
    },
  },
  {
    name: 'waiting-to-go',
    path: sessionNamed('Rows lost'),
    act: async (page, seed) => {
      seed.close()
      seed.cutStreams()
      await page.getByText('Trying again').first().waitFor({ timeout: 15_000 })
      await page.locator('#composer').fill('This one waits until the host is back.')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Waits for the connection').waitFor()
    },
  },
  {
    name: 'folder-gone',
    seed: { refusal: 'WORKSPACE_MISSING' },
    path: sessionNamed('Rows lost'),
    act: async (page) => {
      await page.locator('#composer').fill('Its folder was moved away.')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('Not sent').waitFor()
    },
  },
  {
    name: 'dialog',
    path: sessionNamed('Rows lost'),
    act: async (page) => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: 'Delete the session' }).click()
    },
  },
  { name: 'menu', path: sessionNamed('Rows lost'), act: (page) => page.getByRole('button', { name: 'More' }).click() },
  { name: 'zoom', path: sessionNamed('Publish'), size: { width: 640, height: 410 } },
  { name: 'long', path: sessionNamed('A very long') },
  { name: 'empty-session', path: (world) => `/s/${world.sessions.at(-1)?.session.id ?? ''}` },
  { name: 'missing', path: at('/s/nothing') },
  { name: 'home', path: at('/') },
  { name: 'new', path: at('/new') },
  { name: 'first-run', seed: { world: emptyWorld() }, path: at('/new') },
  { name: 'agents', path: at('/agents') },
  { name: 'agent', path: (world) => `/agents/${world.agents[0]?.id ?? ''}` },
  { name: 'providers', path: at('/providers') },
  { name: 'provider', path: (world) => `/providers/${world.providers[0]?.id ?? ''}` },
  { name: 'settings', path: at('/settings') },
  { name: 'login', seed: { loggedOut: true }, path: at('/') },
  { name: 'loading', seed: { delayMs: 2_500 }, path: sessionNamed('Rows lost'), act: (page) => page.waitForTimeout(400) },
  {
    name: 'offline',
    path: sessionNamed('Why is'),
    act: async (page, seed) => {
      seed.close()
      seed.cutStreams()
      await page.getByText('Trying again').first().waitFor({ timeout: 15_000 })
    },
  },
  {
    name: 'keys',
    path: sessionNamed('Rows lost'),
    act: (page) =>
      page
        .locator('body')
        .press('Escape')
        .then(() => page.locator('#main').press('?')),
  },
  { name: 'search', path: sessionNamed('Rows lost'), act: (page) => page.keyboard.press('Control+k') },
  { name: 'chinese', path: sessionNamed('Why is'), language: 'zh' },
  { name: 'huge', seed: { world: hugeWorld() }, path: sessionNamed('A very long') },
]

const LOOKS = [
  { suffix: 'light', colorScheme: 'light', width: 1280, height: 820 },
  { suffix: 'dark', colorScheme: 'dark', width: 1280, height: 820 },
  { suffix: 'phone', colorScheme: 'light', width: 360, height: 740 },
] as const

async function take(browser: Browser, shot: Shot, look: (typeof LOOKS)[number], folder: string): Promise<void> {
  const world = shot.seed?.world ?? fullWorld()
  const seed = await startSeed({ world, ...shot.seed })
  const context = await browser.newContext({
    viewport: shot.size ?? { width: look.width, height: look.height },
    colorScheme: look.colorScheme,
    locale: shot.language === 'zh' ? 'zh-CN' : 'en-GB',
    ...(look.width < 700 ? { deviceScaleFactor: 2, hasTouch: true, isMobile: true } : {}),
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (entry) => {
    if (entry.type() === 'error' || entry.type() === 'warning') complaints.push(entry.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(seed.url + shot.path(world))
  if (shot.seed?.delayMs === undefined)
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined /* the stream never ends */)
  await page.waitForTimeout(350)
  await shot.act?.(page, seed)
  await page.waitForTimeout(250)
  await page.screenshot({ path: join(folder, `${shot.name}-${look.suffix}.png`) })
  for (const complaint of complaints) process.stdout.write(`${shot.name}-${look.suffix}: ${complaint}\n`)
  await context.close()
  seed.close()
}

const [folder, ...names] = process.argv.slice(2)
if (folder === undefined) throw new Error('give the folder for the pictures')
mkdirSync(folder, { recursive: true })
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--font-render-hinting=none'],
  headless: true,
})
for (const shot of SHOTS) {
  if (names.length > 0 && !names.includes(shot.name)) continue
  for (const look of LOOKS) await take(browser, shot, look, folder)
}
await browser.close()

/**
 * Builds the web app into packages/runtime/dist/web. With `--if-stale` it does nothing when the build
 * there was made from the same sources; `npm start` calls it so.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'packages/web')
const out = join(root, 'packages/runtime/dist/web')
/** Holds the digest of the sources the build was made from. */
const stamp = join(out, '.sources')

/** What the build depends on: the app, the SDK it bundles, and the versions of everything else. */
const SOURCES = ['packages/web/src/**/*', 'packages/web/*.{json,html,ts}', 'packages/client/src/**/*.ts', 'package-lock.json']

function digestOfSources(): string {
  const hash = createHash('sha256')
  for (const name of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()) {
    hash.update(relative(root, name)).update('\0').update(readFileSync(name)).update('\0')
  }
  return hash.digest('hex')
}

async function buildWeb(): Promise<void> {
  // Vite belongs to the web app's workspace, so it is found from there.
  const vite = createRequire(join(web, 'package.json')).resolve('vite')
  const { build } = (await import(pathToFileURL(vite).href)) as { build: (config: { root: string; logLevel: 'warn' }) => Promise<unknown> }
  await build({ root: web, logLevel: 'warn' })
}

const digest = digestOfSources()
const fresh = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest
if (fresh && process.argv.includes('--if-stale')) process.exit(0)
process.stderr.write('Building the web app …\n')
await buildWeb()
writeFileSync(stamp, digest)

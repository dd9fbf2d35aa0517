/** Who may import whom (ARCHITECTURE, Rooms). Fails on a breach, and when it sees no files. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'

type Rule = {
  /** Rooms of the runtime; `types` = only by `import type`. */
  rooms: { [room: string]: 'all' | 'types' }
  /** Packages and node: modules; null = any. */
  packages: RegExp | null
}

const RULES: { [room: string]: Rule } = {
  core: { rooms: {}, packages: /^@wheelhouse\/client\/protocol$/ },
  store: { rooms: { core: 'types' }, packages: /^(?:node:|@wheelhouse\/client\/protocol$)/ },
  driver: { rooms: { core: 'types' }, packages: /^(?:node:|@wheelhouse\/client\/protocol$)/ },
  drivers: { rooms: { driver: 'all', core: 'types', prompt: 'types', tools: 'types' }, packages: null },
  prompt: { rooms: { core: 'types' }, packages: /^(?:node:|@wheelhouse\/client\/protocol$)/ },
  tools: { rooms: { core: 'types', host: 'types' }, packages: null },
  models: { rooms: { core: 'types', host: 'types' }, packages: null },
  host: { rooms: { core: 'all', store: 'all', driver: 'types', prompt: 'all', tools: 'all', models: 'all' }, packages: null },
  server: { rooms: { host: 'all', core: 'types', store: 'all' }, packages: null },
  cli: {
    rooms: {
      core: 'all',
      store: 'all',
      driver: 'all',
      drivers: 'all',
      prompt: 'all',
      tools: 'all',
      models: 'all',
      host: 'all',
      server: 'all',
    },
    packages: null,
  },
}
/** Of a room another room may see only this file. */
const DOORS: { [pair: string]: RegExp } = {
  'tools -> host': /^host\/host-api\.ts$/,
  'models -> host': /^host\/host-api\.ts$/,
  'server -> host': /^host\/(?:host-api|host|cursor|data-dir)\.ts$/,
  'server -> core': /^core\/view\.ts$/,
  'server -> store': /^store\/errors\.ts$/,
  'host -> store': /^store\/(?:store|errors)\.ts$/,
  'store -> core': /^core\/(?:write|types|recovery)\.ts$/,
}
/** A file that imports a room's function beyond its rule, with the reason. */
const ALLOWED = new Set([
  'server/metrics.ts -> core/view.ts',
  'driver -> core/assert.ts',
  'drivers -> core/assert.ts',
  'store -> core/assert.ts',
  'models -> core/assert.ts',
])

const RUNTIME = 'packages/runtime/src'
const errors: string[] = []
let seen = 0

for (const file of globSync(`${RUNTIME}/**/*.ts`)) {
  seen += 1
  const inside = file.slice(RUNTIME.length + 1)
  const room = inside.includes('/') ? (inside.split('/')[0] ?? '') : ''
  if (room !== '') checkRuntime(file, inside, room)
}
for (const file of globSync('packages/client/src/**/*.ts')) {
  seen += 1
  for (const { spec } of importsOf(file)) {
    if (!spec.startsWith('.')) errors.push(`${file} imports ${spec}: the client has no dependencies`)
    else if (file.includes('/protocol/') && !normalize(join(dirname(file), spec)).includes('/protocol/'))
      errors.push(`${file} imports ${spec}: the protocol imports nothing`)
  }
}
for (const file of globSync('packages/web/src/**/*.{ts,tsx}')) {
  seen += 1
  for (const { spec } of importsOf(file))
    if (/^(?:wheelhouse$|wheelhouse\/|node:)/.test(spec) || /runtime\//.test(spec))
      errors.push(`${file} imports ${spec}: the web app sees the client only`)
}
for (const file of globSync('packages/*/src/**/*.{ts,tsx}'))
  for (const { spec } of importsOf(file))
    if (/(?:^|\/)(?:sim|test|bench)\//.test(spec)) errors.push(`${file} imports ${spec}: nothing imports tests`)

if (seen < 50) errors.push(`only ${seen} files seen: the check is broken`)
if (errors.length > 0) {
  console.error(errors.join('\n'))
  process.exit(1)
}
console.log(`layers: ${seen} files`)

function checkRuntime(file: string, inside: string, room: string): void {
  const rule = RULES[room]
  if (rule === undefined) {
    errors.push(`${file}: ${room} is no room of the house`)
    return
  }
  for (const { spec, typeOnly } of importsOf(file)) {
    if (!spec.startsWith('.')) {
      if (rule.packages !== null && !rule.packages.test(spec)) errors.push(`${file} imports ${spec}`)
      if (spec === 'node:sqlite' && !inside.startsWith('store/sqlite/')) errors.push(`${file} names node:sqlite`)
      continue
    }
    const to = normalize(join(dirname(inside), spec))
    const toRoom = to.includes('/') ? (to.split('/')[0] ?? '') : ''
    if (toRoom === '') continue
    if (room === 'drivers' && toRoom === 'drivers' && to.split('/')[1] !== inside.split('/')[1])
      errors.push(`${file} imports ${to}: drivers never import each other`)
    if (toRoom === room || ALLOWED.has(`${inside} -> ${to}`) || ALLOWED.has(`${room} -> ${to}`)) continue
    const may = rule.rooms[toRoom]
    if (may === undefined || (may === 'types' && !typeOnly)) errors.push(`${file} imports ${to}${may === 'types' ? ' (types only)' : ''}`)
    else if (DOORS[`${room} -> ${toRoom}`]?.test(to) === false) errors.push(`${file} imports ${to}, not a door of ${toRoom}`)
  }
}

type Import = { spec: string; typeOnly: boolean }

function importsOf(file: string): Import[] {
  const { module } = parseSync(file, readFileSync(file, 'utf8'))
  const made: Import[] = module.staticImports.map((each) => ({
    spec: each.moduleRequest.value,
    typeOnly: each.entries.length > 0 && each.entries.every((entry) => entry.isType),
  }))
  for (const each of module.staticExports) {
    for (const entry of each.entries)
      if (entry.moduleRequest !== null) made.push({ spec: entry.moduleRequest.value, typeOnly: entry.isType })
  }
  return made
}

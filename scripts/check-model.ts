/**
 * Keeps docs/model.md true: the unions of the core stand in it (`--write` brings them up to date),
 * every effect says what re-creates it after a crash, and every requirement has an entry, which for a
 * done one names files that exist and a test that is there and runs.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'

const PAGE = 'docs/model.md'
const CORE = 'packages/runtime/src/core'
const REQUIREMENTS = 221
const STATES = /^(?:open|done|departed \d{4})$/

const errors: string[] = []
let page = readFileSync(PAGE, 'utf8')

/** Names of a closed union, in the order they are declared. */
function unionOf(file: string, name: string): string[] {
  const source = readFileSync(`${CORE}/${file}`, 'utf8')
  const body = new RegExp(`export type ${name} =([\\s\\S]*?)(?=\\nexport |\\n/\\*\\*|$)`).exec(source)?.[1] ?? ''
  return [...new Set([...body.matchAll(/\btype: '([a-z-]+)'/g)].map((match) => match[1] ?? ''))]
}

const unions: { [name: string]: string[] } = {
  commands: unionOf('event.ts', 'CommandEvent'),
  'driver events': unionOf('event.ts', 'DriverEvent'),
  'host events': unionOf('event.ts', 'HostEvent'),
  writes: unionOf('write.ts', 'Write'),
  effects: unionOf('effect.ts', 'Effect'),
}

for (const [name, members] of Object.entries(unions)) {
  if (members.length < 5) errors.push(`${name}: only ${members.length} found, the check is broken`)
  const marker = `<!-- ${name} -->`
  const line = `${marker} ${members.map((member) => `\`${member}\``).join(' · ')}`
  const now = page.split('\n').find((each) => each.startsWith(marker))
  if (now === undefined) errors.push(`${PAGE}: no line for the ${name}`)
  else if (now !== line) {
    if (process.argv.includes('--write')) page = page.replace(now, line)
    else errors.push(`${PAGE}: the ${name} have changed; run node scripts/check-model.ts --write`)
  }
}
if (process.argv.includes('--write')) writeFileSync(PAGE, page)

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
for (const effect of unions['effects'] ?? [])
  if (!rows.some(([name = '', words = '']) => name === `\`${effect}\`` && words.length > 10))
    errors.push(`${PAGE}: nothing is said of what re-creates ${effect} after a crash`)

const scenarios = readFileSync('test/core/scenarios.test.ts', 'utf8').length > 0
const runs = new Set(globSync('test/**/*.test.ts'))
const seen = new Map<string, number>()
for (const [number = '', , state = '', files = '', test = ''] of rows.filter(([first]) => /^\d{3}$/.test(first ?? ''))) {
  seen.set(number, (seen.get(number) ?? 0) + 1)
  if (!STATES.test(state)) errors.push(`${number}: "${state}" is no state`)
  if (state.startsWith('departed ')) {
    if (globSync(`docs/decisions/${state.slice('departed '.length)}-*.md`).length === 0) errors.push(`${number}: no decision note ${state}`)
    continue
  }
  for (const file of files
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== ''))
    if (!existsSync(file) && !existsSync(`packages/runtime/src/${file}`)) errors.push(`${number}: ${file} does not exist`)
  if (state === 'done' && files === '') errors.push(`${number}: done, and no file`)
  if (state === 'done' || test !== '') checkTest(number, test)
}
for (let n = 1; n <= REQUIREMENTS; n += 1) {
  const number = String(n).padStart(3, '0')
  if (seen.get(number) !== 1) errors.push(`${number}: ${seen.get(number) ?? 0} entries`)
}

function checkTest(number: string, reference: string): void {
  const [, file = '', name = ''] = /^(\S+?): (.+)$/.exec(reference) ?? []
  if (!existsSync(file)) {
    errors.push(`${number}: no test ${reference === '' ? 'named' : reference}`)
    return
  }
  if (!(file.endsWith('.txt') ? scenarios : runs.has(file))) errors.push(`${number}: ${file} is not run`)
  if (name !== '*' && !readFileSync(file, 'utf8').replaceAll("\\'", "'").includes(name)) errors.push(`${number}: ${file} has no "${name}"`)
}

if (errors.length > 0) {
  console.error(errors.join('\n'))
  process.exit(1)
}
const count = (state: string): number => rows.filter(([first, , each]) => /^\d{3}$/.test(first ?? '') && each?.startsWith(state)).length
console.log(`model: ${count('done')} done, ${count('departed')} departed, ${count('open')} open`)

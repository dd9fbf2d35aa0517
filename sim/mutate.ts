/**
 * Guard mutation: negates each guard of the core in turn (every `if`, `?:`, and each side of `&&` and
 * `||`) and demands that the scenarios or the simulation find it. What survives must stand in
 * sim/equivalent.json with the reason why nothing can tell it. `node sim/mutate.ts [--only FILE]`
 * writes docs/mutation.md.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSync, Visitor, type Expression } from 'oxc-parser'

const ROOT = join(import.meta.dirname, '..')
const CORE = 'packages/runtime/src/core'
/** A mutant that goes in circles counts as found. */
const TIMEOUT_MS = 60_000
const EVERY = '2'
const RANDOM = '80'

type Mutant = { file: string; line: number; kind: string; text: string; source: string; found: string | null }
type Equivalent = { file: string; text: string; kind: string; reason: string }

const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : null
const equivalents = JSON.parse(readFileSync(join(ROOT, 'sim/equivalent.json'), 'utf8')) as Equivalent[]
const mutants = readdirSync(join(ROOT, CORE))
  .filter((name) => name.endsWith('.ts') && name !== 'assert.ts' && (only === null || name === only))
  .flatMap(mutantsOf)

function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(join(ROOT, CORE, file), 'utf8')
  const made: Mutant[] = []
  const negate = (kind: string, guard: Expression): void => {
    const text = source.slice(guard.start, guard.end)
    const mutated = `${source.slice(0, guard.start)}!(${text})${source.slice(guard.end)}`
    made.push({ file, line: source.slice(0, guard.start).split('\n').length, kind, text, source: mutated, found: null })
  }
  new Visitor({
    IfStatement: (node) => negate('if', node.test),
    ConditionalExpression: (node) => negate('?:', node.test),
    LogicalExpression(node) {
      if (node.operator === '??') return
      negate(`left of ${node.operator}`, node.left)
      negate(`right of ${node.operator}`, node.right)
    },
  }).visit(parseSync(file, source).program)
  return made
}

/** A copy of what the judge needs, to break. */
function makeTree(): string {
  const tree = mkdtempSync(join(tmpdir(), 'wheelhouse-mutants-'))
  for (const part of ['packages/client', 'packages/runtime', 'sim', 'test/core', 'test/scenarios', 'package.json'])
    cpSync(join(ROOT, part), join(tree, part), { recursive: true, filter: (path) => !/node_modules|dist/.test(path) })
  mkdirSync(join(tree, 'node_modules/@wheelhouse'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('@wheelhouse') && !name.startsWith('.'))
      symlinkSync(join(ROOT, 'node_modules', name), join(tree, 'node_modules', name))
  symlinkSync(join(tree, 'packages/client'), join(tree, 'node_modules/@wheelhouse/client'))
  return tree
}

/** What found it, or null. */
function judge(tree: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(tree, 'sim/judge.ts'), EVERY, RANDOM], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (data: Buffer) => (output += data.toString()))
    child.stderr.on('data', (data: Buffer) => (output += data.toString()))
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code === 0 ? null : (output.split('\n')[0] ?? '').slice(0, 120) || 'it never ends')
    })
  })
}

async function work(queue: Mutant[]): Promise<void> {
  const tree = makeTree()
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const path = join(tree, CORE, mutant.file)
    const original = readFileSync(path, 'utf8')
    writeFileSync(path, mutant.source)
    mutant.found = await judge(tree)
    writeFileSync(path, original)
    if (mutant.found === null) console.log(`survives: ${mutant.file}:${mutant.line} ${mutant.kind} ${mutant.text}`)
  }
  rmSync(tree, { recursive: true, force: true })
}

// A judge that finds fault with the core as it is would find every mutant.
const control = makeTree()
const unjust = await judge(control)
rmSync(control, { recursive: true, force: true })
if (unjust !== null) {
  console.error(`the core as it is does not pass: ${unjust}`)
  process.exit(1)
}
const queue = mutants.slice()
await Promise.all(Array.from({ length: availableParallelism() }, () => work(queue)))

const reasonOf = (mutant: Mutant): string | null =>
  equivalents.find((each) => each.file === mutant.file && each.text === mutant.text && each.kind === mutant.kind)?.reason ?? null
const survivors = mutants.filter((mutant) => mutant.found === null)
const unexplained = survivors.filter((mutant) => reasonOf(mutant) === null)
console.log(
  `${mutants.length} guards negated, ${mutants.length - survivors.length} found, ${survivors.length - unexplained.length} equivalent, ${unexplained.length} unexplained`,
)
if (only === null) writeFileSync(join(ROOT, 'docs/mutation.md'), report())
process.exit(unexplained.length === 0 ? 0 : 1)

function report(): string {
  const byFile = Map.groupBy(mutants, (mutant) => mutant.file)
  const rows = [...byFile].map(
    ([file, each]) =>
      `| ${file} | ${each.length} | ${each.filter((mutant) => mutant.found !== null).length} | ${each.filter((mutant) => mutant.found === null).length} |`,
  )
  const listed = survivors.map(
    (mutant) =>
      `| ${mutant.file}:${mutant.line} | ${mutant.kind} | \`${mutant.text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')}\` | ${reasonOf(mutant) ?? '**not explained**'} |`,
  )
  return [
    '# Guard mutation of the core',
    '',
    '`npm run mutate` negates each guard of `packages/runtime/src/core` in turn and runs the scenario traces and the simulation. This page is written by it.',
    '',
    `${mutants.length} guards negated, ${mutants.length - survivors.length} found, ${survivors.length - unexplained.length} equivalent, ${unexplained.length} unexplained.`,
    '',
    '| file | guards | found | not found |',
    '|---|---|---|---|',
    ...rows,
    '',
    '## Not found, with the reason',
    '',
    '| guard | kind | text | why nothing can tell it |',
    '|---|---|---|---|',
    ...listed,
    '',
  ].join('\n')
}

/** Sizes and habits of the house (ARCHITECTURE, Style) that no linter knows. */
import { globSync, readFileSync } from 'node:fs'

/** Aimed at are 400 lines; past this a file has a second room in it. */
const FILE_LINES = 500
const RULES: { pattern: RegExp; why: string }[] = [
  { pattern: /\b(?:TODO|FIXME|XXX)\b/, why: 'a note for later needs a decision note instead' },
  { pattern: /@ts-(?:ignore|nocheck)/, why: 'the compiler is not to be silenced' },
  { pattern: /\btest\.(?:skip|only|todo)\(|\bit\.(?:skip|only)\(/, why: 'a test runs or is gone' },
  { pattern: /catch\s*(?:\([^)]*\))?\s*\{\s*\}/, why: 'an empty catch must name what it swallows' },
]
/** The only places that may name a timer of the platform. */
const TIMERS = /^packages\/runtime\/src\/(?:host\/clock\.ts|server\/sse\.ts|models\/|drivers\/|driver\/kit\/|cli\/)/

const files = globSync(['packages/*/src/**/*.{ts,tsx}', 'test/**/*.ts', 'sim/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts']).filter(
  (file) => !file.includes('node_modules'),
)
const errors: string[] = []
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  if (lines.length > FILE_LINES && !file.startsWith('packages/web/src/i18n/')) errors.push(`${file}: ${lines.length} lines`)
  for (const [index, line] of lines.entries()) {
    if (file === 'scripts/check-tidy.ts') continue
    for (const { pattern, why } of RULES) if (pattern.test(line)) errors.push(`${file}:${index + 1}: ${why}`)
    if (file.startsWith('packages/runtime/src/') && /\bset(?:Timeout|Interval)\(/.test(line) && !TIMERS.test(file))
      errors.push(`${file}:${index + 1}: time comes through the clock`)
  }
}
if (files.length < 100) errors.push(`only ${files.length} files seen: the check is broken`)
if (errors.length > 0) {
  console.error(errors.join('\n'))
  process.exit(1)
}
console.log(`tidy: ${files.length} files`)

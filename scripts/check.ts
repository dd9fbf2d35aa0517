/** `npm run check`: everything that is checked without running the product. One line a check; the output of those that fail. */
import { spawnSync } from 'node:child_process'

const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['types of the web app', ['tsc', '-p', 'packages/web/tsconfig.json']],
  ['lint', ['oxlint', '--type-aware']],
  ['layers', ['node', 'scripts/check-layers.ts']],
  ['tidy', ['node', 'scripts/check-tidy.ts']],
  ['model map', ['node', 'scripts/check-model.ts']],
  ['unused', ['knip', '--no-progress']],
  ['format', ['oxfmt', '--check', '.']],
]

let failed = 0
for (const [name, [command = '', ...args]] of CHECKS) {
  const result = spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' })
  const ok = result.status === 0
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`)
  if (ok) continue
  failed += 1
  console.log(`${result.stdout}${result.stderr}`)
}
process.exit(failed === 0 ? 0 : 1)

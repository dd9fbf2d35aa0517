/**
 * `npm test`: the suites that fit five minutes on two cores. `npm test -- core store` runs some of
 * them; `npm run test:all` adds the slow ones. Prints one line a suite and the totals.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

type Suite = {
  name: string
  files: string[]
  /** Real processes, or long ones: files run in processes of their own, two at once. */ apart: boolean
  slow?: boolean
}

const SUITES: readonly Suite[] = [
  { name: 'core', files: ['test/core/**/*.test.ts', 'test/sim/**/*.test.ts'], apart: true },
  { name: 'client', files: ['test/client/**/*.test.ts', 'test/web/**/*.test.ts'], apart: false },
  { name: 'store', files: ['test/conformance/store/**/*.test.ts'], apart: false },
  { name: 'host', files: ['test/host/**/*.test.ts', 'test/http/**/*.test.ts', 'test/cli/**/*.test.ts'], apart: true },
  { name: 'practice', files: ['test/practice/**/*.test.ts', 'test/process/**/*.test.ts'], apart: true },
  { name: 'driver', files: ['test/conformance/driver/**/*.test.ts', 'test/claude-code/**/*.test.ts'], apart: true },
  { name: 'recovery', files: ['test/recovery/**/*.test.ts'], apart: true },
  { name: 'browser', files: ['test/browser/**/*.test.ts'], apart: true },
  { name: 'slow', files: ['test/**/*.slow.test.ts'], apart: true, slow: true },
]
/** Each file and each host that a test starts would compile the whole tree anew. */
const COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/compile')
const SLOW = /\.slow\.test\.ts$/

const words = process.argv.slice(2)
const all = words.includes('--all')
const wanted = words.filter((word) => !word.startsWith('--'))
const totals = { passed: 0, failed: 0, seconds: 0 }

for (const suite of SUITES) {
  if (wanted.length > 0 ? !wanted.includes(suite.name) : suite.slow === true && !all) continue
  const files = suite.files
    .flatMap((pattern) => globSync(pattern))
    .filter((file) => suite.slow === true || !SLOW.test(file))
    .toSorted()
  if (files.length === 0) {
    console.error(`suite ${suite.name}: no files match, the runner is broken`)
    totals.failed += 1
    continue
  }
  run(suite, files)
}

console.log(`\n${totals.passed} passed, ${totals.failed} failed`)
console.log(`(${totals.seconds.toFixed(0)} s)`)
process.exit(totals.failed === 0 ? 0 : 1)

function run(suite: Suite, files: readonly string[]): void {
  if (process.stdout.isTTY) process.stdout.write(`     ${suite.name} …\r`)
  const started = performance.now()
  const how = suite.apart ? ['--test-concurrency=2'] : ['--test-isolation=none']
  const result = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...how, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  })
  const seconds = (performance.now() - started) / 1000
  const count = (word: string): number => Number(new RegExp(`^ℹ ${word} (\\d+)`, 'm').exec(result.stdout)?.[1] ?? 0)
  const passed = count('pass')
  const failed = count('fail') + count('cancelled') + (result.status === 0 || count('fail') > 0 ? 0 : 1)
  totals.passed += passed
  totals.failed += failed
  totals.seconds += seconds
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${suite.name}: ${passed} passed, ${failed} failed in ${seconds.toFixed(1)} s`)
  if (failed > 0) console.log(result.stdout)
}

/**
 * `npm run bench [-- latency|fan-out|cold-start]`: prints what was measured beside what it is
 * compared with in the same run, and fails when a bound does not hold. Bounds in milliseconds are
 * asserted here and nowhere else.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { coldStart } from './cold-start.ts'
import { fanOut } from './fan-out.ts'
import { latency } from './latency.ts'
import type { Finding } from './lib.ts'

const BENCHES: { [name: string]: (folder: string) => Promise<Finding[]> } = { latency, 'fan-out': fanOut, 'cold-start': coldStart }
const wanted = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'wheelhouse-bench-'))
const findings: Finding[] = []
for (const [name, run] of Object.entries(BENCHES)) if (wanted.length === 0 || wanted.includes(name)) findings.push(...(await run(folder)))
rmSync(folder, { recursive: true, force: true })

console.log('| what | measured | bound | |\n|---|---|---|---|')
for (const { name, figure, bound, ok } of findings) console.log(`| ${name} | ${figure} | ${bound} | ${ok ? 'ok' : '**missed**'} |`)
process.exit(findings.every((finding) => finding.ok) ? 0 : 1)

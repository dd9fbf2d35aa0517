/**
 * Judges the core in one go, for guard mutation: every scenario trace, then every-point and random
 * simulation. `node sim/judge.ts [every] [random]`; exits 1 at the first thing found.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { runScript } from '../test/core/trace.ts'
import { KINDS, everyPoint, type Verdict } from './every.ts'
import { simulate } from './simulate.ts'

const [every = '2', random = '60'] = process.argv.slice(2)
const OPS = 80
const RATE = 0.012

function found(what: string): never {
  console.log(what)
  process.exit(1)
}

const folder = new URL('../test/scenarios/', import.meta.url)
for (const name of readdirSync(folder)) {
  const text = readFileSync(new URL(name, folder), 'utf8').trimEnd()
  let traced = ''
  try {
    traced = text.split('\n---\n').map(runScript).join('\n---\n')
  } catch (error) {
    found(`scenario ${name}: ${String(error)}`)
  }
  if (traced !== text) found(`scenario ${name}`)
}
try {
  for (let seed = 1; seed <= Number(every); seed += 1) {
    const verdict: Verdict = everyPoint(seed, KINDS)
    if (verdict.failure !== null) found(verdict.failure)
  }
  for (let seed = 1; seed <= Number(random); seed += 1) {
    const { failure } = simulate({ seed, ops: OPS, fault: null, rate: RATE })
    if (failure !== null) found(`seed ${seed}: ${failure}`)
  }
} catch (error) {
  found(`simulation: ${String(error)}`)
}

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { runScript } from './trace.ts'

const FOLDER = new URL('../scenarios/', import.meta.url)
/** `UPDATE=1` writes the traces anew; the diff is what a reviewer reads. */
const UPDATE = process.env['UPDATE'] === '1'

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

test('there are scenario scripts', () => assert.ok(files.length > 10))

for (const name of files) {
  test(`scenario ${name.replace('.txt', '').replaceAll('-', ' ')}`, () => {
    const url = new URL(name, FOLDER)
    const text = readFileSync(url, 'utf8')
    const traced = splitScripts(text).map(runScript).join('\n---\n')
    if (UPDATE) writeFileSync(url, `${traced}\n`)
    else assert.equal(traced, text.trimEnd())
  })
}

/** A file holds several scripts, each on a fresh session, between lines of `---`. */
function splitScripts(text: string): string[] {
  return text.trimEnd().split('\n---\n')
}

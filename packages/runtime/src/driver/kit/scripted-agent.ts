/** The scripted agent as a program: commands come as JSON lines on stdin, the end of which ends it; what it says goes to stdout. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ScriptedAgent } from './agent.ts'
import { fileHistories } from './history.ts'

/** How often a file that releases a key is looked for: a test that makes one does not wait long. */
const WATCH_MS = 20

const [home = ''] = process.argv.slice(2)
let clinging = false

const agent = new ScriptedAgent({
  say: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
  newId: randomUUID,
  histories: fileHistories(join(home, 'conversations')),
  watch: (key, fire) => {
    const path = join(home, 'released', encodeURIComponent(key))
    const timer = setInterval(() => {
      if (!existsSync(path)) return
      clearInterval(timer)
      fire()
    }, WATCH_MS)
    return () => clearInterval(timer)
  },
  exit: () => process.exit(1),
  cling: () => {
    clinging = true
    process.on('SIGTERM', () => undefined)
    setInterval(() => undefined, 60_000)
  },
})

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => agent.receive(JSON.parse(line)))
lines.on('close', () => {
  if (!clinging) process.exit(0)
})

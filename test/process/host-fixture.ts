/** A host of its own: starts agents under a process manager with a ledger file, says what they said, and waits to be ended. */
import { fileLedger, makeManager } from './ledger.ts'

const [ledgerPath = '', agentPath = '', countText = '1', mode = 'plain'] = process.argv.slice(2)
const manager = makeManager(fileLedger(ledgerPath))
for (let index = 0; index < Number(countText); index++) {
  const child = manager.spawn(`session-${index}`, process.execPath, [agentPath, mode], {
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] ?? '' },
  })
  child.stdout?.pipe(process.stdout)
}
process.on('SIGTERM', () => {
  manager.stop()
  process.exit(0)
})

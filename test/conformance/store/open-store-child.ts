/** A process of its own that opens a store as it is told on its command line, says so, and closes it or stays. */
import { openSqliteStore, type MigrationFolders } from '../../../packages/runtime/src/store/sqlite/open.ts'
import { givenAgent, givenSession } from './fixtures.ts'

type Order = { path: string; migrations: MigrationFolders; after: 'close' | 'stay' }

const order: Order = JSON.parse(process.argv[2] ?? '')
const store = openSqliteStore({ path: order.path, migrations: order.migrations })
if (order.after === 'close') store.close()
else {
  givenAgent(store)
  givenSession(store, 'child')
  process.stdout.write('open\n')
  setInterval(() => undefined, 60_000)
}

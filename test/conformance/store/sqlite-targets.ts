/** The embedded store in its two forms. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../../packages/runtime/src/store/sqlite/open.ts'
import type { Store } from '../../../packages/runtime/src/store/store.ts'
import type { Target } from './suite.ts'

/** A folder for one test; the caller removes it. */
export const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'wheelhouse-store-'))
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export const sqliteFile: Target = {
  name: 'sqlite file',
  open: () => {
    const folder = makeFolder()
    const path = join(folder, 'wheelhouse.db')
    const opened: Store[] = []
    const open = (): Store => {
      const store = openSqliteStore({ path })
      opened.push(store)
      return store
    }
    return {
      store: open(),
      another: open,
      close: () => {
        for (const store of opened) store.close()
        removeFolder(folder)
      },
    }
  },
}

export const sqliteMemory: Target = {
  name: 'sqlite memory',
  open: () => {
    const store = openSqliteStore({ path: ':memory:' })
    return { store, another: null, close: () => store.close() }
  },
}

/** The embedded store on node:sqlite (decisions 23, 24, 26, 27). */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Store } from '../store.ts'
import { deleteAgent, insertAgent, listAgents, readAgent, updateAgent } from './agents.ts'
import { commit } from './commit.ts'
import { Database } from './database.ts'
import { acceptDelivery } from './deliveries.ts'
import { addProcess, forgetAnswers, listProcesses, nextStreamEpoch, recallAnswer, rememberAnswer, removeProcess } from './facts.ts'
import { Journal } from './journal.ts'
import { loadSession, nextAccepted, sessionsOwing } from './load.ts'
import {
  changesSince,
  findByKey,
  hasMoreSince,
  listApprovals,
  listMessages,
  listQueue,
  listUsage,
  readApproval,
  readMessage,
  revOf,
} from './messages.ts'
import { OPEN_BUSY_MS, checkFile, migrate, readMigrations, type Migration } from './migrate.ts'
import { deleteProvider, insertProvider, listProviders, readProvider, updateProvider } from './providers.ts'
import { finalOf } from './final.ts'
import { insertSession, listSessions, readSession, readSessionHead, sessionsOfAgent } from './sessions.ts'

/** Folders with the migrations of the two files. */
export type MigrationFolders = { truth: string; journal: string }

const FOLDERS: MigrationFolders = {
  truth: fileURLToPath(new URL('../migrations/sqlite/', import.meta.url)),
  journal: fileURLToPath(new URL('../migrations/sqlite-journal/', import.meta.url)),
}

/**
 * `path` of the database file; it and its folder are made when missing, readable by this user alone.
 * ':memory:' keeps everything in this process and forgets it at `close`. `migrations` is another
 * schema history, for tests of upgrades.
 */
export type SqliteStoreOptions = { path: string; migrations?: MigrationFolders }

/**
 * Opens the store and brings its schema to this version. Throws StoreError SCHEMA_TOO_NEW or
 * NOT_A_STORE, with the file unchanged, or UNAVAILABLE when another process holds it.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const folders = options.migrations ?? FOLDERS
  const truthFile = plan(options.path, folders.truth, 'FULL')
  const journalFile = plan(journalPath(options.path), folders.journal, 'NORMAL')
  // Both are looked at before either is changed.
  check(truthFile)
  check(journalFile)
  const truth = openDatabase(truthFile)
  try {
    return toStore(truth, new Journal(openDatabase(journalFile)))
  } catch (error) {
    truth.close()
    throw error
  }
}

/** The journal lies beside the truth (docs/decisions/0002-chunk-journal-file.md). */
const journalPath = (path: string): string => (path === ':memory:' ? path : `${path}-chunks`)

type File = { path: string; migrations: Migration[]; synchronous: 'FULL' | 'NORMAL' }

const plan = (path: string, folder: string, synchronous: File['synchronous']): File => ({
  path,
  migrations: readMigrations(folder),
  synchronous,
})

const check = ({ path, migrations }: File): void => checkFile(path, migrations.length)

function openDatabase({ path, migrations, synchronous }: File): Database {
  if (path !== ':memory:') makePrivate(path)
  const database = new Database({ path, synchronous, busyMs: OPEN_BUSY_MS })
  try {
    migrate(database, path, migrations)
    database.neverWait()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** SQLite gives its side files the mode of the database. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}

function toStore(truth: Database, journal: Journal): Store {
  return {
    commit: (one, content) => commit(truth, one, content),
    revOf: (id) => revOf(truth, id),
    loadSession: (id) => loadSession(truth, journal, id),
    sessionsOwing: () => sessionsOwing(truth),
    readSession: (id) => readSession(truth, id),
    readSessionHead: (id) => readSessionHead(truth, id),
    listSessions: (page) => listSessions(truth, page),
    insertSession: (session) => insertSession(truth, session),

    readMessage: (id) => readMessage(truth, id),
    findByKey: (sessionId, key) => findByKey(truth, sessionId, key),
    listMessages: (sessionId, page) => listMessages(truth, sessionId, page),
    listQueue: (sessionId) => listQueue(truth, sessionId),
    listUsage: (sessionId, messageId) => listUsage(truth, sessionId, messageId),
    readApproval: (id) => readApproval(truth, id),
    listApprovals: (filter, page) => listApprovals(truth, filter, page),
    changesSince: (sessionId, rev) => changesSince(truth, sessionId, rev),
    hasMoreSince: (sessionId, rev, most) => hasMoreSince(truth, sessionId, rev, most),
    acceptDelivery: (delivery) => acceptDelivery(truth, delivery),
    nextAccepted: (sessionId) => nextAccepted(truth, sessionId),

    appendChunks: (entries) => journal.append(entries),
    readChunks: (messageId, afterN) => journal.read(messageId, afterN),
    dropFinalChunks: (before) => journal.drop(finalOf(truth, journal.messages(), before)),

    insertProvider: (provider) => insertProvider(truth, provider),
    readProvider: (id) => readProvider(truth, id),
    listProviders: () => listProviders(truth),
    updateProvider: (id, rev, change, at) => updateProvider(truth, id, rev, change, at),
    deleteProvider: (id, rev) => deleteProvider(truth, id, rev),
    insertAgent: (agent) => insertAgent(truth, agent),
    readAgent: (id) => readAgent(truth, id),
    listAgents: () => listAgents(truth),
    updateAgent: (id, rev, change, at) => updateAgent(truth, id, rev, change, at),
    deleteAgent: (id, rev) => deleteAgent(truth, id, rev),
    sessionsOfAgent: (agentId) => sessionsOfAgent(truth, agentId),

    nextStreamEpoch: () => nextStreamEpoch(truth),
    recallAnswer: (key) => recallAnswer(truth, key),
    rememberAnswer: (key, answer, at) => rememberAnswer(truth, key, answer, at),
    forgetAnswers: (before) => forgetAnswers(truth, before),
    addProcess: (entry) => addProcess(truth, entry),
    removeProcess: (pid, startTime) => removeProcess(truth, pid, startTime),
    listProcesses: () => listProcesses(truth),

    close: () => {
      journal.close()
      truth.close()
    },
  }
}

/**
 * A store whose commits can be told to go wrong, in each way a real one can. It stands between the
 * host and any Store; no fault of it is known to product code.
 */
import { assertNever } from '../packages/runtime/src/core/assert.ts'
import type { Commit } from '../packages/runtime/src/core/write.ts'
import type { CommitResult, ResolvedContent, Store } from '../packages/runtime/src/store/store.ts'

/** What a commit is told to answer. The two unknowns differ in what a later read will find. */
export type CommitFault = 'refused' | 'failed' | 'unknown-saved' | 'unknown-not-saved'

export type FaultyStore = {
  store: Store
  /** Commits asked for so far, whatever their outcome. */
  commits(): number
  /** Plans `fault` for the commit with this number (1 = the first one ever, see `commits`). */
  failAt(number: number, fault: CommitFault): void
  /** Plans `fault` for the next `times` commits. */
  failNext(fault: CommitFault, times?: number): void
  /** The next `times` appends to the chunk journal throw, saving nothing. */
  failAppends(times: number): void
  /** Forgets all that is planned. */
  heal(): void
}

/** Wraps `inner`. `onCommit` sees each commit with its number before anything happens; it may throw to stand for a crash there. */
export function faultyStore(inner: Store, onCommit: (number: number, commit: Commit) => void = () => undefined): FaultyStore {
  const planned = new Map<number, CommitFault>()
  let count = 0
  let appendFaults = 0

  const commit = (one: Commit, content: ResolvedContent): CommitResult => {
    count += 1
    onCommit(count, one)
    const fault = planned.get(count)
    planned.delete(count)
    return fault === undefined ? inner.commit(one, content) : answer(inner, fault, one, content)
  }

  const appendChunks: Store['appendChunks'] = (entries) => {
    if (appendFaults > 0) {
      appendFaults -= 1
      throw new Error('planned: the chunk journal cannot be written')
    }
    inner.appendChunks(entries)
  }

  return {
    store: { ...inner, commit, appendChunks },
    commits: () => count,
    failAt: (number, fault) => void planned.set(number, fault),
    failNext: (fault, times = 1) => {
      for (let number = count + 1; number <= count + times; number += 1) planned.set(number, fault)
    },
    failAppends: (times) => void (appendFaults = times),
    heal: () => {
      planned.clear()
      appendFaults = 0
    },
  }
}

function answer(inner: Store, fault: CommitFault, commit: Commit, content: ResolvedContent): CommitResult {
  switch (fault) {
    case 'refused':
      return { outcome: 'refused', reason: 'fence', detail: 'planned' }
    case 'failed':
      return { outcome: 'failed', message: 'planned' }
    case 'unknown-not-saved':
      return { outcome: 'unknown', message: 'planned' }
    case 'unknown-saved': {
      const result = inner.commit(commit, content)
      // A commit that the store itself refuses is not saved, whatever happens to the answer.
      return result.outcome === 'done' ? { outcome: 'unknown', message: 'planned' } : result
    }
    default:
      return assertNever(fault)
  }
}

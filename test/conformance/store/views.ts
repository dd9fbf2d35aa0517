/** What a window can rebuild, and in which order it sees things. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Approval, Message } from '@wheelhouse/client/protocol'
import type { Write } from '../../../packages/runtime/src/core/write.ts'
import type { Changes, Store } from '../../../packages/runtime/src/store/store.ts'
import {
  attempt,
  closeTurn,
  contentOf,
  delivery,
  givenSession,
  insertApproval,
  insertInput,
  insertTaken,
  openTurn,
  save,
  withStore,
  type Target,
} from './fixtures.ts'

/** How many histories the property is tried on: each verb is then saved about twenty times, in a second or two. */
const HISTORIES = 100

type Known = { messages: Map<string, Message>; approvals: Map<string, Approval> }
const WAITING = new Set(['queued', 'steering', 'offered', 'held', 'unknown'])

function fold(known: Known, changes: Changes): Known {
  const messages = new Map(known.messages)
  const approvals = new Map(known.approvals)
  for (const id of changes.removed) messages.delete(id)
  for (const message of changes.messages) messages.set(message.id, message)
  for (const approval of changes.approvals) approvals.set(approval.id, approval)
  return { messages, approvals }
}

const transcriptOf = (known: Known): Message[] =>
  [...known.messages.values()].filter((row) => row.seq !== null).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
const queueOf = (known: Known): Message[] =>
  [...known.messages.values()]
    .filter((row) => row.inputState !== null && WAITING.has(row.inputState))
    .toSorted((a, b) => (a.queuePos ?? 0) - (b.queuePos ?? 0))
const approvalsOf = (known: Known): Approval[] => [...known.approvals.values()].toSorted((a, b) => a.id.localeCompare(b.id))

function fresh(store: Store): Known {
  const rows = [...store.listMessages('s1', { limit: 10_000, before: null }), ...store.listQueue('s1')]
  const approvals = store.listApprovals({ sessionId: 's1', status: null })
  return { messages: new Map(rows.map((row) => [row.id, row])), approvals: new Map(approvals.map((each) => [each.id, each])) }
}

/** One thing that may happen; what does not fit the state is refused by the store, which is part of the property. */
type Deed = { verb: number; which: number }

function* writesOf(deed: Deed, at: number, known: Known, inbox: string | undefined): Generator<Write[]> {
  const rows = [...known.messages.values()]
  const pick = <T>(items: readonly T[]): T | undefined => items[deed.which % Math.max(items.length, 1)]
  const waiting = pick(queueOf(known))?.id ?? 'none'
  const pending = rows.find((row) => row.status === 'pending')?.id ?? 'none'
  const approval = pick([...known.approvals.keys()]) ?? 'none'
  const accepted = inbox ?? 'none'
  const seq = Math.max(0, ...rows.map((row) => row.seq ?? 0)) + 1
  const pos = 1000 + at
  const from = ['queued', 'steering', 'offered', 'held', 'unknown'] as const
  yield [insertInput(`i${at}`, { queuePos: pos, idempotencyKey: deed.which % 3 === 0 ? `k${deed.which % 5}` : null })]
  yield [insertTaken(`i${at}`, seq, `turn-r${at}`), openTurn(`r${at}`, seq + 1, { sent: deed.which % 2 === 0 })]
  yield [{ type: 'move-input', id: waiting, from: [...from], to: 'held', heldReason: 'stopped', queuePos: pos, steer: false }]
  yield [{ type: 'move-input', id: waiting, from: [...from], to: 'withdrawn', heldReason: null, queuePos: null, steer: false }]
  yield [{ type: 'take-input', id: waiting, from: [...from], seq, turnId: `turn-r${at}`, unanswered: false }, openTurn(`r${at}`, seq + 1)]
  yield [{ type: 'remove-turn', messageId: pending }]
  yield [closeTurn(pending)]
  yield [insertApproval(`ap${at}`, pending)]
  yield [{ type: 'decide-approval', id: approval, status: 'allowed', reason: null, by: null }]
  yield [{ type: 'expire-approval', id: approval, reason: 'late' }]
  yield [
    {
      type: 'return-input',
      id: pick(rows.filter((row) => row.inputState === 'taken'))?.id ?? 'none',
      queuePos: -at,
      to: 'queued',
      heldReason: null,
    },
  ]
  yield [{ type: 'claim-delivery', id: accepted, seq, turnId: `turn-r${at}`, turnRef: `r${at}`, agentRev: 1 }, openTurn(`r${at}`, seq + 1)]
}
const VERBS = 12

export function viewConformance(target: Target): void {
  test(`${target.name}: a view from any rev, with what changed since, equals a fresh read`, async () => {
    const saved: number[] = []
    const history = fc.array(fc.record({ verb: fc.nat({ max: VERBS }), which: fc.nat({ max: 20 }) }), { minLength: 10, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(history, (deeds) =>
        withStore(target, (store) => {
          givenSession(store, 's2')
          const seen = new Map([[store.revOf('s1') ?? 0, fresh(store)]])
          for (const [at, deed] of deeds.entries()) {
            const known = fresh(store)
            if (deed.verb === VERBS) store.acceptDelivery(delivery(`d${at % 21}`, { toolCallId: `c${at % 21}` }))
            else {
              const writes = [...writesOf(deed, at, known, store.nextAccepted('s1')?.delivery.id)][deed.verb] ?? []
              const content = Object.assign({}, ...['none', ...known.messages.keys()].map((id) => contentOf(id, `end ${at}`)))
              if (attempt(store, 's1', writes, content).outcome === 'done') saved[deed.verb] = (saved[deed.verb] ?? 0) + 1
            }
            seen.set(store.revOf('s1') ?? 0, fresh(store))
          }
          const now = fresh(store)
          for (const [rev, view] of seen) {
            const rebuilt = fold(view, store.changesSince('s1', rev))
            assert.deepEqual(transcriptOf(rebuilt), transcriptOf(now), `transcript from rev ${rev}`)
            assert.deepEqual(queueOf(rebuilt), queueOf(now), `queue from rev ${rev}`)
            assert.deepEqual(approvalsOf(rebuilt), approvalsOf(now), `approvals from rev ${rev}`)
          }
        }),
      ),
      { numRuns: HISTORIES },
    )
    for (let verb = 0; verb < VERBS; verb += 1)
      assert.ok((saved[verb] ?? 0) > 0, `verb ${verb} was never saved, so nothing was shown about it`)
  })

  test(`BUG-35 ${target.name}: order is the server's sequence when the clock steps back, stands still or jumps`, () =>
    withStore(target, (store) => {
      const clock = [
        '2026-01-01T12:10:00.000Z',
        '2026-01-01T12:00:00.000Z',
        '2026-01-01T12:00:00.000Z',
        '2026-01-01T11:50:00.000Z',
        '2030-01-01T00:00:00.000Z',
      ]
      const ids = ['m-9', 'm-3', 'm-7', 'm-1', 'm-5']
      for (const [at, id] of ids.entries()) {
        const seq = 2 * at + 1
        save(store, 's1', [insertTaken(id, seq, `turn-r${at}`), openTurn(`r${at}`, seq + 1, { replyTo: id })], {}, clock[at])
        save(store, 's1', [closeTurn(`r${at}`)], contentOf(`r${at}`, 'answer'), clock[at])
      }
      const rows = store.listMessages('s1', { limit: 100, before: null })
      assert.deepEqual(
        rows.map((row) => row.id),
        ids.flatMap((id, at) => [id, `r${at}`]),
      )
      assert.deepEqual(
        rows.filter((row) => row.role === 'assistant').map((row) => row.replyTo),
        ids,
        'exactly one answer each, linked by id',
      )
      assert.deepEqual(
        store.changesSince('s1', 1).messages.map((row) => row.id),
        rows.map((row) => row.id),
      )
      for (const [at, id] of ids.entries()) givenSession(store, `s-${id}`, clock[at])
      assert.deepEqual(
        store.listSessions({ limit: 5, before: null, agentId: null }).map((each) => each.id),
        ids.map((id) => `s-${id}`).toReversed(),
      )
      save(
        store,
        's1',
        ids.map((id, at) => insertInput(`q${id}`, { queuePos: ids.length - at })),
      )
      assert.deepEqual(
        store.listQueue('s1').map((row) => row.id),
        ids.map((id) => `q${id}`).toReversed(),
      )
    }))
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from '../../sim/simulate.ts'
import { step } from '../../packages/runtime/src/core/step.ts'
import type { Event } from '../../packages/runtime/src/core/event.ts'
import type { Session } from '../../packages/runtime/src/core/types.ts'

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) freeze(each)
    Object.freeze(value)
  }
  return value
}

test('a step leaves the session it was given as it was', () => {
  const met: { session: Session; event: Event }[] = []
  for (let seed = 2001; seed <= 2030; seed += 1) {
    const { failure } = simulate({
      seed,
      ops: 80,
      fault: null,
      rate: 0.01,
      steps: (session, event) => met.push({ session: structuredClone(session), event: structuredClone(event) }),
    })
    assert.equal(failure, null)
  }
  assert.ok(met.length > 2000, `only ${met.length} steps`)
  for (const { session, event } of met) {
    const given = JSON.stringify(session)
    step(freeze(session), freeze(event))
    assert.equal(JSON.stringify(session), given)
  }
})

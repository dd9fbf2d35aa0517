/** What every store must keep; run it from a test file with a {@link Target}. */
import { approvalConformance } from './approvals.ts'
import { deliveryConformance } from './deliveries.ts'
import type { Target } from './fixtures.ts'
import { inputConformance } from './inputs.ts'
import { journalConformance } from './journal.ts'
import { outcomeConformance } from './outcomes.ts'
import { thingConformance } from './things.ts'
import { turnConformance } from './turns.ts'
import { viewConformance } from './views.ts'

export type { Opened, Target } from './fixtures.ts'

/** Declares the tests of one store. */
export function storeConformance(target: Target): void {
  outcomeConformance(target)
  inputConformance(target)
  turnConformance(target)
  approvalConformance(target)
  deliveryConformance(target)
  journalConformance(target)
  thingConformance(target)
  viewConformance(target)
}

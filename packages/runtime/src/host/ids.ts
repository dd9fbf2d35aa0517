/**
 * Ids: UUIDv7, rising within this process. Random bytes are drawn in blocks, since each event is
 * stamped with several ids and a draw costs more than all the rest of its step.
 */
import { randomFillSync } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'

const ID_BYTES = 16
const BLOCK_IDS = 256
/** The counter of a version 7 id has 32 bits here; half of it leaves room for any burst within a millisecond. */
const SEQ_START = 2 ** 16

export function idMaker(now: () => number): () => string {
  const block = new Uint8Array(ID_BYTES * BLOCK_IDS)
  let used = block.length
  let last = 0
  let seq = SEQ_START
  return () => {
    if (used === block.length) {
      randomFillSync(block)
      used = 0
    }
    const random = block.subarray(used, used + ID_BYTES)
    used += ID_BYTES
    const msecs = now()
    // A clock that stepped back must not make ids that sort before older ones.
    if (msecs > last) {
      last = msecs
      seq = SEQ_START
    } else seq += 1
    return uuidv7({ random, msecs: last, seq })
  }
}

/** A disk whose fsync takes longer: blocks the thread, as SQLite does. 0 = the disk as it is. */
export function slowDisk(ms: number): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  return () => {
    if (ms > 0) Atomics.wait(cell, 0, 0, ms)
  }
}

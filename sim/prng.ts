/** A small seeded generator: one seed, one history. */
export type Prng = {
  next(): number
  below(n: number): number
  chance(p: number): boolean
  pick<T>(items: readonly T[]): T
}

const MULBERRY = 0x6d2b79f5

export function prng(seed: number): Prng {
  let a = seed >>> 0
  const next = (): number => {
    a = (a + MULBERRY) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  return { next, below, chance: (p) => next() < p, pick }
}

/** Thrown for bugs of ours only: it quarantines the session in whose step it was thrown (architecture, the law). */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

/** Throws {@link InvariantError} unless `condition` holds. Never use it for what the world may do wrong. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Ends the switch over a closed union; reaching it is a bug. */
export function assertNever(value: never): never {
  throw new InvariantError(`unhandled: ${JSON.stringify(value)}`)
}

/** How wild the agents are; probabilities per choice. */
export type Temper = {
  steps: number
  fail: number
  die: number
  deaf: number
  hang: number
  autonomous: number
  ask: number
  refuse: number
  /** Calls of the contract that throw. */
  throws: number
  /** Goes on with its turn although it was asked to close. */
  lingers: number
}

/**
 * `buildAgentRuntimePrompt()`: the one place where host policy becomes prompt text, the same for
 * every runtime (spec, System prompt ownership). Pure: facts in, `{ base, append }` out.
 */

/** What the host knows about an agent at the start of a connection. */
export type PromptFacts = { instructions: string }
/** `base` null = the runtime's own base prompt; `append` is added to either. */
export type PromptResult = { base: string | null; append: string }

export function buildAgentRuntimePrompt(facts: PromptFacts): PromptResult {
  const instructions = facts.instructions.trim()
  return { base: null, append: instructions }
}

/** What scripted agents remember of their conversations, so that resuming one means something. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Inputs of conversations, in the order the agent took them. */
export type Histories = {
  load(conversation: string): string[] | null
  append(conversation: string, input: string): void
  replace(conversation: string, inputs: readonly string[]): void
}

/** Kept as long as the driver they belong to. */
export function memoryHistories(): Histories {
  const all = new Map<string, string[]>()
  return {
    load: (conversation) => all.get(conversation)?.slice() ?? null,
    append: (conversation, input) => void all.set(conversation, [...(all.get(conversation) ?? []), input]),
    replace: (conversation, inputs) => void all.set(conversation, inputs.slice()),
  }
}

/** A file a conversation, a line an input. A name that is no plain word is no conversation: it must not lead out of the folder. */
export function fileHistories(folder: string): Histories {
  const pathOf = (conversation: string): string => {
    if (!isName(conversation)) throw new Error('not a name of a conversation')
    return join(folder, `${conversation}.jsonl`)
  }
  return {
    load: (conversation) => (isName(conversation) && existsSync(pathOf(conversation)) ? readLines(pathOf(conversation)) : null),
    append: (conversation, input) => appendFileSync(pathOf(conversation), `${JSON.stringify(input)}\n`),
    replace: (conversation, inputs) => {
      const path = pathOf(conversation)
      mkdirSync(folder, { recursive: true })
      // A kill must never leave half of what was there before.
      writeFileSync(`${path}.tmp`, inputs.map((input) => `${JSON.stringify(input)}\n`).join(''))
      renameSync(`${path}.tmp`, path)
    },
  }
}

const isName = (conversation: string): boolean => /^[\w-]{1,100}$/.test(conversation)

/** Whole lines only: a kill in the middle of an append leaves the last one without its end. */
function readLines(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line): string => JSON.parse(line))
}

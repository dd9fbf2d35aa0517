/** Models as lines of text, the way a person lists them. Pure. */
import type { Model, ModelInput } from '@wheelhouse/client'

/** `id` or `id, context size`, one a line. */
export function writeModels(models: readonly Model[]): string {
  return models.map((model) => (model.contextWindow === null ? model.id : `${model.id}, ${String(model.contextWindow)}`)).join('\n')
}

/** Reads the lines; names and prices of models that are known already are kept. The first line that cannot be read is given back. */
export function readModels(text: string, known: readonly Model[]): { models: ModelInput[] } | { bad: string } {
  const models: ModelInput[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const match = /^([^\s,]+)(?:\s*,\s*(\d+)(k?))?$/i.exec(line)
    if (match === null) return { bad: line }
    const [, id = '', size, kilo] = match
    models.push(inputOf(id, size === undefined ? null : Number(size) * (kilo === '' ? 1 : 1_000), known))
  }
  return { models }
}

function inputOf(id: string, contextWindow: number | null, known: readonly Model[]): ModelInput {
  const before = known.find((model) => model.id === id)
  const pricing = before?.pricing ?? null
  return {
    id,
    ...(before?.name == null ? {} : { name: before.name }),
    ...(contextWindow === null ? {} : { contextWindow }),
    ...(pricing === null
      ? {}
      : {
          pricing: {
            input: pricing.input,
            output: pricing.output,
            ...(pricing.cacheRead === null ? {} : { cacheRead: pricing.cacheRead }),
            ...(pricing.cacheWrite === null ? {} : { cacheWrite: pricing.cacheWrite }),
          },
        }),
  }
}

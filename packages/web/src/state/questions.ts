/** Questions of an agent, read from the input of the call that asks them. Pure. */
import type { Json } from '@wheelhouse/client'

export type Question = { text: string; many: boolean; options: { label: string; description: string }[] }

export function questionsOf(input: Json): Question[] {
  const list = isObject(input) && Array.isArray(input['questions']) ? input['questions'] : [input]
  return list.flatMap((each) => {
    if (!isObject(each) || typeof each['question'] !== 'string') return []
    const options = Array.isArray(each['options']) ? each['options'] : []
    return [{ text: each['question'], many: each['multiSelect'] === true, options: options.flatMap(optionOf) }]
  })
}

function optionOf(option: Json): { label: string; description: string }[] {
  if (typeof option === 'string') return [{ label: option, description: '' }]
  if (!isObject(option) || typeof option['label'] !== 'string') return []
  return [{ label: option['label'], description: typeof option['description'] === 'string' ? option['description'] : '' }]
}

/** The answers by question, or null while one is missing. Several choices are joined by commas, own words come last. */
export function joinAnswers(
  questions: readonly Question[],
  chosen: { readonly [question: string]: { options: readonly string[]; own: string } },
): { [question: string]: string } | null {
  const answers: { [question: string]: string } = {}
  for (const { text } of questions) {
    const { options, own } = chosen[text] ?? { options: [], own: '' }
    const answer = [...options, ...(own.trim() === '' ? [] : [own.trim()])].join(', ')
    if (answer === '') return null
    answers[text] = answer
  }
  return answers
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

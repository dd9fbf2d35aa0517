/** Refusals and error codes in the words of a language. Pure. */
import { explain, type Problem } from '@wheelhouse/client'
import type { Catalogue } from './en.ts'

/** Title and advice of an error code, in this language where it is known. */
export function explainIn(m: Catalogue, code: string): { title: string; advice: string } {
  return m.errors[code] ?? explain(code)
}

/** A refusal, title and what it is about. Of a request that cannot be taken the detail says it all; its title speaks of routes. */
export function tellIn(m: Catalogue, { code, detail }: { code: string; detail: string }): { title: string; detail: string } {
  return code === 'INVALID_REQUEST' ? { title: detail, detail: '' } : { title: explainIn(m, code).title, detail }
}

/** The same as one text. */
export function textIn(m: Catalogue, problem: Problem): string {
  const { title, detail } = tellIn(m, problem)
  return detail === '' ? title : `${title}: ${detail}`
}

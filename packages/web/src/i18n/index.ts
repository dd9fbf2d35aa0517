/** Which language is spoken, and the words of error codes in it. */
import { explain } from '@wheelhouse/client'
import { usePrefs } from '../state/prefs.ts'
import type { Catalogue } from './en.ts'
import { catalogues, pickLanguage } from './language.ts'

export function useMessages(): Catalogue {
  const { language } = usePrefs()
  return catalogues[pickLanguage(language, navigator.languages)]
}

/** Title and advice of an error code, in this language where it is known. */
export function explainIn(m: Catalogue, code: string): { title: string; advice: string } {
  return m.errors[code] ?? explain(code)
}

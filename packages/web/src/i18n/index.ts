/** Which language is spoken, and the words of error codes in it. */
import { explain } from '@wheelhouse/client'
import { usePrefs } from '../state/prefs.ts'
import { en, type Catalogue } from './en.ts'
import { zh } from './zh.ts'

export const catalogues = { en, zh } as const

/** The language for a preference and what the browser asks for. */
export function pickLanguage(preferred: 'en' | 'zh' | null, browser: readonly string[]): 'en' | 'zh' {
  if (preferred !== null) return preferred
  return browser[0]?.toLowerCase().startsWith('zh') === true ? 'zh' : 'en'
}

export function useMessages(): Catalogue {
  const { language } = usePrefs()
  return catalogues[pickLanguage(language, navigator.languages)]
}

/** Title and advice of an error code, in this language where it is known. */
export function explainIn(m: Catalogue, code: string): { title: string; advice: string } {
  return m.errors[code] ?? explain(code)
}

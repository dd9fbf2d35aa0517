/** Which language is spoken. */
import { usePrefs } from '../state/prefs.ts'
import type { Catalogue } from './en.ts'
import { catalogues, pickLanguage } from './language.ts'

export function useMessages(): Catalogue {
  const { language } = usePrefs()
  return catalogues[pickLanguage(language, navigator.languages)]
}

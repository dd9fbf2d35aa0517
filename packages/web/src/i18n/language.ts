/** Which languages there are, and which one is spoken. Pure. */
import { en } from './en.ts'
import { zh } from './zh.ts'

export const catalogues = { en, zh } as const

/** The language for a preference and what the browser asks for. */
export function pickLanguage(preferred: 'en' | 'zh' | null, browser: readonly string[]): 'en' | 'zh' {
  if (preferred !== null) return preferred
  return browser[0]?.toLowerCase().startsWith('zh') === true ? 'zh' : 'en'
}

/** Languages of which the widget has texts. */
export const languages = ['en', 'de', 'fr', 'es'] as const

export type Language = (typeof languages)[number]

/** The language of the configuration, else the first of the browser's that the widget has, else English. */
export function localeOf(configured: string | undefined, texts: object | undefined): string {
  if (configured !== undefined) return configured
  // Texts in one language are of no use beside those of another.
  if (texts !== undefined) return navigator.language
  return navigator.languages.find((one) => isLanguage(baseOf(one))) ?? 'en'
}

export function baseOf(locale: string): string {
  return locale.split('-', 1)[0]!.toLowerCase()
}

export function languageOf(locale: string): Language {
  const base = baseOf(locale)
  return isLanguage(base) ? base : 'en'
}

function isLanguage(base: string): base is Language {
  return (languages as readonly string[]).includes(base)
}

const rightToLeft = new Set(['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'ps', 'sd', 'ug', 'ur', 'yi'])

export function directionOf(locale: string): 'ltr' | 'rtl' {
  return rightToLeft.has(baseOf(locale)) ? 'rtl' : 'ltr'
}

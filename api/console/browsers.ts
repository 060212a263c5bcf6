/** The oldest versions of browsers, by the names that bundlers have for them. */
export interface Browsers {
  chrome: string
  firefox: string
  safari: string
}

/** For the console: `light-dark()`, `AbortSignal.any`. */
export const consoleBrowsers: Browsers = { chrome: '123', firefox: '124', safari: '17.5' }

/** For the web chat: style sheets that scripts construct, `toSorted`, `toWellFormed`, lookbehinds. */
export const webchatBrowsers: Browsers = { chrome: '111', firefox: '119', safari: '16.4' }

/** The targets of a bundler, which writes syntax and styles that these browsers read. Safari of phones has further prefixes. */
export function targetOf(browsers: Browsers): string[] {
  return Object.entries({ ...browsers, ios: browsers.safari }).map(([name, version]) => name + version)
}

/** The browsers in a sentence. */
export function namesOf({ chrome, firefox, safari }: Browsers): string {
  return `Chrome or Edge ${chrome}, Firefox ${firefox}, Safari ${safari}`
}

import punycode from 'punycode'
import url from 'url'
import { domainToASCII, domainToUnicode } from '../domains.ts'
import { complete, type Provide } from '../provide.ts'
import { createQueryString } from '../querystring.ts'
import { createStringDecoder } from '../string-decoder.ts'
import { fileURLToPath, pathToFileURL, urlToHttpOptions } from '../url.ts'

export const provide: Provide = (_platform, shapes) => ({
  punycode: () => punycode,
  querystring: () => complete('querystring', createQueryString(), shapes['querystring']),
  string_decoder: () => complete('string_decoder', createStringDecoder(), shapes['string_decoder']),
  url: () => complete('url', urlModule(), shapes['url']),
})

/** The package parses and formats as the legacy functions do. */
function urlModule(): object {
  const own = { format, URL, URLSearchParams, fileURLToPath, pathToFileURL, urlToHttpOptions }
  return { ...url, ...own, domainToASCII, domainToUnicode }
}

interface FormatOptions {
  auth?: boolean
  fragment?: boolean
  search?: boolean
  unicode?: boolean
}

function format(given: unknown, options: FormatOptions = {}): string {
  if (!(given instanceof URL)) return url.format(given as string)
  const { auth = true, fragment = true, search = true, unicode = false } = options
  const shown = new URL(given.href)
  if (!auth) {
    shown.username = ''
    shown.password = ''
  }
  if (!fragment) shown.hash = ''
  if (!search) shown.search = ''
  return unicode ? shown.href.replace(shown.hostname, () => domainToUnicode(shown.hostname)) : shown.href
}

import punycode from 'punycode'
import url from 'url'
import { domainToASCII, domainToUnicode } from '../domains.ts'
import { formatUrl, mendLegacyUrls } from '../legacy-url.ts'
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

/** The package parses and resolves as the legacy functions do. */
function urlModule(): object {
  mendLegacyUrls()
  const own = { format: formatUrl, URL, URLSearchParams, fileURLToPath, pathToFileURL, urlToHttpOptions }
  return { ...url, ...own, domainToASCII, domainToUnicode }
}

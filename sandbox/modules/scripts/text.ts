import punycode from 'punycode'
import querystring from 'querystring-es3'
import stringDecoder from 'string_decoder'
import url from 'url'
import { domainToASCII, domainToUnicode } from '../domains.ts'
import { complete, type Provide } from '../provide.ts'
import { fileURLToPath, pathToFileURL, urlToHttpOptions } from '../url.ts'

export const provide: Provide = (_platform, shapes) => ({
  punycode: () => punycode,
  querystring: () => complete('querystring', querystringModule(), shapes['querystring']),
  string_decoder: () => complete('string_decoder', { ...stringDecoder }, shapes['string_decoder']),
  url: () => complete('url', urlModule(), shapes['url']),
})

function querystringModule(): object {
  const { encode, decode } = querystring
  return { encode, decode, stringify: encode, parse: decode, escape: encodeURIComponent, unescape }
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The package parses and formats as the legacy functions do. */
function urlModule(): object {
  const own = { format, URL, URLSearchParams, fileURLToPath, pathToFileURL, urlToHttpOptions }
  return { ...url, ...own, domainToASCII, domainToUnicode }
}

function format(given: unknown): string {
  return given instanceof URL ? given.href : url.format(given as string)
}

/** The functions of Node's `url` about domains. */

import { toUnicode } from 'punycode'

/** The domain in ASCII, as a URL has it; empty where it is no domain. */
export function domainToASCII(domain: string): string {
  const url = new URL('ws://none.invalid')
  // A host that is not valid changes nothing.
  url.hostname = domain
  return url.hostname === 'none.invalid' ? '' : url.hostname
}

/** The domain in Unicode. A label that encodes nothing stays as it is. */
export function domainToUnicode(domain: string): string {
  return domainToASCII(domain).replace(/xn--[^.]*/g, (label) => {
    try {
      const decoded = toUnicode(label)
      return domainToASCII(decoded) === label ? decoded : label
    } catch {
      return label
    }
  })
}

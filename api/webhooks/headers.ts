import { validateHeaderName, validateHeaderValue } from 'node:http'

/** Bounds of an answer's headers; proxies accept 8 to 16 KB. */
export const maxHeaders = 100
export const maxHeaderBytes = 8 * 1024

/**
 * Headers that handlers cannot set, grouped by effect. Handlers answer at an origin that all integrations share with
 * each other and with the platform, so they cannot set headers that affect the connection or more than this answer. All
 * others pass, `access-control-…` too: those affect the answers of this handler alone.
 */
const refused: RegExp[] = [
  // Framing of the message and state of the connection.
  /^(connection|content-length|expect|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.+)$/,
  // Cookies, which all integrations of the origin share.
  /^set-cookie2?$/,
  // Browsers keep these for the whole origin: policies, workers, reports, logins, dictionaries, storage, hints.
  /^(alt-svc|clear-site-data|strict-transport-security|public-key-pins(-report-only)?|expect-ct|expect-staple)$/,
  /^(nel|report-to|reporting-endpoints|service-worker-allowed|service-worker-navigation-preload)$/,
  /^(accept-ch|accept-ch-lifetime|critical-ch|origin-agent-cluster|origin-trial|permissions-policy|feature-policy)$/,
  /^(set-login|use-as-dictionary|speculation-rules|shared-storage-.+|attribution-reporting-.+|ad-auction-.+)$/,
  /^(activate-storage-access|observe-browsing-topics|supports-loading-mode|x-permitted-cross-domain-policies)$/,
  // Sessions that are bound to a device: the browser asks their address before other requests to the origin.
  /^(sec|secure)-session-.+$/,
  // Security policies of a page, which the platform sets itself.
  /^(content-security-policy(-report-only)?|x-content-security-policy|x-webkit-csp|x-content-type-options)$/,
  /^(cross-origin-(embedder|opener)-policy(-report-only)?|document-policy(-report-only)?)$/,
  // Instructions to proxies: internal files, caches, the id of the request.
  /^(x-accel-.+|x-sendfile|x-lighttpd-.+|x-litespeed-.+|surrogate-.+|x-request-id|x-forwarded-.+|forwarded)$/,
]

/**
 * The headers of a handler's answer that are passed on, with names in lower case.
 *
 * @returns undefined when they exceed the bounds
 */
export function headersToPassOn(headers: Record<string, unknown>): Record<string, string> | undefined {
  const given = Object.entries(headers)
  if (given.length > maxHeaders) return undefined
  const lowerCased = given.map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  const named = lowerCased.find(([name]) => name === 'connection')?.[1] ?? ''
  const ofConnection = new Set(named.split(',').map((name) => name.trim().toLowerCase()))
  const passed = lowerCased.filter(
    ([name, value]) => !refused.some((names) => names.test(name)) && !ofConnection.has(name) && isValid(name, value),
  )
  const bytes = passed.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  return bytes > maxHeaderBytes ? undefined : Object.fromEntries(passed)
}

function isValid(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

import type { Request } from 'express'
import { ApiError } from '#shared/errors.ts'

/**
 * Contents come from strangers and are served at the origin of the console. Under this policy a browser gives a page an
 * origin of its own, and runs and loads nothing in it.
 */
const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Types that browsers show without running anything; all others are downloaded. */
const shown = /^(image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/json)$/

/** The headers of a content, for each method and status of its answer. */
export function contentHeaders(contentType: string, name: string): Record<string, string> {
  const [type = ''] = contentType.split(';')
  return {
    'Content-Type': isHeaderValue(contentType) ? contentType : 'application/octet-stream',
    'Content-Disposition': disposition(shown.test(type.trim().toLowerCase()) ? 'inline' : 'attachment', name),
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
    // The content at a public address changes, and ends; with its hash, asking again is cheap.
    'Cache-Control': 'no-cache',
  }
}

/** Subresources that pages of this origin may load: none that runs as script, or that styles a page. */
const harmless = new Set([undefined, 'empty', 'document', 'image', 'audio', 'video'])

/**
 * Refuses a content to a page of the platform’s own that would run it: its policy allows scripts of its origin, and the
 * contents of strangers have the same one. Browsers say what they load for whom in headers that pages cannot set.
 *
 * @throws ApiError `Forbidden`
 */
export function assertHarmless({ headers }: Request): void {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers
  if (site !== 'same-origin' || harmless.has(destination)) return
  throw new ApiError('Forbidden', `A file cannot be loaded as ${String(destination)} by the platform’s own pages`)
}

function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** Types come from clients; a line break in one would be another header. */
function isHeaderValue(type: string): boolean {
  return /^[\x20-\x7e]{1,200}$/.test(type)
}

const linkSchemes = new Set(['http:', 'https:', 'mailto:', 'tel:'])
const pictureTypes = /^data:image\/(png|jpeg|gif|webp|avif);/i
const mediaTypes = /^data:(audio|video)\//i

/** The address of a link, or undefined for one that would run code or is none. Browsers ignore control characters in it. */
export function safeLink(given: unknown): string | undefined {
  const url = typeof given === 'string' ? parse(given) : undefined
  return url && linkSchemes.has(url.protocol) ? url.href : undefined
}

/** The address of a picture, a sound or a film. */
export function safeSource(given: unknown, kind: 'picture' | 'media'): string | undefined {
  const url = typeof given === 'string' ? parse(given) : undefined
  if (!url) return undefined
  if (url.protocol === 'http:' || url.protocol === 'https:') return url.href
  return (kind === 'picture' ? pictureTypes : mediaTypes).test(url.href) ? url.href : undefined
}

function parse(given: string): URL | undefined {
  try {
    return new URL(given.trim())
  } catch {
    return undefined
  }
}

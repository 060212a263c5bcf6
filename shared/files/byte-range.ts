import type { ByteRange } from './object-store.ts'

/** Spaces have one place each beside a number that may be missing: with two, a long row of them takes quadratic time. */
const form = /^bytes=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i

/**
 * The one range of a content that a request asks for, by its headers `Range` and `If-Range`. Of several ranges none is
 * served, but the whole content; and the same where the header is not understood, or the content is another one by now.
 *
 * @param etag of the content
 */
export function readRange(
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
  size: number,
  etag: string,
): ByteRange | 'unsatisfiable' | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined
  const [, first = '', last = ''] = form.exec(range) ?? []
  if (first === '' && last === '') return undefined
  // Without a first byte, these are the last ones.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  return start > end ? 'unsatisfiable' : { start, end }
}

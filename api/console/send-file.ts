import { extname } from 'node:path'
import type { Request, Response } from 'express'

/** Headers of assets: their names change with their content. */
export const immutable = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * Sends a file of the build, or its compressed copy to clients that accept gzip.
 *
 * @param root the folder of the file
 * @param isCompressed whether there is a compressed copy
 */
export function sendCompressed(
  request: Request,
  response: Response,
  root: string,
  file: string,
  isCompressed: boolean,
): void {
  response.type(extname(file)).vary('Accept-Encoding')
  const takesCompressed = isCompressed && request.acceptsEncodings('gzip') === 'gzip'
  if (takesCompressed) response.set('Content-Encoding', 'gzip')
  response.sendFile(takesCompressed ? `${file}.gz` : file, { root, cacheControl: false, acceptRanges: false })
}

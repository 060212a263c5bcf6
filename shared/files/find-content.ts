import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { findContent, findPublicContent, type FileContent } from '../store/file-contents.ts'
import { readSignedAddress } from './file-addresses.ts'

/**
 * The content at an address.
 *
 * @param address the segment of the path that names it: a public id, or a signed token
 * @throws ApiError `ResourceNotFound`, or `Forbidden` after its expiry
 */
export async function findContentAt(
  { config, db }: Pick<Context, 'config' | 'db'>,
  address: string,
): Promise<FileContent> {
  const signed = readSignedAddress(config, 'content', address)
  if (signed && signed.expiresAt.getTime() <= Date.now()) {
    throw new ApiError('Forbidden', 'This address has expired: get the file again for a new one')
  }
  const content = signed
    ? await findContent(db, signed.fileId, signed.generation)
    : await findPublicContent(db, address)
  if (content) return content
  throw notFound('File', 'no content is at this address')
}

import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../errors.ts'
import { closedObject, type Infer } from '../schema.ts'
import type { Database } from '../store/database.ts'
import { findContent, findPublicContent, type FileContent } from '../store/file-contents.ts'
import { readSignedAddress } from './file-addresses.ts'

/** The content of a file, as an upsert brought it. */
export const fileReference = closedObject({ fileId: { type: 'string' }, generation: { type: 'integer' } })

export type FileReference = Infer<typeof fileReference>

/**
 * The content that a reference of the platform's own names.
 *
 * @throws ApiError `ResourceNotFound` when the file has expired, or was deleted or replaced
 */
export async function findReferenced(db: Database, { fileId, generation }: FileReference): Promise<FileContent> {
  const content = await findContent(db, fileId, generation)
  if (content) return content
  throw notFound(`File '${fileId}'`, 'it has expired, or was deleted or replaced')
}

/** The segment that names a content, of a URL of the platform's own files; none of another one. */
export function contentSegmentOf({ http }: Pick<Config, 'http'>, url: string): string | undefined {
  // A data URL may have some megabytes, which are not worth parsing.
  if (!/^https?:/i.test(url)) return undefined
  const target = URL.parse(url)
  const files = new URL(`${http.baseUrl}/files/`)
  if (target?.origin !== files.origin || !target.pathname.startsWith(files.pathname)) return undefined
  const [segment = ''] = target.pathname.slice(files.pathname.length).split('/')
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

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

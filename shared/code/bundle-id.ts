import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

/** To be raised when the same upload compiles to something else, other than by a new version of the compiler. */
const revision = 1

const { version } = createRequire(import.meta.url)('esbuild/package.json') as { version: string }

/** A hash of an upload's code, and of the flows beside it. */
export function hashUpload(source: string, flows: string | undefined): string {
  const hash = createHash('sha256').update(source)
  if (flows !== undefined) hash.update('\0').update(flows)
  return hash.digest('hex')
}

/**
 * The id of the bundle that an upload compiles to.
 *
 * @param hash the upload's, from `hashUpload`
 */
export function bundleId(hash: string, sourceMap: string | undefined): string {
  return createHash('sha256')
    .update(`${revision}/${version}/${hash}/`)
    .update(sourceMap ?? '')
    .digest('hex')
}

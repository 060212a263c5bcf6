import { createHash, type Hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** To be raised when the same upload compiles to something else, other than by a new version of the compiler. */
const revision = 2

const { version } = createRequire(import.meta.url)('esbuild/package.json') as { version: string }

/** A megabyte takes 1 to 2 ms. */
const charactersOfTurn = 1024 * 1024

/** A hash of an upload's code, and of the flows beside it. */
export async function hashUpload(source: string, flows: string | undefined): Promise<string> {
  const hash = createHash('sha256')
  await addText(hash, source)
  if (flows !== undefined) await addText(hash.update('\0'), flows)
  return hash.digest('hex')
}

/**
 * The id of the bundle that an upload compiles to.
 *
 * @param hash the upload's, from `hashUpload`
 */
export async function bundleId(hash: string, sourceMap: string | undefined): Promise<string> {
  const id = createHash('sha256').update(`${revision}/${version}/${hash}/`)
  await addText(id, sourceMap ?? '')
  return id.digest('hex')
}

/** Adds a text in turns of the event loop. */
async function addText(hash: Hash, text: string): Promise<void> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(start + charactersOfTurn, text.length)
    // Half of a surrogate pair has no bytes of its own.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    hash.update(text.slice(start, end))
    if (end < text.length) await nextTurn()
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff
}

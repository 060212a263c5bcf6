import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Compilation, Upload } from './contract.ts'

/** Larger uploads are compiled each time: most are bundles, which change with every deployment. */
const largestUpload = 1024 * 1024
/** Characters of all compilations together. */
const keptCharacters = 16 * 1024 * 1024
/** The size that a refusal counts with. */
const refusalCharacters = 1024

/**
 * Keeps what uploads compile to, by their content: the same code is deployed again without a change, and to other bots.
 *
 * @param compile compiles an upload; its result depends on the upload alone, unless a limit was exceeded
 */
export function keepCompilations(
  compile: (upload: Upload) => Promise<Compilation>,
): (upload: Upload) => Promise<Compilation> {
  const kept = new LRUCache<string, Compilation>({ maxSize: keptCharacters, sizeCalculation: charactersOf })

  return async (upload) => {
    const parts = [upload.source, upload.sourceMap ?? '', upload.flows ?? '']
    if (parts.reduce((sum, { length }) => sum + length, 0) > largestUpload) return compile(upload)
    const key = contentHash(parts)
    const known = kept.get(key)
    if (known) return known
    const compilation = await compile(upload)
    // A busy machine may have been the cause of an exceeded limit.
    if (compilation.status !== 'exceeded') kept.set(key, compilation)
    return compilation
  }
}

function contentHash(parts: string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}\n`).update(part)
  return hash.digest('base64')
}

function charactersOf(compilation: Compilation): number {
  if (compilation.status !== 'compiled') return refusalCharacters
  const { native, flows = '', files } = compilation
  return [native.code, native.sourceMap, flows, ...files.map(({ content }) => content)].reduce(
    (sum, text) => sum + text.length,
    1,
  )
}

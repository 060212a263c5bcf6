import { LRUCache } from 'lru-cache'
import type { Compiler } from '#sandbox/compiler/contract.ts'
import type { SourceMapIndex } from '#sandbox/compiler/source-map.ts'
import type { Code } from './bundles.ts'

/** Maps positions of scripts to their sources. Each map is read once, in a process of its own. */
export interface SourceMaps {
  /** Undefined when the code has no map, or an unreadable one. */
  of(code: Code): Promise<SourceMapIndex | undefined>
}

/** Memory for indexes. */
const keptBytes = 64 * 1024 * 1024
/** The size that an unreadable map counts with. */
const minBytes = 1024
/** An unreadable map is read again after this time, because a busy machine may have been the cause. */
const retryMilliseconds = 60_000

export function openSourceMaps(compiler: Pick<Compiler, 'readSourceMap'>): SourceMaps {
  const kept = new LRUCache<string, { index: SourceMapIndex | undefined }>({
    maxSize: keptBytes,
    sizeCalculation: ({ index }) => minBytes + (index ? index.lines.byteLength + index.segments.byteLength : 0),
  })
  const inFlight = new Map<string, Promise<SourceMapIndex | undefined>>()

  async function read(codeId: string, { bundle, sourceMap }: Code): Promise<SourceMapIndex | undefined> {
    const index = await compiler.readSourceMap(bundle.botId, sourceMap)
    kept.set(codeId, { index }, index ? {} : { ttl: retryMilliseconds })
    return index
  }

  return {
    async of(code) {
      const { codeId } = code.bundle
      if (code.sourceMap === '' || codeId === undefined) return undefined
      const known = kept.get(codeId)
      if (known) return known.index
      const reading = inFlight.get(codeId) ?? read(codeId, code)
      inFlight.set(codeId, reading)
      try {
        return await reading
      } finally {
        inFlight.delete(codeId)
      }
    },
  }
}

import { LRUCache } from 'lru-cache'
import type { Compiler } from '#sandbox/compiler/contract.ts'
import type { SourceMapIndex } from '#sandbox/compiler/source-map.ts'
import type { Code } from './bundles.ts'

/** Leads positions of scripts back to their sources. A map is read once, in a process of its own. */
export interface SourceMaps {
  /** Undefined where positions lead nowhere: the code has no map, or one that cannot be read. */
  of(code: Code): Promise<SourceMapIndex | undefined>
}

/** Of maps that were read. A bundle of the public SDK has one of 2 MB. */
const keptBytes = 64 * 1024 * 1024
/** Of a map that cannot be read it is kept that it cannot. */
const minBytes = 1024
/** It may have been the machine that was too busy. */
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

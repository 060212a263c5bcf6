import type { Prelude } from '../../isolate/platform.ts'
import { CompressionStream, DecompressionStream } from '../compression-streams.ts'
import { defineGlobals } from '../globals.ts'

/** Defines the streams that compress and decompress. */
export const install: Prelude = () => {
  defineGlobals({ CompressionStream, DecompressionStream })
  return undefined
}

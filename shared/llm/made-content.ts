import type { GenerateTextOutput, ModelUsage, ModelWarning } from '../models/language-model.ts'

/** Counts the bytes of one answer so far, as they come. @throws OverMemoryError, which ends the call */
export type HoldBytes = (bytes: number) => void

/** A content that one model has made. */
export interface ModelContent<Facts> {
  bytes: Uint8Array
  /** Facts about the content, for the caller. */
  facts: Facts
  warnings: ModelWarning[]
  usage: ModelUsage
}

/** A content, and the metadata of the call that made it. */
export interface MadeContent<Facts> {
  bytes: Uint8Array
  metadata: Facts & CallMetadata
}

type CallMetadata = Pick<
  GenerateTextOutput['metadata'],
  'provider' | 'model' | 'usage' | 'cost' | 'cached' | 'latency' | 'fallbackPath' | 'warnings'
>

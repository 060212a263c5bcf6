import { openExtractor } from '#sandbox/extractor/open-extractor.ts'
import type {
  DocumentFormat,
  ExtractionLimits,
  ExtractionTask,
  Extractor,
  Passage,
} from '#sandbox/extractor/contract.ts'
import { bundleExtractor } from '#sandbox/host/programs.ts'
import { detectIsolation, type Isolation } from '#sandbox/isolation/detect-isolation.ts'

const usualTask: ExtractionTask = {
  format: 'text',
  chunking: { minimumParagraphLength: 200, maximumChunkLength: 1000 },
  maxPassages: 5000,
}

/** The extractor of a worker, without a worker and without the kernel's isolation layers. */
export async function openExtractorHere(limits: Partial<ExtractionLimits> = {}): Promise<Extractor> {
  const isolation = await detectIsolation({ profile: 'hardened', require: [], tools: {}, log() {} })
  return openExtractor({ isolation, program: bundleExtractor, limits, log() {} })
}

/** The passages of a document, or the reason why it has none. */
export async function extractWith(
  extractor: Extractor,
  format: DocumentFormat,
  document: string | Uint8Array,
  task: Partial<ExtractionTask> = {},
): Promise<Passage[] | string> {
  const bytes = Buffer.from(document)
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += 512 * 1024) yield bytes.subarray(start, start + 512 * 1024)
  }
  const extraction = await extractor.extract('test', { ...usualTask, format, ...task }, chunks)
  return extraction.status === 'refused' ? extraction.reason : [...extraction.passages]
}

/** An extractor whose process runs another program. */
export async function openProgramInPlaceOfExtractor(program: string, isolation: Isolation): Promise<Extractor> {
  return openExtractor({ isolation, program: async () => program, log() {} })
}

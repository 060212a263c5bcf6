import type { Isolation } from '../isolation/detect-isolation.ts'
import { FairQueue } from '../programs/fair-queue.ts'
import { nodeProgram, reservedMegabytes } from '../programs/node-program.ts'
import { hasNotStarted, isOverCpu, isWhole } from '../programs/outcome.ts'
import { runProgram, type Ended } from '../programs/run-program.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import {
  ExtractorError,
  type Extraction,
  type ExtractionLimits,
  type ExtractionTask,
  type Extractor,
} from './contract.ts'
import { joinTask, readLastLine, readPassages } from './frames.ts'

export interface ExtractorOptions {
  isolation: Isolation
  /** Makes the program that reads documents: `bundleExtractor`. */
  program: () => Promise<string>
  limits?: Partial<ExtractionLimits> | undefined
  log: SandboxLog
}

/** A PDF of 1,000 pages takes 3 s of processor time. */
const usualLimits: ExtractionLimits = { seconds: 30, memoryMegabytes: 640 }

/** Elapsed time, as a multiple of the limit of processor time. */
const wallShare = 2.5
const megabyte = 1024 * 1024
/** Upper bound of all passages of a document. */
const outputBytes = 48 * megabyte
/** Share of the memory that is the program's heap; the document itself is outside of it. */
const heapShare = 0.75

/** Opens the extractor, which reads documents in isolated processes, one at a time. */
export function openExtractor({ isolation, program, log, ...options }: ExtractorOptions): Extractor {
  const limits = { ...usualLimits, ...options.limits }
  const { seconds, memoryMegabytes } = limits
  const documents = new FairQueue(1)
  const closing = new AbortController()
  const inFlight = new Set<Promise<unknown>>()
  const heapMegabytes = Math.floor(memoryMegabytes * heapShare)
  const within = {
    wallMilliseconds: seconds * wallShare * 1000,
    dataKilobytes: (memoryMegabytes + reservedMegabytes) * 1024,
    outputBytes,
  }

  async function extract(task: ExtractionTask, document: AsyncIterable<Uint8Array>): Promise<Extraction> {
    let failure: { error: unknown } | undefined
    /** Whether the process waits for more of the document. */
    let isAwaited = true
    async function* watched() {
      try {
        for await (const part of document) {
          isAwaited = false
          yield part
          isAwaited = true
        }
        isAwaited = false
      } catch (error) {
        failure = { error }
        throw error
      }
    }
    const input = { stdin: await program(), channel: joinTask(task, watched()) }
    const running = runProgram(
      isolation,
      nodeProgram({ cpuSeconds: seconds, heapMegabytes }),
      input,
      within,
      closing.signal,
    )
    inFlight.add(running)
    const ended = await running.finally(() => inFlight.delete(running))
    if (failure) throw failure.error
    if (ended.stopped === 'closed') throw new ExtractorError('The extractor is closing')
    if (ended.stopped === 'time' && isAwaited) {
      throw new ExtractorError(`The document did not arrive within ${within.wallMilliseconds / 1000} s`)
    }
    if (hasNotStarted(ended)) {
      log('error', 'A process that reads documents cannot be started', { code: ended.code, complaint: ended.complaint })
      throw new ExtractorError('No process that reads documents can be started')
    }
    const last = isWhole(ended) ? readLastLine(ended.output) : undefined
    if (last === undefined) return exceeded(ended, limits, log)
    if ('refused' in last) return { status: 'refused', reason: last.refused }
    return { status: 'extracted', passages: readPassages(ended.output, last.count) }
  }

  return {
    extract: (owner, task, open) => documents.run(owner, async () => extract(task, await open())),
    async close() {
      closing.abort()
      await Promise.all(inFlight)
    },
  }
}

function refused(limit: string): Extraction {
  return { status: 'refused', reason: `${limit}: split the document` }
}

/** @throws ExtractorError when something outside killed the process */
function exceeded(ended: Ended, limits: ExtractionLimits, log: SandboxLog): Extraction {
  const { seconds, memoryMegabytes } = limits
  if (ended.stopped === 'output') return refused(`The document has more than ${outputBytes / megabyte} MB of text`)
  if (ended.stopped === 'time' || isOverCpu(ended, limits)) {
    return refused(`Reading the document takes more than ${seconds} s of processor time (EXTRACT_SECONDS)`)
  }
  if (ended.wasKilled) throw new ExtractorError('The process that read the document was killed')
  // V8 aborts when its heap is full; the allocations of Node throw.
  if (ended.code === 1 && !/out of memory|allocation|bad_alloc/i.test(ended.complaint)) {
    log('error', 'Reading a document ended in an error', { complaint: ended.complaint })
    return { status: 'refused', reason: 'The document cannot be read' }
  }
  return refused(`Reading the document takes more than ${memoryMegabytes} MB of memory (EXTRACT_MEMORY)`)
}

import type { BotIsolate } from './bot-isolate.ts'
import type { BundleProgram } from './bundle-program.ts'

/** Of the memory that the process may have, this part is for programs, and as much is lost by making their code caches. */
const partOfProcess = 1 / 8
/** Of the memory for programs, one may have this part. */
const partOfOne = 1 / 2

/**
 * The programs of bundles, with V8's code caches, which outlive the isolates: an evicted bundle starts without a
 * compilation. A program has the bundle's id as its key, which names the code and its owner, and serves no other bundle.
 * V8 trusts a code cache, so it comes from nowhere but an isolate of the same bundle in this process. Beyond the limit, the
 * least recently used programs are dropped.
 */
export class KeptPrograms {
  readonly #programs = new Map<string, BundleProgram>()
  readonly #maxBytes: number
  #bytes = 0
  /** isolated-vm does not free the memory in which V8 makes a code cache: so this sum has a limit too. */
  #madeBytes = 0

  /** @param processBytes the memory that the process may have */
  constructor(processBytes: number) {
    this.#maxBytes = processBytes * partOfProcess
  }

  get(bundle: string): BundleProgram | undefined {
    const program = this.#programs.get(bundle)
    if (program === undefined) return undefined
    this.#programs.delete(bundle)
    this.#programs.set(bundle, program)
    return program
  }

  /** Whether the program of an isolate, which has run its bundle, gets a code cache. */
  takes({ bundle, realms: { program } }: BotIsolate): boolean {
    return (
      program !== undefined &&
      program.isWorthKeeping &&
      program.bytes <= this.#maxBytes * partOfOne &&
      this.#madeBytes < this.#maxBytes &&
      !this.#programs.has(bundle)
    )
  }

  /** Makes the code cache of an isolate's bundle, and keeps it; for use inside a turn. */
  async keep({ bundle, realms }: BotIsolate): Promise<void> {
    const { program } = realms
    if (program === undefined) return
    const estimate = program.bytes
    this.#madeBytes += estimate
    await realms.takeCodeCache()
    this.#madeBytes += program.codeCacheBytes - estimate
    if (program.bytes > this.#maxBytes * partOfOne || this.#programs.has(bundle)) return
    this.#programs.set(bundle, program)
    this.#bytes += program.bytes
    for (const [oldest, { bytes }] of this.#programs) {
      if (this.#bytes <= this.#maxBytes) break
      this.#programs.delete(oldest)
      this.#bytes -= bytes
    }
  }
}

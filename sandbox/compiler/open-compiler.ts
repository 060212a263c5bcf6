import { randomBytes } from 'node:crypto'
import type { OtherProgram } from '../isolation/command.ts'
import type { SandboxLog } from '../protocol/contract.ts'
import type { SourceMapIndex } from './source-map.ts'
import type { Isolation } from '../isolation/detect-isolation.ts'
import {
  CompilerError,
  type Compilation,
  type CompileLimits,
  type Compiler,
  type ReadBundle,
  type Script,
  type Upload,
} from './contract.ts'
import { asking, readError, toFlows, toScan, toScript, transformer } from './esbuild.ts'
import { findEsbuild } from './find-esbuild.ts'
import { FairQueue } from '../programs/fair-queue.ts'
import { keepCompilations } from './keep-compilations.ts'
import { joinParts, splitParts } from './parts.ts'
import type { Examined } from './process/examine.ts'
import { nodeProgram, reservedMegabytes } from '../programs/node-program.ts'
import { hasNotStarted, isOverCpu, isWhole } from '../programs/outcome.ts'
import { runProgram, type Ended, type ProgramInput } from '../programs/run-program.ts'
import { joinMap, splitMap } from './source-text.ts'
import { megabyte } from '../protocol/units.ts'

export interface CompilerOptions {
  isolation: Isolation
  /** The program that reads uploads and source maps: `Programs.reader`. */
  reader: string
  limits?: Partial<CompileLimits> | undefined
  log: SandboxLog
}

/**
 * 4 MB of dense code with a source map of 10 MB take 4.7 s of processor time and 330 MB; a bundle of the public SDK of
 * 1 MB takes 0.4 s and 160 MB (docs/decisions/0035).
 */
const usualLimits: CompileLimits = { seconds: 10, memoryMegabytes: 640 }

/** Wall time of all processes of one upload together, as a multiple of the processor-time limit of one process. */
const wallShare = 2.5
/** Upper bound of a script with its source map. */
const outputBytes = 48 * megabyte

const mapLimits = { wallMilliseconds: 10_000, cpuSeconds: 3, outputBytes: 40 * megabyte } as const

/** Concurrent compilations. Each owner has at most one, so one owner's upload does not wait for another's. */
const concurrency = 2

/** Heap of the reader. */
const heapMegabytes = 512

const noMap = 'sourceMap must be the JSON of a source map, version 3'

type Exceeded = Extract<Compilation, { status: 'exceeded' }>

/** The upload cannot be compiled, through its own fault. */
class RefusedUploadError extends Error {
  override name = 'RefusedUploadError'
  readonly result: Compilation

  constructor(result: Compilation) {
    super(`The upload is ${result.status}`)
    this.result = result
  }
}

/** Opens the compiler, which compiles uploads and reads source maps in isolated processes. */
export function openCompiler({ isolation, reader, log, ...options }: CompilerOptions): Compiler {
  const limits = { ...usualLimits, ...options.limits }
  const { seconds, memoryMegabytes } = limits
  const esbuild = findEsbuild()
  const readerMegabytes = memoryMegabytes + reservedMegabytes
  const uploads = new FairQueue(concurrency)
  const maps = new FairQueue(1)
  const closing = new AbortController()
  const inFlight = new Set<Promise<unknown>>()

  async function run(
    program: OtherProgram,
    input: ProgramInput,
    within: { outputBytes: number; dataMegabytes: number; wallMilliseconds: number },
  ): Promise<Ended> {
    const { dataMegabytes, ...others } = within
    const dataKilobytes = dataMegabytes * 1024
    const ended = runProgram(isolation, program, input, { ...others, dataKilobytes }, closing.signal)
    inFlight.add(ended)
    try {
      return await ended
    } finally {
      inFlight.delete(ended)
    }
  }

  /** Runs a program for an upload, and once more when something outside killed the first process. */
  async function runFor(deadline: number, program: OtherProgram, input: ProgramInput, dataMegabytes: number) {
    for (let attempt = 1; ; attempt += 1) {
      const wallMilliseconds = Math.max(1, deadline - performance.now())
      const ended = await run(program, input, { outputBytes, dataMegabytes, wallMilliseconds })
      if (ended.stopped === 'closed') throw new CompilerError('The compiler is closing')
      if (hasNotStarted(ended)) {
        log('error', 'A compiler process cannot be started', { code: ended.code, complaint: ended.complaint })
        throw new CompilerError('The compiler cannot be started')
      }
      const isUnexplained = ended.stopped === undefined && ended.wasKilled && !isOverCpu(ended, limits)
      if (!isUnexplained || attempt > 1) return ended
      log('warn', 'A compiler process was killed unexpectedly; restarting it')
    }
  }

  /** @throws RefusedUploadError when the source is not valid code, or exceeds a limit */
  async function transform(source: string, options: string[], deadline: number): Promise<string> {
    const program = transformer(esbuild, options, { cpuSeconds: seconds, memoryMegabytes })
    const ended = await runFor(deadline, program, { stdin: source }, memoryMegabytes)
    if (isWhole(ended)) return ended.output.toString()
    const error = ended.code === 1 ? readError(ended.complaint) : undefined
    // esbuild reports errors of the map in the last line under this file name.
    if (error?.at?.file.endsWith('#sourceMappingURL'))
      throw new RefusedUploadError({ status: 'refused', problem: noMap })
    throw new RefusedUploadError(error ? { status: 'refused', ...error } : exceeded(ended, limits))
  }

  /** Compiles an upload. The process that reads the result starts at the beginning, so that both start in parallel. */
  async function compile({ source, sourceMap = '', flows }: Upload): Promise<Compilation> {
    const deadline = performance.now() + seconds * wallShare * 1000
    const task = Promise.withResolvers<Uint8Array>()
    const input = { stdin: reader, channel: task.promise }
    const reading = runFor(deadline, nodeProgram({ cpuSeconds: seconds, heapMegabytes }), input, readerMegabytes)
    // The promise is awaited later and may reject before.
    reading.catch(() => {})
    try {
      const compiled = await transform(sourceMap === '' ? source : joinMap(source, sourceMap), toScript, deadline)
      const flowScript = flows && splitMap(await transform(flows, toFlows, deadline)).code
      const nonce = `_${randomBytes(12).toString('hex')}`
      const scanned = await transform(asking(nonce, splitMap(source).code), toScan(nonce), deadline)
      task.resolve(joinParts(['upload', nonce, source, sourceMap, compiled, scanned]))
      const read = await reading
      if (!isWhole(read)) return exceeded(read, limits)
      const compilation = toCompilation(read.output)
      return { ...compilation, ...(flowScript && { flows: flowScript }) }
    } catch (error) {
      task.reject(error)
      await reading.catch(() => {})
      if (error instanceof RefusedUploadError) return error.result
      throw error
    }
  }

  const compileOnce = keepCompilations(compile)

  return {
    compile: (owner: string, load: () => Promise<Upload | undefined>) =>
      uploads.run(owner, async () => {
        const upload = await load()
        // The result is undefined only if `load` resolves to undefined, which the type checker cannot infer.
        return (upload && (await compileOnce(upload))) as Compilation
      }),
    readBundle: (owner, load) =>
      uploads.run(owner, async () => {
        const upload = await load()
        if (!upload) return undefined
        const { source, sourceMap = '' } = upload
        const input = { stdin: reader, channel: Promise.resolve(joinParts(['bundle', source, sourceMap])) }
        const deadline = performance.now() + seconds * wallShare * 1000
        const read = await runFor(deadline, nodeProgram({ cpuSeconds: seconds, heapMegabytes }), input, readerMegabytes)
        return isWhole(read) ? toReadBundle(read.output) : undefined
      }),
    readSourceMap: (owner, sourceMap) =>
      maps.run(owner, async () => {
        const { cpuSeconds, ...within } = mapLimits
        const channel = Promise.resolve(joinParts(['source map', sourceMap]))
        const asked = { stdin: reader, channel }
        const ended = await run(nodeProgram({ cpuSeconds, heapMegabytes }), asked, {
          ...within,
          dataMegabytes: readerMegabytes,
        })
        if (isWhole(ended)) return toIndex(ended.output)
        log('warn', 'A source map could not be read', { owner, ...ended, output: undefined })
        return undefined
      }),
    async close() {
      closing.abort()
      await Promise.all(inFlight)
    },
  }
}

const smaller = 'make the upload smaller, or reduce its nesting'

function exceeded(ended: Ended, limits: CompileLimits): Exceeded {
  const { seconds, memoryMegabytes } = limits
  if (ended.stopped === 'output') {
    const problem = `The compiled code and its source map have more than ${outputBytes / megabyte} MB: ${smaller}`
    return { status: 'exceeded', limit: 'size', problem }
  }
  if (ended.stopped === 'time' || (ended.wasKilled && isOverCpu(ended, limits))) {
    const time = `${seconds} s of processor time (COMPILE_SECONDS), or ${seconds * wallShare} s`
    return { status: 'exceeded', limit: 'time', problem: `Compiling it takes more than ${time}: ${smaller}` }
  }
  const problem = `Compiling it takes more than ${memoryMegabytes} MB of memory (COMPILE_MEMORY): ${smaller}`
  return { status: 'exceeded', limit: 'memory', problem }
}

function toCompilation(output: Buffer): Compilation {
  const [head, ...texts] = splitParts(output).map(String) as [string, ...string[]]
  const { isMapRead, isModule, imports, files } = JSON.parse(head) as Examined
  if (!isMapRead) return { status: 'refused', problem: noMap }
  return { status: 'compiled', native: toPair(texts), isModule, imports, files }
}

function toReadBundle(output: Buffer): ReadBundle | undefined {
  const [head, ...texts] = splitParts(output).map(String) as [string, ...string[]]
  if (texts.length === 0) return undefined
  const { files } = JSON.parse(head) as Pick<ReadBundle, 'files'>
  return { status: 'read', script: toPair(texts), files }
}

function toPair([code = '', sourceMap = '']: string[]): Script {
  return { code, sourceMap }
}

function toIndex(output: Buffer): SourceMapIndex | undefined {
  const [sources, lines, segments] = splitParts(output)
  if (lines === undefined || segments === undefined) return undefined
  return { sources: JSON.parse(String(sources)) as string[], lines: toNumbers(lines), segments: toNumbers(segments) }
}

function toNumbers({ buffer, byteOffset, byteLength }: Buffer): Int32Array {
  return new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
}

import { constants } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import type { OtherProgram } from '../isolation/command.ts'
import type { Isolation } from '../isolation/detect-isolation.ts'
import { withoutKillMessage } from '../isolation/kill-message.ts'
import { IsolatedProcess } from '../isolation/isolated-process.ts'

export interface ProgramLimits {
  /** Wall time from start to end, waiting included. */
  wallMilliseconds: number
  dataKilobytes: number
  outputBytes: number
}

export interface ProgramInput {
  /** Standard input of the program. */
  stdin: string | Uint8Array
  /** Input for the program's descriptor 3, for which the program may wait. When it fails, the program is ended. */
  channel?: Promise<Uint8Array> | AsyncIterable<Uint8Array>
}

export interface Ended {
  output: Buffer
  /** The beginning of the program's standard error. */
  complaint: string
  code: number | null
  /** Whether SIGKILL ended the program, sent by this process, the kernel or another process. */
  wasKilled: boolean
  /** The reason why this process ended the program; absent when it did not. */
  stopped?: 'time' | 'output' | 'closed'
  milliseconds: number
}

const killedCode = 128 + constants.signals.SIGKILL
const complaintBytes = 16 * 1024

/** Runs an isolated program until all of its processes have ended. Never rejects. */
export async function runProgram(
  isolation: Isolation,
  program: OtherProgram,
  { stdin, channel }: ProgramInput,
  limits: ProgramLimits,
  signal: AbortSignal,
): Promise<Ended> {
  const started = performance.now()
  const process = new IsolatedProcess(isolation, limits.dataKilobytes, program)
  const { child } = process
  let stopped: Ended['stopped']
  const stop = (why: NonNullable<Ended['stopped']>) => {
    stopped ??= why
    process.end()
  }
  const close = () => stop('closed')
  const overdue = setTimeout(() => stop('time'), limits.wallMilliseconds)
  signal.addEventListener('abort', close)
  if (signal.aborted) close()

  let complaint = ''
  child.on('error', (error) => (complaint += error.message))
  const closed = new Promise<{ code: number | null; wasKilled: boolean }>((resolve) => {
    // `unshare` exits with its child's code, and reports the child's signal as shells do or by a message.
    child.once('close', (code, by) => resolve({ code, wasKilled: by === 'SIGKILL' || code === killedCode }))
    // A program that cannot be started emits no `close`.
    child.once('error', () => child.pid === undefined && resolve({ code: null, wasKilled: false }))
  })
  const duplex = child.stdio[3] as Duplex
  const output = collect(duplex, limits.outputBytes, () => stop('output'))
  const complaints = collect(child.stderr!, complaintBytes, () => {})
  // The program may end before it has read all input.
  for (const stream of [child.stdin!, duplex]) stream.on('error', () => {})
  child.stdin!.end(stdin)
  if (channel) send(channel, duplex, closed).catch(() => stop('closed'))
  else duplex.end()
  const { code, wasKilled } = await closed
  clearTimeout(overdue)
  signal.removeEventListener('abort', close)
  const written = complaint + Buffer.concat(complaints).toString()
  complaint = withoutKillMessage(written)
  return {
    output: Buffer.concat(output),
    complaint,
    code,
    // A process that ends itself by a signal, as V8 does when its heap is full, writes a message before.
    wasKilled: wasKilled || (complaint === '' && written !== ''),
    milliseconds: performance.now() - started,
    ...(stopped && { stopped }),
  }
}

/** Writes the input no faster than the program reads it, as long as it runs. */
async function send(
  input: NonNullable<ProgramInput['channel']>,
  duplex: Duplex,
  closed: Promise<unknown>,
): Promise<void> {
  if (!(Symbol.asyncIterator in input)) return void duplex.end(await input)
  for await (const chunk of input) {
    if (duplex.destroyed) return
    if (!duplex.write(chunk)) await Promise.race([new Promise((resolve) => duplex.once('drain', resolve)), closed])
  }
  duplex.end()
}

/** Collects at most `bytes` bytes; reports an excess, and drops the rest. */
function collect(stream: Readable, bytes: number, exceeded: () => void): Buffer[] {
  const chunks: Buffer[] = []
  let left = bytes
  stream.on('data', (chunk: Buffer) => {
    if (left <= 0) return
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left < 0) exceeded()
  })
  return chunks
}

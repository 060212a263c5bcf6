import { constants } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import type { OtherProgram } from '../host/command.ts'
import type { Isolation } from '../isolation/detect-isolation.ts'
import { IsolatedProcess } from '../isolation/isolated-process.ts'

export interface ProgramLimits {
  /** From its start to its end, waiting included. */
  wallMilliseconds: number
  dataKilobytes: number
  outputBytes: number
}

export interface ProgramInput {
  /** For its standard input. */
  stdin: string | Uint8Array
  /** For its descriptor 3, which it may wait for. */
  channel?: Promise<Uint8Array>
}

export interface Ended {
  output: Buffer
  /** The beginning of what it wrote to its standard error. */
  complaint: string
  code: number | null
  /** Whether SIGKILL ended it: by this process, the kernel or somebody else. */
  wasKilled: boolean
  /** Why it was ended, where this process did that. */
  stopped?: 'time' | 'output' | 'closed'
  milliseconds: number
}

const killedCode = 128 + constants.signals.SIGKILL
const complaintBytes = 16 * 1024

/** Runs an isolated program until nothing of it is left. Never rejects. */
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
    // `unshare` ends as its child did, or reports the signal as shells do.
    child.once('close', (code, by) => resolve({ code, wasKilled: by === 'SIGKILL' || code === killedCode }))
    // Where it cannot be started, nothing closes.
    child.once('error', () => child.pid === undefined && resolve({ code: null, wasKilled: false }))
  })
  const duplex = child.stdio[3] as Duplex
  const output = collect(duplex, limits.outputBytes, () => stop('output'))
  const complaints = collect(child.stderr!, complaintBytes, () => {})
  // It may end before it has read everything.
  for (const stream of [child.stdin!, duplex]) stream.on('error', () => {})
  child.stdin!.end(stdin)
  if (channel) {
    channel.then(
      (bytes) => duplex.end(bytes),
      () => stop('closed'),
    )
  } else duplex.end()
  const { code, wasKilled } = await closed
  clearTimeout(overdue)
  signal.removeEventListener('abort', close)
  complaint += Buffer.concat(complaints).toString()
  const milliseconds = performance.now() - started
  return { output: Buffer.concat(output), complaint, code, wasKilled, milliseconds, ...(stopped && { stopped }) }
}

/** Collects up to so many bytes; reports an excess, and drops the rest. */
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

import { onTestFinished } from 'vitest'
import type { ProcessExit } from '#sandbox/host/crash-history.ts'
import type { Inspection, Outcome, RunRequest } from '#sandbox/protocol/contract.ts'
import { inspectionHandle } from '#sandbox/host/inspection-handle.ts'
import { processMemory } from '#sandbox/host/memory.ts'
import type { Programs } from '#sandbox/host/programs.ts'
import { runHandle } from '#sandbox/host/run-handle.ts'
import { SandboxProcess } from '#sandbox/host/sandbox-process.ts'
import { botThat, hookNames, limits } from '../fixture.ts'
import { isolationHere } from '../isolate/explorer.ts'

export interface CompromisedProcess {
  process: SandboxProcess
  run(run: RunRequest): Promise<Outcome>
  /** Runs a run, and then another one that it calls. */
  runWithin(outer: RunRequest, inner: RunRequest): Promise<Outcome[]>
  inspect(): Promise<Inspection>
  /** Why the process was killed, and who is suspected. */
  died: Promise<{ reason: string; exit: ProcessExit | undefined }>
  /** The standard error of the process, as the operator sees it. */
  complaints: string[]
}

/**
 * Starts a sandbox process whose program somebody has taken over: it says `ready`, answers heartbeats, and does for the
 * rest what the test has it do. It has `send(frame)`, `write(bytes)`, `framed(text)`, and `on`, by the type of the frame
 * that comes in.
 */
export async function startCompromised(program: string): Promise<CompromisedProcess> {
  const complaints: string[] = []
  const { promise: died, resolve } = Promise.withResolvers<{ reason: string; exit: ProcessExit | undefined }>()
  const sandboxProcess = new SandboxProcess({
    isolation: await isolationHere(),
    programs: {
      reader: '',
      process: `${speech}\n${program}`,
      inside: '',
      groups: {} as Programs['groups'],
    },
    operations: [],
    memory: processMemory(128),
    log: (_level, message, details) => {
      if (message === 'A sandbox process wrote to standard error') complaints.push((details as { text: string }).text)
    },
    onDead: (reason, _early, exit) => resolve({ reason, exit }),
  })
  onTestFinished(async () => {
    sandboxProcess.end('the test is over')
    await sandboxProcess.closed
  })
  await sandboxProcess.ready
  return {
    process: sandboxProcess,
    died,
    complaints,
    run(run) {
      const handle = runHandle(run, () => {})
      sandboxProcess.take(handle)
      return handle.outcome
    },
    runWithin(outer, inner) {
      const handle = runHandle(outer, () => {})
      const nested = runHandle(inner, () => {}, handle)
      sandboxProcess.take(handle)
      sandboxProcess.take(nested)
      return Promise.all([handle.outcome, nested.outcome])
    },
    inspect() {
      const handle = inspectionHandle('inspection', botThat(''), limits, hookNames)
      sandboxProcess.take(handle)
      return handle.inspection
    },
  }
}

const speech = `
  const channel = new (require('node:net').Socket)({ fd: 3 })
  const write = (bytes, then) => channel.write(bytes, then)
  const framed = (text) => {
    const body = Buffer.from(text)
    const header = Buffer.alloc(4)
    header.writeUInt32LE(body.length)
    return Buffer.concat([header, body])
  }
  const send = (frame) => write(framed(JSON.stringify(frame)))
  const log = (run, message) => ({ type: 'log', run, level: 'info', message, timestamp: new Date().toISOString() })
  const done = (run) => ({ type: 'done', run, result: '{}', state: '{}', cpu: 0, hooks: '' })
  /** Does something again and again, for as long as the worker takes what comes of it. */
  const flood = (step) => {
    for (let n = 0; n < 200; n += 1) step(n)
    if (channel.writableLength > 1e6) channel.once('drain', () => flood(step))
    else setImmediate(flood, step)
  }
  const on = { start() { send({ type: 'ready' }) }, ping() { send({ type: 'pong', rss: 50e6, warm: 0, spare: 0, cold: 0 }) } }
  setInterval(() => {}, 1000)
  let chunks = []
  let size = 0
  let wanted = 4
  channel.on('data', (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < wanted) return
    let received = Buffer.concat(chunks)
    while (received.length >= 4 && received.length >= 4 + received.readUInt32LE(0)) {
      const end = 4 + received.readUInt32LE(0)
      const frame = JSON.parse(received.subarray(4, end).toString())
      received = received.subarray(end)
      on[frame.type]?.(frame)
    }
    chunks = [received]
    size = received.length
    wanted = size < 4 ? 4 : 4 + received.readUInt32LE(0)
  })`

/**
 * The program of a sandbox process. It holds isolates, and nothing worth stealing: no environment, no files, no
 * credentials. Its only connection is descriptor 3, over which it receives runs.
 */

import { openChannel } from '../protocol/channel.ts'
import { maximumBytesToProcess, type Start, type ToProcess } from '../protocol/protocol.ts'
import type { FromProcess } from '../host/frames.ts'
import { openDescriptor } from './descriptor-stream.ts'
import { loadIsolatedVm } from './isolated-vm.ts'
import { ProcessSandbox } from './sandbox.ts'
import { Scripts } from './scripts.ts'

let sandbox: ProcessSandbox | undefined

const channel = openChannel<FromProcess>(openDescriptor(3), {
  maximumBytes: maximumBytesToProcess,
  writesFirst: true,
  onFrame: (frame) => receive(frame as ToProcess),
  // The worker is gone. `process.exit` would wait for threads that may never stop. The first process of a namespace
  // cannot kill itself with a signal.
  onBroken: () => process.abort(),
})

// Signals meant for the worker reach its whole process group; the worker decides when this process ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`)
  process.abort()
})

function receive(frame: ToProcess): void {
  if (frame.type === 'start') void start(frame)
  else sandbox?.receive(frame)
}

async function start({ addon, inside, groups, operations, ...settings }: Start): Promise<void> {
  const ivm = loadIsolatedVm(addon)
  const scripts = new Scripts({ ivm, inside, groups, operations })
  await scripts.rehearse()
  sandbox = new ProcessSandbox({ ivm, scripts, ...settings, send: (out) => channel.send(out) })
  channel.send({ type: 'ready' })
}

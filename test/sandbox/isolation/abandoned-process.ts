/** A program of its own: starts a sandbox process that loops in its own thread, says which, and waits to be killed. */

import { once } from 'node:events'
import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { IsolatedProcess } from '#sandbox/isolation/isolated-process.ts'

const isolation = await detectIsolation({ profile: 'hardened', require: [], log: () => {} })
const looping = new IsolatedProcess(isolation, 480_000)
looping.child.stdin!.end(`
  const channel = new (require('node:net').Socket)({ fd: 3 })
  channel.write('looping', () => { for (;;); })`)
await once(looping.child.stdio[3]!, 'data')
looping.started(() => {})
process.stdout.write(`${JSON.stringify([looping.child.pid, looping.pid])}\n`)

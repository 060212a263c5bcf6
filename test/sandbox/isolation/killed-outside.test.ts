import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { IsolatedProcess } from '#sandbox/isolation/isolated-process.ts'
import { isolationHere } from '../isolate/explorer.ts'
import { isAlive } from '../../support/sandbox-processes.ts'

/** A program that runs within another one, as under `unshare`, and keeps the channel; it writes the id of its process. */
const inside = '/bin/cat <&3 >/dev/null 2>&1 & echo $! >&2; wait'

test('a process whose outermost process alone is killed is closed, and ends', { timeout: 20_000 }, async () => {
  const isolation = await isolationHere('hardened')
  const { options } = isolation.command(480_000)
  const command = () => ({ file: '/bin/sh', args: ['-c', inside], options })
  const { child } = new IsolatedProcess({ ...isolation, command }, 480_000)
  const pid = Number(String((await once(child.stderr!, 'data'))[0]))
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')))
  expect(isAlive(pid)).toBe(true)
  process.kill(child.pid!, 'SIGKILL')
  const closed = await once(child, 'close', { signal: AbortSignal.timeout(10_000) })
  expect(closed).toEqual([null, 'SIGKILL'])
  await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false)
})

test('a process runs no program when its worker ended before the kernel watched the worker', async ({ skip }) => {
  const isolation = await isolationHere('hardened')
  skip(!isolation.holds.has('processes'), 'this machine allows no namespaces')
  const { file, args, options } = isolation.command(480_000)
  const start = async (command: string[]) => {
    const child = spawn('/bin/sh', ['-c', ...command, file, ...args], options)
    // A process that ends at once may have closed its end before the program is written.
    child.stdin!.on('error', () => {}).end('process.exitCode = 7')
    return (await once(child, 'close'))[0] as unknown
  }
  // By way of a shell, which is another parent than the worker, and by one that becomes the process.
  expect(await start(['"$@"; exit $?', 'sh'])).toBe(1)
  expect(await start(['exec "$@"', 'sh'])).toBe(7)
})

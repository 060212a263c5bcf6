import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPlatform, type Platform } from '../support/platform.ts'
import { canMake, withoutNamespaces } from '../sandbox/isolation/restricted-env.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

describe.runIf(canMake(withoutNamespaces))('a worker where the machine allows no namespaces', () => {
  test('does not start when they are required, and says which layers are missing and what to do', async () => {
    const worker = startWorker({ SANDBOX_REQUIRE: 'memory,network,files' })
    expect(await once(worker.child, 'close')).toEqual([1, null])
    const [line] = worker.lines()
    expect(worker.lines()).toHaveLength(1)
    expect(line).toMatchObject({ level: 60, msg: 'Start failed' })
    const { message } = line!['err'] as { message: string }
    expect(message).toMatch(
      /^SANDBOX_REQUIRE lists isolation layers that are missing here:\n {2}network: .*; run the worker /,
    )
    expect(message).toMatch(/\n {2}files: .*; run the worker /)
    expect(message).not.toContain('memory: ')
  })

  test('logs in one line which layers hold, works, and opens no inspector on a signal', async () => {
    const worker = startWorker({})
    const report = () =>
      worker.lines().filter(({ msg }) => String(msg).startsWith('Isolation layers of sandbox processes'))
    await expect.poll(report, { timeout: 20_000 }).toHaveLength(1)
    expect(report()[0]).toMatchObject({
      level: 40,
      msg: expect.stringContaining(': permissions, memory, privileges; missing: network, files, processes, user'),
      missing: { network: expect.stringContaining('run the worker ') },
    })
    await expect.poll(() => worker.lines().map(({ msg }) => msg), { timeout: 20_000 }).toContain('Working')
    process.kill(worker.child.pid!, 'SIGUSR1')
    await platform.createBot(`exports.hooks = { afterIncomingMessage() {} }`)
    expect(listening(worker.child.pid!)).toEqual([])
  })
})

/** A worker process in the circumstances that it is to make do with, and the lines that it logs. */
function startWorker(environment: NodeJS.ProcessEnv) {
  const [file, ...args] = withoutNamespaces
  const main = fileURLToPath(new URL('../../worker/main.js', import.meta.url))
  const child = spawn(file, [...args, process.execPath, main], {
    env: { PATH: process.env['PATH'], ...platform.environment, LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    child,
    lines: () => {
      const complete = output.slice(0, output.lastIndexOf('\n') + 1)
      return complete.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
    },
  }
}

/** The sockets on which a process waits for TCP connections. */
function listening(pid: number): string[] {
  const state = '0A'
  const waiting = ['tcp', 'tcp6']
    .flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === state)
    .map((fields) => `socket:[${fields[9]}]`)
  const folder = `/proc/${pid}/fd`
  const open = readdirSync(folder).map((descriptor) => readlinkSync(`${folder}/${descriptor}`))
  return open.filter((target) => waiting.includes(target))
}

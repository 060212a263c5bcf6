import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSandbox } from '#sandbox/open-sandbox.ts'
import { logStderr } from '../../../sandbox/host/stderr.ts'
import { sandboxesOf } from '../../support/sandbox-processes.ts'
import { botThat, done, logged, messageRun, openTestSandbox, patientHost } from '../fixture.ts'
import { isRunning } from '../running.ts'

const patience = { timeout: 20_000 }

describe('a sandbox process that is killed from outside', () => {
  test('interrupts its runs, is replaced, and the next run works', async () => {
    const sandbox = await openTestSandbox()
    onTestFinished(() => sandbox.close())
    const { host, calls } = patientHost()
    const bundle = botThat(`await client.createMessage({}); logger.info('sent')`)
    const run = sandbox.run(messageRun(bundle, { host }))
    await expect.poll(() => calls.length, patience).toBe(1)

    const killed = sandbox.pid()
    process.kill(killed, 'SIGKILL')
    expect((await run).status).toBe('interrupted')
    expect(logged(done(await sandbox.run(messageRun(bundle))))).toEqual(['sent'])
    expect(sandbox.pid()).not.toBe(killed)
  })

  test('interrupts an inspection', async () => {
    const sandbox = await openTestSandbox()
    onTestFinished(() => sandbox.close())
    const bundle = { id: 'bundle', botId: 'bot', code: 'for (;;);' }
    const { limits } = messageRun(bundle)
    const inspection = sandbox.inspect(bundle, { ...limits, loadMilliseconds: 20_000 })
    process.kill(sandbox.pid(), 'SIGKILL')
    expect((await inspection).status).toBe('interrupted')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'with %s, as its group is when the worker should end, lives on',
    async (signal) => {
      const sandbox = await openTestSandbox()
      onTestFinished(() => sandbox.close())
      const { host, calls, answer } = patientHost()
      const run = sandbox.run(messageRun(botThat(`await client.createMessage({})`), { host }))
      await expect.poll(() => calls.length, patience).toBe(1)
      process.kill(sandbox.pid(), signal)
      answer(0)
      expect((await run).status).toBe('done')
    },
  )
})

describe('a sandbox process that does not move any more', () => {
  test('is killed when it misses its heartbeats, and interrupts its runs', async () => {
    const sandbox = await openTestSandbox()
    onTestFinished(() => sandbox.close())
    const { host, calls } = patientHost()
    const run = sandbox.run(messageRun(botThat(`await client.createMessage({})`), { host }))
    await expect.poll(() => calls.length, patience).toBe(1)
    const stopped = sandbox.pid()
    process.kill(stopped, 'SIGSTOP')
    expect((await run).status).toBe('interrupted')
    await expect.poll(() => isRunning(stopped), patience).toBe(false)
  })

  test('is killed when a run outlives its deadline, and that run fails', async () => {
    const sandbox = await openTestSandbox()
    onTestFinished(() => sandbox.close())
    const { host, calls } = patientHost()
    const limits = { wallMilliseconds: 1, loadMilliseconds: 1 }
    process.kill(sandbox.pid(), 'SIGSTOP')
    const late = sandbox.run(messageRun(botThat(''), { limits }))
    const innocent = sandbox.run(messageRun(botThat(''), { host }))
    expect(await late).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect((await innocent).status).toBe('interrupted')
    expect(calls).toEqual([])
  })
})

test('a sandbox whose first process is killed before it is ready starts with another', async () => {
  const told: string[] = []
  const opening = openTestSandbox({ log: (_level, message) => told.push(message) })
  onTestFinished(async () => (await opening).close())
  const pid = await vi.waitUntil(() => sandboxesOf(process.pid)[0], { ...patience, interval: 1 })
  process.kill(pid, 'SIGKILL')
  const sandbox = await opening
  expect(told).toContain('A sandbox process died and is replaced')
  expect((await sandbox.run(messageRun(botThat('')))).status).toBe('done')
})

describe('closing the sandbox', () => {
  test('interrupts its runs, ends its processes, and takes no more runs', async () => {
    const sandbox = await openTestSandbox()
    const { host, calls } = patientHost()
    const run = sandbox.run(messageRun(botThat(`await client.createMessage({})`), { host }))
    await expect.poll(() => calls.length, patience).toBe(1)
    const pid = sandbox.pid()
    await sandbox.close()
    expect((await run).status).toBe('interrupted')
    // It is locked in, and dies with the process that holds it, a moment later.
    await expect.poll(() => isRunning(pid), patience).toBe(false)
    expect((await sandbox.run(messageRun(botThat('')))).status).toBe('interrupted')
  })

  test('ends all processes of several', async () => {
    const pids: number[] = []
    const sandbox = await openSandbox({
      processes: 3,
      operations: [],
      hooks: [],
      log: (_level, message, details) => {
        if (message === 'A sandbox process is ready') pids.push((details as { sandboxPid: number }).sandboxPid)
      },
    })
    expect(new Set(pids).size).toBe(3)
    await sandbox.close()
    await expect.poll(() => pids.filter(isRunning), patience).toEqual([])
  })
})

test('when the worker is killed, its sandbox process ends at once, even if a bot loops in it', async () => {
  const program = fileURLToPath(new URL('./abandoned-sandbox.ts', import.meta.url))
  const worker = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void worker.kill('SIGKILL'))
  const [line] = (await once(worker.stdout.setEncoding('utf8'), 'data')) as [string]
  const pid = Number(line)
  expect(isRunning(pid)).toBe(true)
  worker.kill('SIGKILL')
  await expect.poll(() => isRunning(pid), patience).toBe(false)
})

test('the message of `unshare` about a killed process is not reported as its own, and other output is', async () => {
  const told: unknown[] = []
  const program = `echo 'unshare: sigprocmask unblock failed: Invalid argument' >&2; echo 'unshare: no' >&2`
  const child = spawn('sh', ['-c', program], { stdio: ['ignore', 'ignore', 'pipe'] })
  logStderr(child, (_level, _message, details) => told.push((details as { text: string }).text))
  await once(child, 'close')
  expect(told.join('')).toBe('unshare: no\n')
})

import { describe, expect, onTestFinished, test } from 'vitest'
import type { SandboxOptions } from '#sandbox/sandbox.ts'
import { botThat, done, messageRun, openTestSandbox, patientHost } from '../fixture.ts'
import { isRunning } from '../running.ts'

const patience = { timeout: 20_000 }
const replaced = 'A sandbox process is replaced: '

async function openRecycled(options: Partial<SandboxOptions>) {
  const lines: string[] = []
  const sandbox = await openTestSandbox({ ...options, log: (_level, message) => lines.push(message) })
  onTestFinished(() => sandbox.close())
  return { sandbox, lines }
}

const isReady = (line: string) => line === 'A sandbox process is ready'

describe('a sandbox process in good health is replaced', () => {
  test.each([
    ['when it is old', { recycling: { milliseconds: 1 } }, 'it has reached its maximum age'],
    ['when it has had many runs', { recycling: { runs: 1 } }, 'it has reached its maximum number of runs'],
    [
      'when it holds too much memory all the time',
      { memoryMegabytes: 20, recycling: { overweightMilliseconds: 1, minMilliseconds: 1 } },
      'it uses too much memory',
    ],
  ])('%s, and its runs come to their end', async (_when, options, reason) => {
    const { sandbox, lines } = await openRecycled(options)
    const former = sandbox.pid()
    const { host, calls, answer } = patientHost()
    const bundle = botThat(`await client.createMessage({}); await client.createMessage({})`)
    const running = sandbox.run(messageRun(bundle, { host }))
    await expect.poll(() => calls.length, patience).toBe(1)
    await expect.poll(() => lines, patience).toContain(`${replaced}${reason}`)
    await expect.poll(() => sandbox.pid(), patience).not.toBe(former)

    // New runs go elsewhere, while the former process has its own to finish.
    done(await sandbox.run(messageRun(bundle)))
    expect(isRunning(former)).toBe(true)
    answer(0)
    await expect.poll(() => calls.length, patience).toBe(2)
    answer(1)
    done(await running)
    await expect.poll(() => isRunning(former), patience).toBe(false)
    expect(lines).not.toContain('A sandbox process is killed')
  })

  test('by one that is ready, so that no run waits and none is interrupted', async () => {
    const { sandbox, lines } = await openRecycled({ recycling: { milliseconds: 1 } })
    const bundle = botThat(`await client.createMessage({})`)
    const pids = new Set<number>()
    while (pids.size < 2) {
      done(await sandbox.run(messageRun(bundle)))
      pids.add(sandbox.pid())
    }
    expect(lines).not.toContain('A sandbox process is killed')
  })

  test('and never two of them at a time', async () => {
    const { lines } = await openRecycled({ processes: 3, recycling: { milliseconds: 1 } })
    const steps = () => lines.filter((line) => line.startsWith(replaced) || isReady(line)).slice(3)
    await expect.poll(() => steps().length, patience).toBeGreaterThanOrEqual(5)
    for (const [index, step] of steps().entries()) expect(isReady(step)).toBe(index % 2 === 1)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Limits, Outcome } from '#sandbox/protocol/contract.ts'
import { botThat, done, messageRun, openTestSandbox, patientHost, type TestSandbox } from '../fixture.ts'
import { isRunning } from '../running.ts'

const patience = { timeout: 20_000 }
/** From its limit on, whatever code does is over after this time, also on a busy machine; by itself it goes on for minutes. */
const maxMilliseconds = 15_000

/** Natives that go on for minutes and look at nothing meanwhile. */
const endless = {
  'searches an array': `new Array(2 ** 32 - 2).indexOf(1)`,
  'fills an array': `new Array(2 ** 27).fill(1).join()`,
  'squares a number': `let n = 3n ** (1n << 22n); for (;;) n *= n`,
}

interface Killing {
  pid: number
  reason: string
  turn: number
  waited: number
}

let sandbox: TestSandbox
let killings: Killing[]
/** When processes were ready, by `performance.now()`. */
let readyAt: number[]
beforeAll(async () => {
  sandbox = await openTestSandbox({
    log: (_level, message, details) => {
      if (message === 'A sandbox process is killed') killings.push(details as Killing)
      if (message === 'A sandbox process is ready') readyAt?.push(performance.now())
    },
  })
})
afterAll(() => sandbox.close())
beforeEach(() => {
  killings = []
  readyAt = []
})

interface Timed {
  outcome: Outcome
  milliseconds: number
}

async function timed(body: string, limits: Partial<Limits>): Promise<Timed> {
  const startedAt = performance.now()
  const outcome = await sandbox.run(messageRun(botThat(body), { limits }))
  return { outcome, milliseconds: performance.now() - startedAt }
}

describe('a run', () => {
  test('that uses up its processor time is stopped there', async () => {
    const { outcome } = await timed('for (;;);', { cpuMilliseconds: 200 })
    expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu' })
    expect(outcome.status === 'failed' && outcome.error.message).toContain('200 ms')
    expect(outcome.status !== 'interrupted' && outcome.cpuMilliseconds).toBeGreaterThanOrEqual(200)
    expect(outcome.status !== 'interrupted' && outcome.cpuMilliseconds).toBeLessThan(400)
    expect(killings).toEqual([])
  })

  test('that waits for ever ends at the limit of its wall time', async () => {
    const { outcome, milliseconds } = await timed('await new Promise(() => {})', { wallMilliseconds: 400 })
    expect(outcome).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(milliseconds).toBeGreaterThanOrEqual(400)
    expect(milliseconds).toBeLessThan(400 + maxMilliseconds)
    expect(killings).toEqual([])
  })

  test('that is busy at the limit of its wall time ends, too, with everything that it goes on with', async () => {
    const { outcome, milliseconds } = await timed('for (;;);', { wallMilliseconds: 400, cpuMilliseconds: 60_000 })
    expect(outcome).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(milliseconds).toBeLessThan(400 + maxMilliseconds)
    // Its thread left the isolate, or the process would have had to go.
    done(await sandbox.run(messageRun(botThat(''))))
    expect(killings).toEqual([])
  })

  test.each(Object.entries(endless))('that %s has its process killed when it does not stop', async (_what, body) => {
    const { outcome, milliseconds } = await timed(body, { wallMilliseconds: 400, cpuMilliseconds: 60_000 })
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^(timeout|memory)$/) })
    await expect.poll(() => killings.length, patience).toBe(1)
    const [{ pid, reason, turn, waited }] = killings as [Killing]
    // Where the machine is so busy that the process does not manage in time, the worker does.
    expect(reason).toMatch(
      /^(a thread did not stop|an isolate ran out of memory .*|it ended .*|a run outlived its deadline)$/,
    )
    // The limit includes the loading of the code, which comes before the turn and takes long on a busy machine.
    const isPatient = turn >= 200 && waited >= 290
    expect(isPatient || reason !== 'a thread did not stop').toBe(true)
    await expect.poll(() => isRunning(pid), patience).toBe(false)
    expect(milliseconds).toBeLessThan(400 + maxMilliseconds)
    await expect.poll(() => readyAt.length, patience).toBe(1)
  })

  test('that can not be stopped when its processor time is up costs its neighbours’ runs, which work a moment later', async () => {
    const { host, calls } = patientHost()
    const neighbour = botThat(`await client.createMessage({})`)
    const interrupted = sandbox.run(messageRun(neighbour, { host }))
    await expect.poll(() => calls.length, patience).toBe(1)
    const { outcome } = await timed(endless['searches an array'], { cpuMilliseconds: 200 })
    expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu' })
    expect((await interrupted).status).toBe('interrupted')
    const interruptedAt = performance.now()
    done(await sandbox.run(messageRun(neighbour)))
    expect(performance.now() - interruptedAt).toBeLessThan(maxMilliseconds)
    expect(killings).toMatchObject([{ reason: 'a thread did not stop' }])
    expect(killings[0]!.waited).toBeGreaterThanOrEqual(290)
  })
})

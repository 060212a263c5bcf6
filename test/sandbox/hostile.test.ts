import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FailureReason, Limits } from '#sandbox/protocol/contract.ts'
import { botThat, done, messageRun, openTestSandbox, patientHost, type TestSandbox } from './fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

interface Hostile {
  body: string
  reason: FailureReason
  limits?: Partial<Limits>
  /** Whether the process has to go, and with it the run of the neighbour. */
  kills?: true
}

const little = { cpuMilliseconds: 300 }
const waiting = { wallMilliseconds: 500 }

const hostile: Record<string, Hostile> = {
  'loops for ever': { body: `for (;;);`, reason: 'cpu', limits: little },
  'loops for ever after an await': {
    body: `await client.createMessage({}); for (;;);`,
    reason: 'cpu',
    limits: little,
  },
  'loops for ever in a timer': {
    body: `await new Promise(() => setTimeout(() => { for (;;); }, 1))`,
    reason: 'cpu',
    limits: little,
  },
  'loops for ever in promises': { body: `for (;;) await null`, reason: 'cpu', limits: little },
  'loops for ever in a list of timers': {
    body: `const again = () => { for (let n = 0; n < 1e5; n++); setTimeout(again, 1) }; again(); await new Promise(() => {})`,
    reason: 'cpu',
    limits: little,
  },
  'fills arrays in a loop': { body: `for (;;) new Array(1000).fill({})`, reason: 'cpu', limits: little },
  'spreads arrays in a loop': { body: `for (;;) [...new Array(1000)]`, reason: 'cpu', limits: little },
  'parses JSON in a loop': {
    body: `const text = JSON.stringify(Array.from({ length: 20000 }, (_, n) => n)); for (;;) JSON.parse(text)`,
    reason: 'cpu',
    limits: little,
  },
  'backtracks in a regular expression': {
    body: String.raw`/^(?=(a+)+$)(a+)+\1$/.test('a'.repeat(40) + '!')`,
    reason: 'cpu',
    limits: little,
  },
  'catches its own end': {
    body: `for (;;) { try { for (;;); } catch {} finally { continue } }`,
    reason: 'cpu',
    limits: little,
  },
  'loops in the getter of what it throws': {
    body: `throw { get message() { for (;;); } }`,
    reason: 'cpu',
    limits: little,
  },
  'loops in the toJSON of its state': {
    body: `state.user = { toJSON() { for (;;); } }`,
    reason: 'cpu',
    limits: little,
  },
  'waits for nothing': { body: `await new Promise(() => {})`, reason: 'timeout', limits: waiting },
  'waits for an answer that takes too long': {
    body: `await new Promise((resolve) => setTimeout(resolve, 60_000))`,
    reason: 'timeout',
    limits: waiting,
  },
  'collects objects': {
    body: `const all = []; for (;;) all.push({ a: 1, b: [1, 2, 3] })`,
    reason: 'memory',
    limits: { memoryMegabytes: 16, cpuMilliseconds: 20_000 },
  },
  'collects promises': {
    body: `const all = []; for (;;) all.push(Promise.resolve({}).then(() => {}))`,
    reason: 'memory',
    limits: { memoryMegabytes: 16, cpuMilliseconds: 20_000 },
  },
  'grows a set beyond recovery': {
    body: `const set = new Set(); for (let n = 0; ; n++) set.add('k' + n)`,
    reason: 'memory',
    limits: { memoryMegabytes: 16, cpuMilliseconds: 20_000 },
    kills: true,
  },
  'nests JSON deeper than its process has memory for': {
    body: `JSON.parse('['.repeat(2 ** 25))`,
    reason: 'crashed',
    limits: { memoryMegabytes: 128, cpuMilliseconds: 20_000, wallMilliseconds: 50_000 },
    kills: true,
  },
  'searches an endless array natively': {
    body: `new Array(2 ** 32 - 2).indexOf(1)`,
    reason: 'cpu',
    limits: little,
    kills: true,
  },
  'rejects with a looping proxy': {
    body: `Promise.reject(new Proxy({}, { get() { for (;;); } })); await new Promise(() => {})`,
    reason: 'cpu',
    limits: little,
    kills: true,
  },
  'sets too many timers': {
    body: `for (;;) setTimeout(() => {}, 1000)`,
    reason: 'timers',
  },
}

describe.each(Object.entries(hostile))('a bot that %s', (_name, { body, reason, limits, kills }) => {
  const fate = kills ? 'is interrupted, and runs well again' : 'goes on'
  test(`fails with the reason ${reason}, and its neighbour ${fate}`, async () => {
    const neighbour = botThat(`await client.createMessage({}); return { stop: true }`)
    const { host, calls, answer } = patientHost()
    // It waits for as long as the other may take.
    const neighbours = sandbox.run(messageRun(neighbour, { host, limits: { wallMilliseconds: 60_000 } }))
    await expect.poll(() => calls.length).toBe(1)

    const outcome = await sandbox.run(messageRun(botThat(body), limits ? { limits } : {}))
    expect(outcome).toMatchObject({ status: 'failed', reason })

    if (!kills) answer(0)
    expect((await neighbours).status).toBe(kills ? 'interrupted' : 'done')
    expect(done(await sandbox.run(messageRun(neighbour))).result).toBe(true)
  })
})

test('a run that waits too long harms no other run of its bundle, and receives nothing any more', async () => {
  const bundle = botThat(
    `await client.createMessage({}); globalThis.woken = (globalThis.woken ?? 0) + 1; logger.info(woken)`,
  )
  const late = patientHost()
  const timely = patientHost()
  // A busy machine takes a moment to make the isolate.
  const first = sandbox.run(messageRun(bundle, { host: late.host, limits: { wallMilliseconds: 2500 } }))
  const second = sandbox.run(messageRun(bundle, { host: timely.host }))
  expect(await first).toMatchObject({ status: 'failed', reason: 'timeout' })
  await expect.poll(() => timely.calls.length).toBe(1)
  late.answer(0)
  timely.answer(0)
  expect(done(await second).logs).toMatchObject([{ message: '1' }])
})

test('a run that loops takes the other runs of its isolate along, as interrupted', async () => {
  const bundle = botThat(`if (event.preview === 'loop') for (;;); await client.createMessage({})`)
  const { host, calls } = patientHost()
  const waiting = sandbox.run(messageRun(bundle, { host }))
  await expect.poll(() => calls.length).toBe(1)
  const looping = await sandbox.run(messageRun(bundle, { event: { preview: 'loop' }, limits: little }))
  expect(looping).toMatchObject({ status: 'failed', reason: 'cpu' })
  expect((await waiting).status).toBe('interrupted')
  expect((await sandbox.run(messageRun(bundle))).status).toBe('done')
})

test('small turns add up to the limit of processor time', async () => {
  const body = `for (;;) { for (let n = 0; n < 50_000; n++); await client.createMessage({}) }`
  const outcome = await sandbox.run(messageRun(botThat(body), { limits: { ...little, hostCalls: 1e6 } }))
  expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu' })
})

test('pending work of an ended run gets no further turn', async () => {
  const bundle = botThat(`
    if (event.preview === 'leave') { setInterval(() => { globalThis.ticks = (globalThis.ticks ?? 0) + 1 }, 1); return }
    await new Promise((resolve) => setTimeout(resolve, 50))
    logger.info(String(globalThis.ticks))`)
  await sandbox.run(messageRun(bundle, { event: { preview: 'leave' } }))
  expect((await sandbox.run(messageRun(bundle))).logs).toMatchObject([{ message: 'undefined' }])
})

test('unhandled rejections with long stacks cost no other run anything when the log is full', async () => {
  const warnings: unknown[] = []
  const own = await openTestSandbox({
    log: (level, message, details) => level === 'warn' && warnings.push({ message, details }),
  })
  const bundle = botThat(`
    const stack = '    at f (bot.js:1:1)' + 'x'.repeat(3900)
    for (let call = 0; call < 1000; call += 1) {
      Promise.reject(Object.assign(new Error('x'.repeat(1000)), { stack }))
      await client.createMessage({})
    }`)
  const outcome = await own.run(messageRun(bundle, { limits: { hostCalls: 1000 } }))
  await own.close()
  expect(warnings).toEqual([])
  expect(outcome.status).toBe('done')
})

test('finalizers, which would run outside of every turn, never run', async () => {
  const outcome = await sandbox.run(
    messageRun(
      botThat(`
        const registry = new FinalizationRegistry(() => logger.info('runs'))
        for (let n = 0; n < 2e5; n += 1) registry.register({ n })
        await new Promise((resolve) => setTimeout(resolve, 20))
        logger.info(Function.prototype.toString.call(FinalizationRegistry).includes('[native code]'))`),
      { limits: { cpuMilliseconds: 5000 } },
    ),
  )
  expect(outcome.logs).toMatchObject([{ message: 'false' }])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { bot, botThat, done, logged, messageRun, openTestSandbox, patientHost, type TestSandbox } from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

test('runs of a bundle overlap at their awaits', async () => {
  const bundle = botThat(`const reply = await client.createMessage({ text: event.preview }); logger.info(reply.text)`)
  const { host, calls, answer } = patientHost()
  const first = sandbox.run(messageRun(bundle, { host, event: { preview: 'first' } }))
  await expect.poll(() => calls.length).toBe(1)
  const second = sandbox.run(messageRun(bundle, { host, event: { preview: 'second' } }))
  await expect.poll(() => calls.length).toBe(2)
  answer(1, { text: 'for the second' })
  expect(logged(await second)).toEqual(['for the second'])
  answer(0, { text: 'for the first' })
  expect(logged(await first)).toEqual(['for the first'])
})

test('runs of a bundle share the state of its module', async () => {
  const bundle = bot(
    `let count = 0; exports.hooks = { afterIncomingMessage({ logger }) { count += 1; logger.info(count) } }`,
  )
  expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['1'])
  expect(logged(await sandbox.run(messageRun(bundle)))).toEqual(['2'])
})

test('bundles of one bot share nothing', async () => {
  const code = `globalThis.count = (globalThis.count ?? 0) + 1; exports.hooks = { afterIncomingMessage({ logger }) { logger.info(count) } }`
  const [one, other] = [bot(code), bot(code)]
  expect(logged(await sandbox.run(messageRun(one)))).toEqual(['1'])
  expect(logged(await sandbox.run(messageRun({ ...other, botId: one.botId })))).toEqual(['1'])
})

test('the console logs for the run whose turn it is', async () => {
  const bundle = botThat(`console.log(event.preview, 1); await client.createMessage({}); console.log(event.preview, 2)`)
  const { host, calls, answer } = patientHost()
  const first = sandbox.run(messageRun(bundle, { host, event: { preview: 'first' } }))
  await expect.poll(() => calls.length).toBe(1)
  const second = sandbox.run(messageRun(bundle, { host, event: { preview: 'second' } }))
  await expect.poll(() => calls.length).toBe(2)
  answer(0)
  answer(1)
  expect(logged(await first)).toEqual(['first 1', 'first 2'])
  expect(logged(await second)).toEqual(['second 1', 'second 2'])
})

test('processor time is charged to the run that used it', async () => {
  const bundle = botThat(`
    await client.createMessage({})
    if (event.preview === 'busy') { const end = Date.now() + 100; while (Date.now() < end); }`)
  const { host, calls, answer } = patientHost()
  const idle = sandbox.run(messageRun(bundle, { host, event: { preview: 'idle' } }))
  await expect.poll(() => calls.length).toBe(1)
  const busy = done(await sandbox.run(messageRun(bundle, { event: { preview: 'busy' } })))
  answer(0)
  expect(done(await idle).cpuMilliseconds).toBeLessThan(busy.cpuMilliseconds)
})

test('of runs that begin in one moment the busy one pays, and is the only one to fail when it uses too much', async () => {
  const bundle = botThat(`
    const end = performance.now() + Number(event.preview)
    while (performance.now() < end);
    await client.createMessage({})`)
  const begin = (busyMilliseconds: number, place: number) =>
    Array.from({ length: 12 }, (_, index) => {
      const preview = String(index === place ? busyMilliseconds : 0)
      return sandbox.run(messageRun(bundle, { event: { preview }, limits: { cpuMilliseconds: 400 } }))
    })
  await Promise.all(begin(0, 0))
  const costs = (await Promise.all(begin(200, 6))).map((outcome) => done(outcome).cpuMilliseconds)
  expect(Math.max(...costs.toSpliced(6, 1))).toBeLessThan(costs[6]! / 2)

  const outcomes = await Promise.all(begin(10_000, 6))
  const failed = outcomes
    .map((outcome, index) => outcome.status === 'failed' && [index, outcome.reason])
    .filter(Boolean)
  expect(failed).toEqual([[6, 'cpu']])
})

test('many runs of many bots end, each with its own result', async () => {
  const bundles = Array.from({ length: 5 }, (_, index) =>
    botThat(
      `const { message } = await client.createMessage({ text: event.preview }); logger.info('${index}', message.text)`,
    ),
  )
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      sandbox.run(messageRun(bundles[index % 5]!, { event: { preview: `p${index}` } })),
    ),
  )
  expect(outcomes.map(logged)).toEqual(Array.from({ length: 200 }, (_, index) => [`${index % 5} p${index}`]))
})

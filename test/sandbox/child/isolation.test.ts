import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bundle, Outcome } from '#sandbox/protocol/contract.ts'
import {
  actionRun,
  bot,
  done,
  limits,
  logged,
  messageRun,
  ok,
  openTestSandbox,
  patientHost,
  sdkBot,
  callRun,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** A bot that wants each event clean, with this body of its `afterIncomingMessage`. */
function isolated(body: string, head = ''): Bundle {
  return bot(`exports.isolation = 'event'; ${head}
    exports.hooks = { async afterIncomingMessage({ event, client, logger }) { ${body} } }
    exports.actions = { async look() { return { seen: globalThis.seen ?? null } } }`)
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) / 1024
}

/** Code that is busy for so many milliseconds. */
function busy(milliseconds: number): string {
  return `{ const end = Date.now() + ${milliseconds}; while (Date.now() < end) for (let i = 0; i < 1e4; i += 1); }`
}

const memory = `const before = [count, globalThis.seen, [].seen, Date.seen, console.seen, URL.seen].map(String).join()
  count += 1; globalThis.seen = Object.prototype.seen = Date.seen = console.seen = URL.seen = 'seen'
  logger.info(before)`

describe('a bot that exports isolation = event', () => {
  test('finds nothing of one event in the next, in its module, its globals or their prototypes', async () => {
    const bundle = isolated(memory, 'let count = 0;')
    for (let event = 0; event < 4; event += 1) {
      const outcome = await sandbox.run(messageRun(bundle))
      expect(logged(outcome)).toEqual(['0,undefined,undefined,undefined,undefined,undefined'])
    }
  })

  test('finds nothing of an event that is still under way', async () => {
    const bundle = isolated(
      `globalThis.seen ??= event.text; await client.createMessage({}); logger.info(globalThis.seen)`,
    )
    const { host, calls, answer } = patientHost()
    const runs = ['one', 'two', 'three'].map((text) => sandbox.run(messageRun(bundle, { event: { text }, host })))
    await expect.poll(() => calls.length).toBe(3)
    for (const index of [2, 0, 1]) answer(index)
    expect((await Promise.all(runs)).map(logged)).toEqual([['one'], ['two'], ['three']])
  })

  test('shares its context with the actions that it calls, and with no other run', async () => {
    const bundle = isolated(
      `globalThis.seen = event.text; const { output } = await client.callAction({ type: 'look' }); logger.info(output.seen)`,
    )
    const outcomes = await Promise.all(
      ['one', 'two'].map((text) => {
        const run = messageRun(bundle, {
          event: { text },
          host: async () => {
            const called = done(await sandbox.run(actionRun(bundle, { name: 'look', input: {}, within: run.id })))
            return ok({ output: called.result })
          },
        })
        return sandbox.run(run)
      }),
    )
    expect(outcomes.map(logged)).toEqual([['one'], ['two']])
    expect(done(await sandbox.run(actionRun(bundle, { name: 'look', input: {} }))).result).toEqual({ seen: null })
  })

  test('handles a thousand events in one isolate that would hold a fifth of their contexts', async () => {
    const bundle = isolated(`held = new Array(5000).fill(event); late = new Promise(() => {}).then(() => held)
      setTimeout(() => held, 10_000); counted = typeof counted === 'undefined' ? 1 : counted + 1; logger.info(counted)`)
    const pid = sandbox.pid()
    const patient = { cpuMilliseconds: 10_000, wallMilliseconds: 60_000 }
    for (let batch = 0; batch < 100; batch += 1) {
      const runs = Array.from({ length: 10 }, () => sandbox.run(messageRun(bundle, { limits: patient })))
      for (const outcome of await Promise.all(runs))
        expect(outcome).toMatchObject({ status: 'done', logs: [{ message: '1' }] })
    }
    expect(sandbox.pid()).toBe(pid)
  }, 120_000)

  test.runIf(process.platform === 'linux')(
    'gets another isolate when its events together have made much that the heap does not count',
    async () => {
      const bundle = isolated(`made = []; for (let i = 0; i < 600; i += 1) made.push(new Intl.DateTimeFormat('en'))`)
      const residents: number[] = []
      while (residents.length < 12) {
        expect((await sandbox.run(messageRun(bundle))).status).toBe('done')
        residents.push(await residentMegabytes(sandbox.pid()))
      }
      // Every event makes 15 MB; where nobody gives them back, these eight have made 120.
      expect(residents[11]! - residents[3]!).toBeLessThan(80)
    },
  )

  test('has the time to load its bundle for each event, and what is left of an event for the event', async () => {
    const bundle = isolated(busy(150), busy(300))
    for (let event = 0; event < 3; event += 1) {
      const run = messageRun(bundle, { limits: { cpuMilliseconds: 280, loadMilliseconds: 1000 } })
      expect((await sandbox.run(run)).status).toBe('done')
    }
  })

  test('that needs too long to load fails, whichever event it is', async () => {
    const bundle = isolated('', `if (Math.random() < 2) { while (event()) {} } function event() { return true }`)
    for (let event = 0; event < 2; event += 1) {
      const outcome = await sandbox.run(messageRun(bundle, { limits: { loadMilliseconds: 100 } }))
      expect(outcome).toMatchObject({ status: 'failed', reason: 'cpu', error: { name: 'LoadLimitError' } })
    }
  })

  test('whose module throws for an event fails for that event, and its neighbours go on', async () => {
    const bundle = isolated(
      `await client.createMessage({}); logger.info('fine')`,
      `if (Math.random() < 0.5) throw new RangeError('not this time')`,
    )
    // An isolate whose first evaluation fails is given to no other event.
    await expect.poll(async () => (await sandbox.run(messageRun(bundle))).status).toBe('done')
    const { host, calls, answer } = patientHost()
    const runs = Array.from({ length: 40 }, () => sandbox.run(messageRun(bundle, { host })))
    const failures: Outcome[] = []
    for (const run of runs) void run.then((outcome) => outcome.status === 'done' || failures.push(outcome))
    await expect.poll(() => calls.length + failures.length, { timeout: 10_000 }).toBe(40)
    for (const index of calls.keys()) answer(index)
    const outcomes = await Promise.all(runs)
    const ends = outcomes.map((outcome) =>
      outcome.status === 'failed' ? `${outcome.error.name}: ${outcome.error.message}` : logged(outcome).join(),
    )
    expect(new Set(ends)).toEqual(new Set(['fine', 'RangeError: not this time']))
  })

  test('may be made of an SDK bundle', async () => {
    const bundle = sdkBot(`let count = 0; exports.isolation = 'event'
      exports.handler = async () => ({ body: String(count += 1) })`)
    for (let event = 0; event < 3; event += 1) {
      expect(done(await sandbox.run(callRun(bundle))).result).toMatchObject({ body: '1' })
    }
  })

  test('does so when it is loaded, and not later by keeping what it was loaded with', async () => {
    const bundle = bot(`exports.hooks = { async afterIncomingMessage({ logger }) {
        keep((module, exports) => { exports.isolation = 'event' }); logger.info(count += 1) } }
      let count = 0
      }), keep = defineBundle, (function () {`)
    for (const count of ['1', '2', '3']) expect(logged(await sandbox.run(messageRun(bundle)))).toEqual([count])
  })

  test('has other random numbers in each', async () => {
    const bundle = isolated(`logger.info(crypto.randomUUID())`)
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => sandbox.run(messageRun(bundle))))
    expect(new Set(outcomes.flatMap(logged)).size).toBe(5)
  })
})

describe('an upload', () => {
  test('may say that each event is to have a fresh context', async () => {
    expect(await sandbox.inspect(isolated(''), limits)).toMatchObject({ status: 'accepted', actions: ['look'] })
  })

  test.each([`'events'`, 'true', 'null', '{}', `['event']`])(
    'that exports isolation = %s is refused',
    async (value) => {
      const inspection = await sandbox.inspect(bot(`exports.isolation = ${value}`), limits)
      expect(inspection).toMatchObject({
        status: 'refused',
        reason: 'error',
        error: { message: expect.stringContaining(`exports.isolation must be 'event'`) as string },
      })
    },
  )
})

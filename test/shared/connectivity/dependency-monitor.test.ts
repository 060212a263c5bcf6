import { stat } from 'node:fs/promises'
import { afterEach, expect, test } from 'vitest'
import { createLogger } from '#shared/telemetry/logger.ts'
import { watch, type Watch } from '#shared/connectivity/dependency-monitor.ts'

let watched: Watch | undefined
afterEach(() => watched?.close())

/** Watches something that answers as it is told to. */
function watchSomething() {
  const state: { answer(): Promise<void>; cuts: number } = { answer: async () => {}, cuts: 0 }
  watched = watch(
    {
      name: 'database',
      ping: () => state.answer(),
      cut: () => (state.cuts += 1),
      end: async () => {},
    },
    createLogger('test', 'silent'),
  )
  return { state, dependency: watched }
}

const never = () => new Promise<never>(() => {})
const refuse = () => Promise.reject(new Error('refused'))
const away = { status: 503, type: 'Internal', retryAfterSeconds: 2 }

test('a lost dependency fails calls in flight, and refuses new ones at once', async () => {
  const { state, dependency } = watchSomething()
  const inFlight = dependency.failFast(never)
  state.answer = refuse
  dependency.probe()
  await expect(inFlight).rejects.toMatchObject(away)
  await expect(dependency.failFast(async () => 'done')).rejects.toMatchObject(away)
  expect(await dependency.check(1000)).toBe(false)
  expect(state.cuts).toBe(0)

  let returns = 0
  dependency.onReturn(() => (returns += 1))
  state.answer = async () => {}
  await dependency.waitUntilUp()
  expect(returns).toBe(1)
  expect(await dependency.failFast(async () => 'done')).toBe('done')
})

test('a dependency that is silent for two seconds is unavailable, and its connections are cut', async () => {
  const { state, dependency } = watchSomething()
  state.answer = never
  const begin = performance.now()
  await expect(dependency.failFast(never)).rejects.toMatchObject(away)
  expect(performance.now() - begin).toBeLessThan(10_000)
  expect(state.cuts).toBe(1)
  expect(await dependency.check(100)).toBe(false)
})

test('a dependency that answered while this process was busy stays available', async () => {
  const { state, dependency } = watchSomething()
  let losses = 0
  dependency.failFast(never).catch(() => (losses += 1))
  await dependency.check(1000)
  const asked = new Promise<void>((resolve) => {
    state.answer = () => {
      state.answer = async () => {}
      resolve()
      process.nextTick(() => {
        const end = performance.now() + 2500
        while (performance.now() < end);
      })
      // The answer is there long before this process gets round to it.
      return stat(import.meta.filename) as Promise<unknown> as Promise<void>
    }
  })
  // From here on the timers come before the answers.
  setImmediate(() => dependency.probe())
  await asked
  expect(await dependency.check(10_000)).toBe(true)
  expect(losses).toBe(0)
})

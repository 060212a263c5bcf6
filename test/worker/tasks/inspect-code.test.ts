import { expect, test } from 'vitest'
import { openPlatform } from '../../support/platform.ts'
import { processorMillisecondsOf, sandboxesOf } from '../../support/sandbox-processes.ts'

/** Loads until its processor time is over. */
const slow = `
  for (;;);
  export const hooks = {}`
/** More than a sandbox process takes to start and one that compiles in all, also on a slow machine. */
const evaluationMilliseconds = 2000

test('an upload whose evaluation is interrupted twice is refused by name, and the next one is inspected', async () => {
  await using platform = await openPlatform({ environment: { SANDBOX_LOAD_MS: '10000' } })
  const state = { isAnswered: false }
  const upload = platform.ask('POST', '/v1/admin/bots', { code: slow }).finally(() => (state.isAnswered = true))
  while (!state.isAnswered) {
    await new Promise((resolve) => void setTimeout(resolve, 100))
    // Those that compile have the same command.
    const evaluating = sandboxesOf(process.pid).filter((pid) => processorMillisecondsOf(pid) > evaluationMilliseconds)
    for (const pid of state.isAnswered ? [] : evaluating) process.kill(pid, 'SIGKILL')
  }
  const { status, body } = await upload
  expect([status, body.type, body.metadata]).toEqual([413, 'LimitExceeded', { limit: 'memoryMegabytes' }])
  expect(body.message).toMatch(
    /^The evaluation of the code was interrupted in attempt 2, and nothing was changed: .*killed/,
  )
  expect((await platform.ask('POST', '/v1/admin/bots', { code: 'export const hooks = {}' })).status).toBe(200)
})

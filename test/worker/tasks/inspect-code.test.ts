import { expect, test } from 'vitest'
import { openPlatform } from '../../support/platform.ts'
import { sandboxesOf } from '../../support/sandbox-processes.ts'

/** Takes three seconds to load. */
const slow = `
  const end = Date.now() + 3000
  while (Date.now() < end);
  export const hooks = {}`

test('an upload whose evaluation is interrupted twice is refused by name, and the next one is inspected', async () => {
  await using platform = await openPlatform({ environment: { SANDBOX_LOAD_MS: '10000' } })
  const state = { isAnswered: false }
  const upload = platform.ask('POST', '/v1/admin/bots', { code: slow }).finally(() => (state.isAnswered = true))
  /** When each process was seen first. Those that compile have the same command, and end earlier. */
  const seen = new Map<number, number>()
  while (!state.isAnswered) {
    await new Promise((resolve) => void setTimeout(resolve, 100))
    for (const pid of state.isAnswered ? [] : sandboxesOf(process.pid)) {
      const since = seen.get(pid) ?? Date.now()
      seen.set(pid, since)
      if (Date.now() - since > 1500) process.kill(pid, 'SIGKILL')
    }
  }
  const { status, body } = await upload
  expect([status, body.type, body.metadata]).toEqual([413, 'LimitExceeded', { limit: 'memoryMegabytes' }])
  expect(body.message).toMatch(
    /^The evaluation of the code was interrupted in attempt 2, and nothing was changed: .*killed/,
  )
  expect((await platform.ask('POST', '/v1/admin/bots', { code: 'export const hooks = {}' })).status).toBe(200)
})

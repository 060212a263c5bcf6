import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import { installIntegration, storeIntegration } from '../support/install-integration.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false, environment: { API_REQUESTS: '300' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

test('the bots of one workspace together leave half of the requests of an api to others', async () => {
  const integrationId = await storeIntegration(platform)
  const webhooks: string[] = []
  for (let count = 0; count < 5; count += 1) {
    const bot = await platform.createBot()
    webhooks.push((await installIntegration(platform, bot.id, integrationId)).webhook_id)
  }
  const over = new AbortController()
  let refused = 0
  // No worker answers, so each request waits that is not refused.
  const attacks = webhooks.flatMap((webhookId) =>
    Array.from({ length: 100 }, async () => {
      const response = await fetch(`${platform.url}/webhooks/${webhookId}/`, { method: 'POST', signal: over.signal })
      expect(response.status).toBe(429)
      expect(await response.json()).toMatchObject({ message: expect.stringContaining('of this workspace') as string })
      refused += 1
    }),
  )
  const settled = Promise.allSettled(attacks)
  const stored = async () => Number((await platform.context.db('events').count<{ count: string }[]>())[0]!.count)
  await expect.poll(async () => refused + (await stored()), { timeout: 30_000 }).toBe(500)
  expect(refused).toBe(350)

  const victim = await createMember(platform, 'owner')
  const created = await platform.ask('POST', '/v1/admin/bots', { name: 'Of another' }, victim)
  expect(created.status).toBe(200)
  const other = (await installIntegration(platform, created.body.bot.id, integrationId)).webhook_id
  const waiting = fetch(`${platform.url}/webhooks/${other}/`, { method: 'POST', signal: over.signal }).catch(() => {})
  await expect.poll(stored).toBe(151)
  over.abort()
  await Promise.all([settled, waiting])
})

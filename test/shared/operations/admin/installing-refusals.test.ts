import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMember } from '../../../support/members.ts'
import { openPlatform, send, type Platform } from '../../../support/platform.ts'
import { configuration, openShop } from './shop.ts'

let platform: Platform
let shop: ReturnType<typeof openShop>
beforeAll(async () => {
  platform = await openPlatform()
  shop = openShop(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

describe('installing is refused, and changes nothing,', () => {
  test.each([
    ['with a configuration that lacks something', { configuration: {} }, 'InvalidDataFormat', /token/],
    [
      'with a configuration of another type',
      { configuration: { token: 7 } },
      'InvalidDataFormat',
      /token must be string/,
    ],
    [
      'with a configuration that is endlessly long',
      { configuration: { token: 'x'.repeat(20_000) } },
      'InvalidPayload',
      /long/,
    ],
    ['with a kind of configuration that there is not', { configurationType: 'x' }, 'InvalidPayload', /\(account\)/],
    ['with one that every object has', { configurationType: 'constructor' }, 'InvalidPayload', /\(account\)/],
    ['when there is no such integration', { integrationId: 'intver_none' }, 'ReferenceNotFound', /intver_none/],
  ])('%s', async (_what, settings, type, message) => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    const before = await platform.ask('GET', `/v1/admin/bots/${id}`)
    const body = { name: 'renamed', integrations: { shop: { integrationId, configuration, ...settings } } }
    const answer = await platform.ask('PUT', `/v1/admin/bots/${id}`, body)
    expect(answer).toMatchObject({ status: 400, body: { type, message: expect.stringMatching(message) } })
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body).toEqual(before.body)
    expect(await shop.asked(id)).toEqual([])
  })

  test('under an alias that cannot be one, or that another integration has', async () => {
    const [one, other] = [await shop.createIntegration(), await shop.createIntegration()]
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId: one.id, configuration } })
    for (const alias of ['chat', 'shop', 'a:b', 'Shop', '']) {
      const answer = await shop.update(id, { [alias]: { integrationId: other.id, configuration } })
      expect({ alias, ...answer }).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    }
  })

  test('for an integration of another workspace', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const stranger = await createMember(platform, 'owner')
    const { body } = await platform.ask('POST', '/v1/admin/bots', {}, stranger)
    const answer = await shop.update(body.bot.id, { shop: { integrationId, configuration } }, stranger)
    expect(answer).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound' } })
  })
})

describe('the configuration of an integration', () => {
  test('is shown to administrators and to no lower role, and is nowhere in the database in plain text', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId, configuration: { token: 'a-token-of-the-shop' } } })
    for (const role of ['viewer', 'developer'] as const) {
      const member = await createMember(platform, role, platform.workspaceId)
      const { body } = await platform.ask('GET', `/v1/admin/bots/${id}`, undefined, member)
      expect(body.bot.integrations.shop.configuration).toEqual({})
    }
    const rows = JSON.stringify(await platform.context.db('installations').where({ bot_id: id }))
    expect(rows).toContain(integrationId)
    expect(rows).not.toContain('a-token-of-the-shop')
  })

  test('is no webhook of a chat, under any name', async () => {
    const { id: integrationId } = await shop.createIntegration({ configuration: { schema: {} } })
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId, configuration: { webhookUrl: 'https://shop.example' } } })
    const rows = await platform.context.db('installations').where({ bot_id: id, has_webhook: true })
    expect(rows).toEqual([])
  })
})

test('the address of an installed integration is no chat', async () => {
  const { id: integrationId } = await shop.createIntegration()
  const { id } = await platform.createBot()
  const { shop: installed } = await shop.install(id, { shop: { integrationId, configuration } })
  for (const path of ['hello', 'users']) {
    const answer = await send(
      path === 'users' ? 'POST' : 'GET',
      `${platform.url}/chat/${installed.webhookId}/${path}`,
      path === 'users' ? {} : undefined,
    )
    expect(answer).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
  }
})

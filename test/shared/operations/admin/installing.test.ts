import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, send, type Platform } from '../../../support/platform.ts'
import { configuration, openShop } from './shop.ts'

let platform: Platform
let shop: ReturnType<typeof openShop>
beforeAll(async () => {
  platform = await openPlatform()
  shop = openShop(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

describe('an integration', () => {
  test('is installed under an alias, configured and registered before the answer', async () => {
    const integration = await shop.createIntegration({ title: 'Shop' })
    const { id } = await platform.createBot()
    const { shop: installed, chat } = await shop.install(id, {
      shop: { integrationId: integration.id, configuration: { token: 'right' } },
    })
    expect(installed).toMatchObject({
      id: integration.id,
      name: integration.name,
      version: '1.0.0',
      title: 'Shop',
      enabled: true,
      webhookUrl: `${platform.url}/webhooks/${installed.webhookId}`,
      // With what the schema says is there unless something else is said.
      configuration,
      configurationType: null,
      disabledChannels: [],
      status: 'registered',
      statusReason: null,
    })
    expect(chat.status).toBe('registered')
    expect(await shop.asked(id)).toEqual(['register'])
  })

  test('is installed under its own name when only its id is given, and found by it again', async () => {
    const integration = await shop.createIntegration()
    const { id } = await platform.createBot()
    const installed = await shop.install(id, { [integration.id]: { configuration } })
    expect(Object.keys(installed)).toEqual(['chat', integration.name])
    const { webhookId } = installed[integration.name]
    const changed = await shop.install(id, { [integration.id]: { disabledChannels: ['direct'] } })
    expect(changed[integration.name]).toMatchObject({ webhookId, configuration, disabledChannels: ['direct'] })
  })

  test('is installed with the bot', async () => {
    const integration = await shop.createIntegration()
    const integrations = { shop: { integrationId: integration.id, configuration } }
    const { body } = await platform.ask('POST', '/v1/admin/bots', { integrations })
    expect(body.bot.integrations.shop).toMatchObject({ id: integration.id, status: 'registered' })
  })

  test('may be installed twice, and each is on its own', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    const { one, two } = await shop.install(id, {
      one: { integrationId, configuration },
      two: { integrationId, configuration: { token: 'wrong' } },
    })
    expect([one.status, two.status]).toEqual(['registered', 'registration_failed'])
    expect(one.webhookId).not.toBe(two.webhookId)
    const ambiguous = await shop.update(id, { [integrationId]: { enabled: false } })
    expect(ambiguous).toMatchObject({ status: 400, body: { message: expect.stringContaining('more than once') } })
  })

  test('that fails to register says why, and is asked again when it is configured better', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    const { shop: installed } = await shop.install(id, { shop: { integrationId, configuration: { token: 'wrong' } } })
    expect(installed).toMatchObject({
      status: 'registration_failed',
      statusReason: expect.stringContaining('the shop does not know the token'),
    })
    const better = await shop.install(id, { shop: { configuration } })
    expect(better.shop).toMatchObject({ status: 'registered', statusReason: null, webhookId: installed.webhookId })
  })

  test('is asked again wherever it is installed and switched on when its code changes, and not for the same code', async () => {
    const integration = await shop.createIntegration()
    const { id: integrationId } = integration
    const bots = [await platform.createBot(), await platform.createBot(), await platform.createBot()]
    for (const { id } of bots) await shop.install(id, { shop: { integrationId, configuration } })
    const [first, second, switchedOff] = bots as [(typeof bots)[0], (typeof bots)[0], (typeof bots)[0]]
    await shop.install(switchedOff.id, { shop: { enabled: false } })
    const registrations = async () => {
      const asked = await Promise.all(bots.map(({ id }) => shop.asked(id)))
      return asked.map((types) => types.filter((type) => type === 'register').length)
    }
    expect(await registrations()).toEqual([1, 1, 1])

    const failing = `export async function register() { throw new Error('the new code wants more') }`
    await shop.client.updateIntegration({ id: integrationId, code: failing })
    for (const { id } of [first, second]) {
      const status = async () => (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.integrations.shop
      await expect.poll(status, { timeout: 20_000 }).toMatchObject({
        status: 'registration_failed',
        statusReason: expect.stringContaining('the new code wants more'),
      })
    }
    await shop.client.updateIntegration({ id: integrationId, code: failing })
    await shop.client.updateIntegration({ id: integrationId, title: 'Only another title' })
    expect(await registrations()).toEqual([2, 2, 1])
    const { body } = await platform.ask('GET', `/v1/admin/bots/${switchedOff.id}`)
    expect(body.bot.integrations.shop).toMatchObject({ enabled: false, status: 'unregistered' })
  })

  test('is asked again when something changes that it goes by, and only then', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId, configuration } })
    await shop.install(id, { shop: { integrationId, enabled: true, configuration } })
    await shop.install(id, { shop: { disabledChannels: ['direct'] } })
    expect(await shop.asked(id)).toEqual(['register'])
    await shop.install(id, { shop: { configuration: { token: 'another' } } })
    await shop.install(id, { shop: { configurationType: 'account', configuration: { user: 'me' } } })
    expect(await shop.asked(id)).toEqual(['register', 'register', 'register'])
  })

  test('can be installed switched off, lacking what it needs, and be switched on and off', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    const fresh = await shop.install(id, { shop: { integrationId, enabled: false } })
    expect(fresh.shop).toMatchObject({ enabled: false, status: 'unregistered', configuration: {} })
    expect(await shop.update(id, { shop: { enabled: true } })).toMatchObject({ body: { type: 'InvalidDataFormat' } })
    expect((await shop.install(id, { shop: { enabled: true, configuration } })).shop.status).toBe('registered')
    const off = await shop.install(id, { shop: { enabled: false } })
    expect(off.shop).toMatchObject({ enabled: false, status: 'unregistered', configuration })
    expect(await shop.asked(id)).toEqual(['register', 'unregister'])
  })

  test('is exchanged for another version under the same address', async () => {
    const before = await shop.createIntegration()
    const after = await shop.createIntegration({ name: before.name, version: '2.0.0' })
    const { id } = await platform.createBot()
    const { shop: installed } = await shop.install(id, { shop: { integrationId: before.id, configuration } })
    const { shop: exchanged } = await shop.install(id, { shop: { integrationId: after.id } })
    expect(exchanged).toMatchObject({ id: after.id, version: '2.0.0', webhookId: installed.webhookId, configuration })
    expect(await shop.asked(id)).toEqual(['register', 'register'])
  })

  test('stays when an old client removes its alias and names it by id, in whichever order', async () => {
    const integration = await shop.createIntegration()
    const { id } = await platform.createBot()
    const installed = await shop.install(id, { [integration.id]: { configuration } })
    const [named, removed] = [{ [integration.id]: { configuration } }, { [integration.name]: null }]
    for (const integrations of [
      { ...named, ...removed },
      { ...removed, ...named },
    ]) {
      expect(await shop.install(id, integrations)).toMatchObject({
        [integration.name]: { status: 'registered', webhookId: installed[integration.name].webhookId },
      })
    }
  })
})

describe('an integration that is removed', () => {
  test('is unregistered and gone, and can then be deleted', async () => {
    const integration = await shop.createIntegration()
    const { id } = await platform.createBot()
    const { shop: installed } = await shop.install(id, { shop: { integrationId: integration.id, configuration } })
    await expect(shop.client.deleteIntegration({ id: integration.id })).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(id),
    })
    expect(Object.keys(await shop.install(id, { shop: null }))).toEqual(['chat'])
    expect(await platform.context.installations.find(installed.webhookId)).toBeUndefined()
    await shop.client.deleteIntegration({ id: integration.id })
  })

  test('stays with the reason when it fails to unregister, and goes the second time', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId, configuration: { token: 'sticky' } } })
    const { shop: installed } = await shop.install(id, { shop: null })
    expect(installed).toMatchObject({
      status: 'unregistration_failed',
      statusReason: expect.stringContaining('the shop does not let go'),
    })
    expect(Object.keys(await shop.install(id, { shop: null }))).toEqual(['chat'])
  })

  test('takes its users and conversations with it, and no others', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id, chatUrl } = await platform.createBot()
    await send('POST', `${chatUrl}/users`, {})
    await shop.install(id, { shop: { integrationId, configuration } })
    const { db } = platform.context
    const installed = await db('installations').where({ bot_id: id, alias: 'shop' }).first('id')
    await db('users').insert({ id: 'user_of_the_shop', bot_id: id, installation_id: installed!.id })
    const before = await db('users').where({ bot_id: id }).pluck('id')
    await shop.install(id, { shop: null })
    const after = await db('users').where({ bot_id: id }).pluck('id')
    expect(after.toSorted()).toEqual(before.filter((user) => user !== 'user_of_the_shop').toSorted())
  })

  test('with its bot is unregistered as well, and does not keep the bot when it fails to', async () => {
    const { id: integrationId } = await shop.createIntegration()
    const { id } = await platform.createBot()
    await shop.install(id, { shop: { integrationId, configuration: { token: 'sticky' } } })
    expect(await platform.ask('DELETE', `/v1/admin/bots/${id}`, {})).toMatchObject({ status: 200 })
    expect(await platform.ask('GET', `/v1/admin/bots/${id}`)).toMatchObject({ status: 404 })
    await shop.client.deleteIntegration({ id: integrationId })
  })
})

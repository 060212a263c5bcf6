import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { storeIntegration } from '../../../support/install-integration.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const definition = {
  description: 'Sells things',
  tags: { team: 'sales', stage: 'pilot' },
  user: { tags: { vip: { title: 'VIP' }, email: {} } },
  conversation: { tags: { topic: {} } },
  message: { tags: { mood: {} } },
  states: { cart: { type: 'conversation' as const, schema: { type: 'object' }, expiry: 60_000 } },
  events: { sold: { schema: { type: 'object' } }, returned: { schema: {} } },
  actions: { refund: { title: 'Refund', input: { schema: {} }, output: { schema: {} } } },
  configuration: { data: { currency: 'EUR' }, schema: { type: 'object' } },
  medias: [{ url: 'https://shop.example/logo.png', name: 'logo' }],
}

/** A map of so many entries of the same value. */
function many<Value>(count: number, value: Value): Record<string, Value> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]))
}

function every(cron: string) {
  return { schedule: { cron }, type: 'tick', payload: { count: 1 } }
}

describe('a bot’s definition, with the published client,', () => {
  test('is kept as it was sent', async () => {
    const { bot } = await client.createBot({ name: 'shop', ...definition, secrets: { KEY: 'hush' } })
    expect(bot).toMatchObject({ ...definition, secrets: ['KEY'], dev: false, status: 'active', type: 'studio' })
    expect((await client.getBot({ id: bot.id })).bot).toEqual(bot)
  })

  test('has every part that the client reads into, also when nothing was sent', async () => {
    const { bot } = await client.createBot({})
    expect(bot).toMatchObject({
      integrations: { chat: { name: 'chat', version: '1.0.0', status: 'registered', configurationType: null } },
      plugins: {},
      states: {},
      events: {},
      actions: {},
      recurringEvents: {},
      user: { tags: {} },
      conversation: { tags: {} },
      message: { tags: {} },
      configuration: { data: {}, schema: {} },
      subscriptions: { events: null },
      tags: {},
      secrets: [],
      medias: [],
      signingSecret: '',
      alwaysAlive: false,
    })
  })

  test('changes entry by entry; null removes an entry, and absent ones stay', async () => {
    const { id } = (await client.createBot(definition)).bot
    const { bot } = await client.updateBot({
      id,
      tags: { stage: null, region: 'north' },
      user: { tags: { email: null } },
      events: { returned: null, refunded: { schema: {} } },
      states: { cart: { type: 'conversation', schema: { type: 'object', required: ['items'] } } },
      configuration: { data: { shop: 7 } },
      subscriptions: { events: { sold: {} } },
    })
    expect(bot.tags).toEqual({ team: 'sales', region: 'north' })
    expect(bot.user.tags).toEqual({ vip: { title: 'VIP' } })
    expect(bot.events).toEqual({ sold: definition.events.sold, refunded: { schema: {} } })
    expect(bot.states).toEqual({
      cart: { type: 'conversation', schema: { type: 'object', required: ['items'] }, expiry: 60_000 },
    })
    // Not merged: it is data, and what it holds is the bot's business.
    expect(bot.configuration).toEqual({ data: { shop: 7 }, schema: { type: 'object' } })
    expect(bot.subscriptions).toEqual({ events: { sold: {} } })
    expect(bot).toMatchObject({ description: 'Sells things', message: definition.message, actions: definition.actions })
  })

  test('has recurring events, with what became of them', async () => {
    const { id } = (
      await client.createBot({ recurringEvents: { daily: every('0 9 * * *'), hourly: every('0 * * * *') } })
    ).bot
    const { bot } = await client.updateBot({ id, recurringEvents: { daily: null, hourly: every('30 * * * *') } })
    expect(bot.recurringEvents).toEqual({
      hourly: { ...every('30 * * * *'), failedAttempts: 0, lastFailureReason: null },
    })
    const refused = client.updateBot({ id, name: 'renamed', recurringEvents: { never: every('at noon') } })
    await expect(refused).rejects.toMatchObject({ type: 'InvalidPayload' })
    expect((await client.getBot({ id })).bot).toEqual(bot)
    const forged = { ...every('0 9 * * *'), type: 'message_created' }
    await expect(client.updateBot({ id, recurringEvents: { forged } })).rejects.toThrow(
      "recurringEvents.forged: the event type 'message_created' is reserved by the platform",
    )
  })

  test('has a warning in answers about recurring events of types to which it has no subscription', async () => {
    const [recurringEvents, subscriptions] = [{ nightly: every('@daily') }, { events: { sold: {} } }]
    const created = await platform.ask('POST', '/v1/admin/bots', { recurringEvents, subscriptions })
    const warnings = [
      `the recurring event 'nightly' does not reach the bot: subscriptions.events lacks its type '${recurringEvents.nightly.type}'`,
    ]
    expect(created).toMatchObject({ status: 200, body: { warnings } })
    const { id } = created.body.bot
    const renamed = await platform.ask('PUT', `/v1/admin/bots/${id}`, { name: 'renamed' })
    expect(renamed.body.warnings).toEqual(warnings)
    const events = { [recurringEvents.nightly.type]: {} }
    const mended = await platform.ask('PUT', `/v1/admin/bots/${id}`, { subscriptions: { events } })
    expect(mended.status).toBe(200)
    expect(mended.body).not.toHaveProperty('warnings')
  })

  test('has no more recurring events, secrets and integrations than a platform for many can bear', async () => {
    const { id } = (await client.createBot({})).bot
    const tooMany = { type: 'LimitExceeded' }
    await client.updateBot({ id, recurringEvents: many(20, every('@hourly')) })
    const another = client.updateBot({ id, recurringEvents: { another: every('@hourly') } })
    await expect(another).rejects.toMatchObject(tooMany)
    await client.updateBot({ id, recurringEvents: { n0: null, another: every('@hourly') } })
    await client.updateBot({ id, secrets: many(100, 'x') })
    await expect(client.updateBot({ id, secrets: { another: 'x' } })).rejects.toMatchObject(tooMany)
    const integrationId = await storeIntegration(platform)
    const integrations = many(30, { integrationId, enabled: false })
    await expect(client.updateBot({ id, integrations })).rejects.toMatchObject(tooMany)
    // Neither a schedule nor an integration is looked at where there are too many of them.
    await expect(client.updateBot({ id, recurringEvents: many(21, every('at noon')) })).rejects.toMatchObject(tooMany)
    const unknown = many(31, { integrationId: 'intver_unknown' })
    await expect(client.updateBot({ id, integrations: unknown })).rejects.toMatchObject(tooMany)
    const invalid = { type: 'InvalidPayload' }
    await expect(client.updateBot({ id, recurringEvents: many(101, null) })).rejects.toMatchObject(invalid)
    await expect(client.updateBot({ id, integrations: many(101, null) })).rejects.toMatchObject(invalid)
    expect((await client.getBot({ id })).bot).toMatchObject({ integrations: { chat: {} } })
  })

  test('loses nothing when two change it at once', async () => {
    const { id } = (await client.createBot({})).bot
    const changes = Array.from({ length: 8 }, (_, index) => client.updateBot({ id, tags: { [`tag${index}`]: 'x' } }))
    await Promise.all(changes)
    expect(Object.keys((await client.getBot({ id })).bot.tags)).toHaveLength(8)
  })

  test('is refused when it is endlessly long, or has a key that the API does not know the type of', async () => {
    const long = client.createBot({ configuration: { data: { text: 'x'.repeat(1024 * 1024) } } })
    await expect(long).rejects.toMatchObject({ type: 'LimitExceeded' })
    const wrong = client.createBot({ states: { cart: { type: 'nonsense', schema: {} } } } as never)
    await expect(wrong).rejects.toMatchObject({ type: 'InvalidPayload' })
  })
})

describe('a bot’s secrets', () => {
  test('are shown by name only, set one by one and removed with null', async () => {
    const { id } = (await client.createBot({ secrets: { A: 'one', B: 'two' } })).bot
    const { bot } = await client.updateBot({ id, secrets: { B: null, C: 'three' } })
    expect(bot.secrets).toEqual(['A', 'C'])
    expect(JSON.stringify(await platform.context.db('bots').where({ id }))).not.toContain('three')
    const { db, config } = platform.context
    expect(await readSecrets(config.secret, (await db('bots').where({ id }).first())!)).toEqual({
      A: 'one',
      C: 'three',
    })
  })
})

describe('listBots', () => {
  test('lists the bots in production, or those under development, in the order that is asked for', async () => {
    const member = await createMember(platform, 'owner')
    const mine = new Client({
      apiUrl: platform.url,
      token: member.authorization.slice('Bearer '.length),
      workspaceId: member['x-workspace-id'],
    })
    const production = (await mine.createBot({})).bot.id
    const development = (await mine.createBot({ dev: true })).bot
    expect(development.dev).toBe(true)
    const idsOf = async (query: Parameters<Client['listBots']>[0]) =>
      (await mine.listBots(query)).bots.map(({ id }) => id)
    expect(await idsOf({})).toEqual([production])
    expect(await idsOf({ dev: false })).toEqual([production])
    expect(await idsOf({ dev: true })).toEqual([development.id])
    const second = (await mine.createBot({})).bot.id
    await mine.updateBot({ id: production, name: 'renamed' })
    const pages = mine.list.bots({ sortField: 'updatedAt', sortDirection: 'desc', pageSize: 1 })
    expect((await pages.collect()).map(({ id }) => id)).toEqual([production, second])
    expect(await idsOf({ sortDirection: 'asc' })).toEqual([production, second])
  })

  test('lists those that have all of the given tags', async () => {
    const { id } = (await client.createBot({ tags: { colour: 'teal', size: 'small' } })).bot
    await client.createBot({ tags: { colour: 'teal' } })
    const { bots } = await client.listBots({ tags: { colour: 'teal', size: 'small' } })
    expect(bots.map((bot) => bot.id)).toEqual([id])
  })
})

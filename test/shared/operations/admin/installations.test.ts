import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { newId } from '#shared/ids.ts'
import { findInstallation } from '#shared/store/installations.ts'
import { startServer } from '../../../../api/server.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, send, type Answer, type Platform } from '../../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

const configuration = {
  encryptionKey: 'known to the shop alone',
  webhookUrl: 'https://shop.example/told?by=bot',
  webhookSecret: 'proof for the shop',
}

/** Creates a bot whose chat is configured. */
async function createBot(headers?: Record<string, string>): Promise<Answer['body']> {
  const given = { name: 'configured', integrations: { chat: { configuration } } }
  const { status, body } = await platform.ask('POST', '/v1/admin/bots', given, headers)
  expect(status).toBe(200)
  return body.bot
}

function update(id: string, integrations: object, headers?: Record<string, string>): Promise<Answer> {
  return platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations }, headers)
}

async function chatOf(id: string): Promise<Answer['body']> {
  return (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.integrations.chat
}

describe('a chat’s configuration', () => {
  test('is empty at first, set with the bot or later, by alias or by id, and replaced whole', async () => {
    const { id } = await platform.createBot()
    const { id: installationId, ...fresh } = await chatOf(id)
    expect(fresh.configuration).toEqual({})
    expect(fresh.sharedEncryptionKey).toMatch(/^[\w-]{43}$/)

    const { status, body } = await update(id, { chat: { configuration } })
    expect(status).toBe(200)
    expect(body.bot.integrations.chat.configuration).toEqual(configuration)
    expect(await chatOf(id)).toEqual(body.bot.integrations.chat)
    expect((await createBot()).integrations.chat.configuration).toEqual(configuration)

    await update(id, { [installationId]: { configuration: { encryptionKey: 'another' } } })
    expect((await chatOf(id)).configuration).toEqual({ encryptionKey: 'another' })
  })

  test('stays when nothing is said of it', async () => {
    const { id } = await createBot()
    for (const body of [{ name: 'renamed' }, { integrations: {} }, { integrations: { chat: {} } }]) {
      expect((await platform.ask('PUT', `/v1/admin/bots/${id}`, body)).status).toBe(200)
      expect((await chatOf(id)).configuration).toEqual(configuration)
    }
  })

  test('may hold the longest key there is, in any script', async () => {
    const { id } = await platform.createBot()
    const longest = { encryptionKey: '鍵'.repeat(2000) }
    await update(id, { chat: { configuration: longest } })
    expect((await chatOf(id)).configuration).toEqual(longest)
  })

  test.each([
    ['an integration that is not there', { shop: { configuration: {} } }, /integrations\.shop .* has 'chat'/],
    ['a chat that is switched off', { chat: { enabled: false } }, /chat .* cannot be disabled/],
    ['another integration in place of the chat', { chat: { integrationId: 'intver_x' } }, /another alias/],
    ['a misspelt field', { chat: { configuration: { encryptionkey: 'x' } } }, /encryptionKey, webhookUrl/],
    ['an empty key', { chat: { configuration: { encryptionKey: '' } } }, /encryptionKey/],
    ['a key that is too long', { chat: { configuration: { encryptionKey: 'x'.repeat(2001) } } }, /2000/],
    ['a key that is no text', { chat: { configuration: { encryptionKey: null } } }, /encryptionKey must be string/],
    ['a webhook of another protocol', { chat: { configuration: { webhookUrl: 'ftp://shop.example' } } }, /webhookUrl/],
    ['a webhook that is nowhere', { chat: { configuration: { webhookUrl: 'http://shop.example:99999' } } }, /URL/],
    ['a webhook with a password', { chat: { configuration: { webhookUrl: 'http://me:pw@shop.example' } } }, /password/],
    ['a webhook that is too long', { chat: { configuration: { webhookUrl: `http://x/${'y'.repeat(2000)}` } } }, /2000/],
    ['a secret that fits no header', { chat: { configuration: { webhookSecret: 'two\nlines' } } }, /webhookSecret/],
    ['a secret that is too long', { chat: { configuration: { webhookSecret: 'x'.repeat(2001) } } }, /2000/],
  ])('is refused with %s, and nothing changes', async (_what, integrations, message) => {
    const bot = await createBot()
    const answers = [
      await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { name: 'renamed', integrations }),
      await platform.ask('POST', '/v1/admin/bots', { integrations }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 400,
        body: { type: 'InvalidPayload', message: expect.stringMatching(message) },
      })
    }
    expect((await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot).toEqual(bot)
  })

  test('and the chat itself stay when published clients remove what a bot does not name', async () => {
    const bot = await createBot()
    const { status, body } = await update(bot.id, { chat: null, shop: null })
    expect(status).toBe(200)
    expect(body.bot.integrations).toEqual(bot.integrations)
  })

  test('is refused when the chat is named by its alias and by its id', async () => {
    const bot = await createBot()
    const answer = await update(bot.id, { chat: {}, [bot.integrations.chat.id]: { configuration: {} } })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('twice') } })
  })

  test('of a bot of another workspace can be neither seen nor set', async () => {
    const { id } = await createBot()
    const stranger = await createMember(platform, 'owner')
    const answer = await update(id, { chat: { configuration: { encryptionKey: 'mine now' } } }, stranger)
    expect(answer).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
    expect((await chatOf(id)).configuration).toEqual(configuration)
  })
})

describe('the secrets of a chat', () => {
  test.each(['administrator', 'owner'] as const)('are shown to members of the role %s', async (role) => {
    const { id } = await createBot()
    const member = await createMember(platform, role, platform.workspaceId)
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}`, undefined, member)
    expect(body.bot.integrations.chat.configuration).toEqual(configuration)
    expect(body.bot.integrations.chat).not.toHaveProperty('sharedEncryptionKey')
    const cleared = await update(id, { chat: { configuration: {} } }, member)
    expect(cleared.body.bot.integrations.chat.sharedEncryptionKey).toEqual(expect.any(String))
  })

  test.each(['viewer', 'developer'] as const)('are not shown to members of the role %s', async (role) => {
    const member = await createMember(platform, role, platform.workspaceId)
    const configured = (await createBot()).id
    const { id: plain } = await platform.createBot()
    const answers = [
      await platform.ask('GET', `/v1/admin/bots/${configured}`, undefined, member),
      await platform.ask('GET', `/v1/admin/bots/${plain}`, undefined, member),
    ]
    if (role === 'developer') {
      const integrations = { chat: { configuration } }
      answers.push(
        await platform.ask('POST', '/v1/admin/bots', { integrations }, member),
        await platform.ask('PUT', `/v1/admin/bots/${plain}`, { integrations }, member),
      )
    }
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      const { chat } = body.bot.integrations
      expect(chat).not.toHaveProperty('sharedEncryptionKey')
      for (const secret of [configuration.encryptionKey, configuration.webhookSecret]) {
        expect(JSON.stringify(body)).not.toContain(secret)
      }
      expect([{}, { webhookUrl: configuration.webhookUrl }]).toContainEqual(chat.configuration)
    }
  })

  test('stay when a developer writes the configuration back, that of the webhook only with its address', async () => {
    const { id } = await createBot()
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const shown = await platform.ask('GET', `/v1/admin/bots/${id}`, undefined, developer)
    const former = shown.body.bot.integrations.chat.configuration
    expect(former).toEqual({ webhookUrl: configuration.webhookUrl })
    await update(id, { chat: { configuration: { ...former, converse: 'secured' } } }, developer)
    expect((await chatOf(id)).configuration).toEqual({ ...configuration, converse: 'secured' })

    const webhookUrl = 'https://developer.example/'
    await update(id, { chat: { configuration: { webhookUrl } } }, developer)
    const { encryptionKey } = configuration
    expect((await chatOf(id)).configuration).toEqual({ encryptionKey, webhookUrl })
    await update(id, { chat: { configuration: { encryptionKey: 'given' } } }, developer)
    expect((await chatOf(id)).configuration).toEqual({ encryptionKey: 'given' })
  })

  test('of an integration stay when a developer writes back the {} that is shown in their place', async () => {
    const { id } = await platform.createBot()
    const integrationId = newId('intver')
    const { kind, schema } = { kind: 'native' as const, schema: { type: 'object', properties: { key: {} } } }
    await platform.context.db('integrations').insert({
      id: integrationId,
      workspace_id: platform.workspaceId,
      name: 'shop',
      version: '1.0.0',
      definition: { configuration: { schema }, configurations: { other: { schema } } },
      kind,
      code_id: newId('code'),
      hash: '',
    })
    const own = { key: 'known to the shop alone' }
    const settings = { integrationId, enabled: false }
    await update(id, { shop: { ...settings, configuration: own } })
    const configured = async () => (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.integrations.shop
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const shown = await platform.ask('GET', `/v1/admin/bots/${id}`, undefined, developer)
    const { configuration: former } = shown.body.bot.integrations.shop
    expect(former).toEqual({})

    await update(id, { shop: { ...settings, configuration: former, disabledChannels: ['sms'] } }, developer)
    expect(await configured()).toMatchObject({ configuration: own, disabledChannels: ['sms'] })
    await update(id, { shop: { configuration: { key: 'given' } } }, developer)
    expect(await configured()).toMatchObject({ configuration: { key: 'given' } })
    await update(id, { shop: { configurationType: 'other', configuration: {} } }, developer)
    expect(await configured()).toMatchObject({ configurationType: 'other', configuration: {} })
    await update(id, { shop: { configuration: own } })
    await update(id, { shop: { configuration: {} } })
    expect(await configured()).toMatchObject({ configuration: {} })
  })

  test('are nowhere in the database in plain text', async () => {
    const { id, name } = await createBot()
    const everything = await dumpRows()
    expect(everything).toContain(id)
    expect(everything).toContain(name)
    for (const secret of Object.values(configuration)) expect(everything).not.toContain(secret)
  })

  test('do not decrypt in the row of another chat, which then does not fall back to the shared key', async () => {
    const [victim, thief] = [await createBot(), await platform.createBot()]
    const { db } = platform.context
    const stolen = await db('installations').where({ bot_id: victim.id }).first('configuration')
    await db('installations').where({ bot_id: thief.id }).update(stolen!)
    expect(await platform.ask('GET', `/v1/admin/bots/${thief.id}`)).toMatchObject({ status: 500 })
    expect(await send('POST', `${thief.chatUrl}/users`, {})).toMatchObject({ status: 500, body: { type: 'Internal' } })

    expect(await update(thief.id, { chat: { configuration: {} } })).toMatchObject({ status: 200 })
    expect(await send('POST', `${thief.chatUrl}/users`, {})).toMatchObject({ status: 201 })
  })

  test('are said in the log to need the former ISOBOT_SECRET, when the platform is run with another', async () => {
    const bot = await createBot()
    const lines: string[] = []
    const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) })
    const environment = {
      ...platform.environment,
      PORT: '0',
      ISOBOT_SECRET: 'another secret of at least 32 characters',
    }
    await using context = openContext(readConfig(environment), log)
    await using server = await startServer(context)
    const chatUrl = `http://127.0.0.1:${server.port}/chat/${bot.integrations.chat.webhookId}`
    const { status, body } = await send('POST', `${chatUrl}/users`, {})
    expect({ status, type: body.type }).toEqual({ status: 500, type: 'Internal' })
    expect(lines.join('')).toMatch(/ISOBOT_SECRET.*restore the former secret/)
    expect(lines.join('')).toContain(body.id)
  })
})

test('the worker finds an installation with its configuration, and statements whether it has a webhook', async () => {
  const bot = await createBot()
  const { db, config } = platform.context
  const { id } = (await db('installations').where({ bot_id: bot.id }).first('id'))!
  const find = (botId: string) => findInstallation(db, config.secret, botId, id)
  expect(await find(bot.id)).toMatchObject({ bot_id: bot.id, alias: 'chat', configuration, has_webhook: true })
  expect(await find((await platform.createBot()).id)).toBeUndefined()
  await update(bot.id, { chat: { configuration: { encryptionKey: 'x' } } })
  expect(await find(bot.id)).toMatchObject({ configuration: { encryptionKey: 'x' }, has_webhook: false })
})

/** Every row of every table, as text. */
async function dumpRows(): Promise<string> {
  const { db } = platform.context
  const tables = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename')
  const rows = await Promise.all(
    tables.map((name: string) => db(name).select(db.raw('to_jsonb(??.*)::text as row', name))),
  )
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

import { Client } from '@botpress/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dispatch } from '#shared/dispatch.ts'
import type { BotCaller } from '#shared/rpc/caller.ts'
import { newId } from '#shared/ids.ts'
import { nextTime } from '#shared/integrations/register-schedule.ts'
import { newRegistration } from '#shared/integrations/registration.ts'
import { hashToken } from '#shared/secrets.ts'
import { findInstallation } from '#shared/store/installations.ts'
import { insertRegistration } from '#shared/store/registrations.ts'
import { schedules, type InstallationRow } from '#shared/models/tables.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

const path = '/v1/chat/integrations/configure'

let platform: Platform
let integrationId: string
beforeAll(async () => {
  platform = await openPlatform()
  integrationId = await storeIntegration(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

function find({ id }: InstallationRow): Promise<InstallationRow> {
  return platform.context.db('installations').where({ id }).first() as Promise<InstallationRow>
}

/** A bot that replies with the answers that its client gets, as the HTTP interface gives them. */
const configuring = `
  export const actions = {
    async configure({ input, client }) {
      try {
        return { status: 200, body: await client.configureIntegration(JSON.parse(input.json)) }
      } catch (error) {
        return { status: error.code, body: { type: error.type, message: error.message } }
      }
    },
  }`

describe.each(['over HTTP', 'from the sandbox'])('%s', (entryPoint) => {
  let bot: DeployedBot
  let installation: InstallationRow
  beforeAll(async () => {
    bot = await platform.createBot(configuring)
  })
  beforeEach(async () => {
    await platform.context.db('installations').where({ bot_id: bot.id }).whereNotNull('integration_id').delete()
    installation = await installIntegration(platform, bot.id, integrationId)
  })

  async function configure(body: unknown): Promise<{ status: number; body: unknown }> {
    const headers = { 'x-bot-id': bot.id }
    if (entryPoint === 'over HTTP') return platform.ask('POST', path, body, headers)
    const action = { type: 'configure', input: { json: JSON.stringify(body) } }
    const { status, body: reply } = await platform.ask('POST', '/v1/chat/actions', action, headers)
    if (status !== 200) throw new Error(`The action failed: ${JSON.stringify(reply)}`)
    return reply.output
  }

  /** Waits until the job has worked out when the schedule is due, which is to be a period after it was set. */
  async function plannedOnce(): Promise<InstallationRow> {
    await expect.poll(async () => (await find(installation)).next_register_at).not.toBeNull()
    return find(installation)
  }

  test('all three are stored, and an empty object answers', async () => {
    const identifier = 'é'.repeat(200)
    expect(await configure({ identifier, scheduleRegisterCall: 'daily', sandboxIdentifiers: {} })).toMatchObject({
      status: 200,
      body: {},
    })
    const row = await plannedOnce()
    expect(row).toMatchObject({ identifier, schedule: 'daily', sandbox_identifiers: {} })
    expect(Math.abs(row.schedule_from!.getTime() - Date.now())).toBeLessThan(10_000)
  })

  test('absent fields stay, and null removes', async () => {
    await configure({ identifier: 'mine', scheduleRegisterCall: 'weekly', sandboxIdentifiers: {} })
    const before = await plannedOnce()
    expect(await configure({})).toMatchObject({ status: 200, body: {} })
    expect(await find(installation)).toEqual({ ...before, updated_at: expect.any(Date) })
    await configure({ identifier: null })
    expect(await find(installation)).toMatchObject({ identifier: null, schedule: 'weekly', sandbox_identifiers: {} })
    await configure({ sandboxIdentifiers: null })
    expect(await find(installation)).toMatchObject({ schedule: 'weekly', sandbox_identifiers: null })
  })

  test.each(schedules)('%s is due a period after it was set', async (scheduleRegisterCall) => {
    expect(await configure({ scheduleRegisterCall })).toMatchObject({ status: 200 })
    const { schedule, schedule_from: from, next_register_at: next } = await plannedOnce()
    expect(next).toEqual(nextTime(schedule!, from!, from!))
  })

  test('the same schedule again postpones nothing, and another begins anew', async () => {
    await configure({ scheduleRegisterCall: 'monthly' })
    const begun = new Date(Date.now() - 40 * 24 * 60 * 60 * 1000)
    const next = new Date(Date.now() + 60_000)
    const { db } = platform.context
    await db('installations').where({ id: installation.id }).update({ schedule_from: begun, next_register_at: next })
    await configure({ scheduleRegisterCall: 'monthly', identifier: 'mine' })
    expect(await find(installation)).toMatchObject({ schedule_from: begun, next_register_at: next })
    await configure({ scheduleRegisterCall: 'yearly' })
    const row = await plannedOnce()
    expect(row.schedule_from!.getTime()).toBeGreaterThan(Date.now() - 10_000)
    expect(row.next_register_at).toEqual(nextTime('yearly', row.schedule_from!, row.schedule_from!))
  })

  test.each<[string, object, RegExp]>([
    ['an unknown field', { identifier: 'mine', colour: 'red' }, /'colour'/],
    ['an identifier that is too long', { identifier: 'x'.repeat(201) }, /identifier/],
    ['an identifier that is no text', { identifier: 5 }, /identifier/],
    ['an identifier that cannot be stored', { identifier: 'a\u0000b' }, /cannot be stored/],
    ['a schedule that is none', { identifier: 'mine', scheduleRegisterCall: 'fortnightly' }, /hourly.*yearly/],
    ['a schedule that is no text', { scheduleRegisterCall: null }, /scheduleRegisterCall/],
    ['sandbox identifiers with anything in them', { sandboxIdentifiers: { any: 'thing' } }, /'any'/],
    ['sandbox identifiers that are no object', { sandboxIdentifiers: 'none' }, /sandboxIdentifiers/],
  ])('%s is refused, and nothing stored', async (_what, body, words) => {
    expect(await configure(body)).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload', message: expect.stringMatching(words) },
    })
    expect(await find(installation)).toEqual(installation)
  })

  test('an identifier that another installation of the integration has is refused, until it is free', async () => {
    const { id } = await platform.createBot()
    const [taken, ofAnother] = [`taken ${entryPoint}`, `of another, ${entryPoint}`]
    const other = await installIntegration(platform, id, integrationId, { identifier: taken })
    const stranger = await installIntegration(platform, id, await storeIntegration(platform), {
      alias: 'stranger',
      integration: 'another',
      identifier: ofAnother,
    })
    const refusal = { status: 409, body: { type: 'AlreadyExists', message: expect.stringContaining(`'${taken}'`) } }
    expect(await configure({ identifier: taken, scheduleRegisterCall: 'daily' })).toMatchObject(refusal)
    expect(await find(installation)).toEqual(installation)
    await platform.context.db('installations').where({ id: other.id }).update({ identifier: null })
    expect(await configure({ identifier: taken })).toMatchObject({ status: 200 })
    expect(await configure({ identifier: taken })).toMatchObject({ status: 200 })
    expect(await configure({ identifier: stranger.identifier })).toMatchObject({ status: 200 })
    expect(await find(installation)).toMatchObject({ identifier: ofAnother })
    expect(await find(stranger)).toMatchObject({ identifier: ofAnother })
  })

  test('without a name the bot’s only integration is meant; with several, or none, the refusal says so', async () => {
    const other = await installIntegration(platform, bot.id, integrationId, { alias: 'other' })
    const several = await configure({ identifier: 'whose' })
    expect(several).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    const { message } = several.body as { message: string }
    for (const name of [integrationId, 'alias tool', 'alias other', 'x-integration-id']) expect(message).toContain(name)
    await platform.context.db('installations').whereIn('id', [installation.id, other.id]).delete()
    expect(await configure({ identifier: 'whose' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('no integration') },
    })
  })
})

describe('over HTTP', () => {
  let bot: DeployedBot
  let first: InstallationRow
  let second: InstallationRow
  let other: InstallationRow
  beforeAll(async () => {
    bot = await platform.createBot()
    first = await installIntegration(platform, bot.id, integrationId, { alias: 'first' })
    second = await installIntegration(platform, bot.id, integrationId, { alias: 'second' })
    other = await installIntegration(platform, bot.id, await storeIntegration(platform), { alias: 'other' })
  })

  const ask = (headers: Record<string, string | undefined>, body: unknown = {}) =>
    platform.ask('POST', path, body, { 'x-bot-id': bot.id, ...headers })

  test('the answer is an object without properties', async () => {
    const { status, body } = await ask({ 'x-integration-id': other.integration_id! })
    expect({ status, body }).toEqual({ status: 200, body: {} })
  })

  test('the headers name the installation', async () => {
    expect(await ask({ 'x-integration-id': other.integration_id! }, { identifier: 'o' })).toMatchObject({ status: 200 })
    const named = { 'x-integration-id': integrationId, 'x-integration-alias': 'second' }
    expect(await ask(named, { identifier: 's' })).toMatchObject({ status: 200 })
    expect(await find(other)).toMatchObject({ identifier: 'o' })
    expect(await find(second)).toMatchObject({ identifier: 's' })
    expect(await find(first)).toMatchObject({ identifier: null })
  })

  test('the published client of an integration configures it', async () => {
    const { botId, apiUrl, token } = { botId: bot.id, apiUrl: platform.url, token: platform.token }
    const client = new Client({ apiUrl, token, botId, integrationId, integrationAlias: 'first' })
    expect(await client.configureIntegration({ identifier: 'p', scheduleRegisterCall: 'bi-weekly' })).toEqual({})
    expect(await find(first)).toMatchObject({ identifier: 'p', schedule: 'bi-weekly' })
    await expect(client.configureIntegration({ identifier: 'x'.repeat(201) })).rejects.toMatchObject({
      code: 400,
      type: 'InvalidPayload',
    })
  })

  test('an integration’s own token is for its own installation, and no other one of the bot', async () => {
    const secret = 'the-token-of-an-integration'
    const token = { id: newId('iak'), hash: hashToken(secret), kind: 'integration', note: '' } as const
    await platform.context.db('tokens').insert({ ...token, integration_id: other.integration_id })
    const authorization = `Bearer ${secret}`
    expect(await ask({ authorization }, { identifier: 'by token' })).toMatchObject({ status: 200 })
    expect(await find(other)).toMatchObject({ identifier: 'by token' })
    expect(await ask({ authorization, 'x-integration-id': integrationId })).toMatchObject({ status: 403 })
    const { id } = await platform.createBot()
    expect(await ask({ authorization, 'x-bot-id': id })).toMatchObject({ status: 403 })
  })

  test('an integration that is installed twice has to be named by its alias too', async () => {
    expect(await ask({ 'x-integration-id': integrationId })).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload', message: expect.stringMatching(/first.*second/) },
    })
  })

  test.each<[string, Record<string, string | undefined>, number]>([
    ['no token', { authorization: undefined }, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['no bot', { 'x-bot-id': undefined }, 400],
    ['a bot that is none', { 'x-bot-id': 'bot_none' }, 403],
  ])('a request with %s is refused', async (_what, headers, status) => {
    expect(await ask({ 'x-integration-id': other.integration_id!, ...headers })).toMatchObject({
      status,
      body: { id: expect.any(String), code: status, type: expect.any(String), message: expect.any(String) },
    })
  })

  test.each(['[]', '"text"', '{', 'null'])('a body that is no JSON object is refused: %s', async (body) => {
    expect(await ask({ 'x-integration-id': other.integration_id! }, body)).toMatchObject({ status: 400 })
  })

  test('a body of more than 1 MB is refused', async () => {
    const body = { identifier: 'x'.repeat(1024 * 1024) }
    expect(await ask({ 'x-integration-id': other.integration_id! }, body)).toMatchObject({
      status: 413,
      body: { type: 'PayloadTooLarge' },
    })
  })
})

test('a repeated run does not overwrite a later configuration', async () => {
  const bot = await platform.createBot()
  const installation = await installIntegration(platform, bot.id, integrationId)
  const { context } = platform
  const { config, db } = context
  // It is nobody's turn for a day: its runs are told here instead of taking place.
  const { id: eventId, ...registration } = newRegistration(config, installation)
  await db.transaction(async (transaction) => {
    await insertRegistration(transaction, { id: eventId, ...registration })
    await transaction('events')
      .where({ id: eventId })
      .update({ available_at: new Date(Date.now() + 86_400_000) })
  })

  async function configure(attempt: number, identifier: string) {
    await db('events').where({ id: eventId }).update({ attempt })
    const caller: BotCaller = {
      kind: 'bot',
      botId: bot.id,
      installation: (await findInstallation(db, config.secret, bot.id, installation.id))!,
      execution: {
        eventId,
        attempt,
        call: { operation: 'configureIntegration', ordinal: 1 },
        openStreams: new Map(),
        callAction: () => Promise.reject(new Error('No action is called')),
      },
    }
    return dispatch(context, { method: 'POST', path, body: async () => ({ identifier }), identify: () => caller })
  }

  expect(await configure(1, newId('user'))).toEqual({ status: 200, body: {}, opensStream: false })
  await db('installations').where({ id: installation.id }).update({ identifier: 'by hand' })
  expect(await configure(2, newId('user'))).toMatchObject({ status: 200, body: {} })
  expect(await find(installation)).toMatchObject({ identifier: 'by hand' })
})

import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countLockWaits } from '../../../support/databases.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, send, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
/** Of another workspace. */
let stranger: Client
let strangersId: string
beforeAll(async () => {
  platform = await openPlatform()
  const { url: apiUrl, token, workspaceId } = platform
  client = new Client({ apiUrl, token, workspaceId })
  strangersId = (await client.createWorkspace({ name: 'Strangers' })).id
  stranger = new Client({ apiUrl, token, workspaceId: strangersId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const code = `
  export const register = () => {}
  export const actions = { greet: ({ input, env }) => ({ text: 'Hello ' + input.name + ', ' + env.SECRET_TONE }) }
`
const publish = (name: string, fields = {}) =>
  client.createIntegration({
    name,
    version: '1.0.0',
    code,
    visibility: 'public',
    secrets: { TONE: 'friendly' },
    actions: { greet: { input: { schema: {} }, output: { schema: {} } } },
    ...fields,
  })

/** The names of a list of the hub. */
const namesOf = async (input: object) =>
  (await stranger.listPublicIntegrations(input)).integrations.map(({ name }) => name)

/** A new bot of the other workspace with an integration. */
async function install(alias: string, integrationId: string) {
  const { id } = (await stranger.createBot({})).bot
  return stranger.updateBot({ id, integrations: { [alias]: { integrationId } } })
}

test('an integration that one workspace publishes is installed and called by bots of another', async () => {
  const { integration } = await publish('greeter')
  const { bot } = await install('hello', integration.id)
  expect(bot.integrations['hello']).toMatchObject({ name: 'greeter', status: 'registered' })
  const runtime = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: strangersId, botId: bot.id })
  const { output } = await runtime.callAction({ type: 'hello:greet', input: { name: 'Ann' } })
  expect(output).toEqual({ text: 'Hello Ann, friendly' })
  const { bot: without } = await stranger.updateBot({ id: bot.id, integrations: { hello: null } })
  expect(Object.keys(without.integrations)).toEqual(['chat'])
})

test('it is found by name, range, id and in lists, with its owner and the number of its installations', async () => {
  const { integration } = await publish('finder', { title: 'Finds things' })
  await publish('finder', { version: '1.1.0' })
  await publish('finder', { version: '2.0.0', visibility: 'unlisted' })
  const { bot } = await install('finder', integration.id)
  const versionOf = async (version: string) =>
    (await stranger.getPublicIntegration({ name: 'finder', version })).integration.version
  expect([await versionOf('1.0.0'), await versionOf('^1.0.0'), await versionOf('latest')]).toEqual([
    '1.0.0',
    '1.1.0',
    '2.0.0',
  ])
  const { integration: found } = await stranger.getPublicIntegrationById({ id: integration.id })
  expect(found).toMatchObject({
    id: integration.id,
    secrets: ['TONE'],
    ownerWorkspace: { id: platform.workspaceId },
    meta: { installs: 1, views: 0 },
  })
  const named = async (input: Parameters<Client['listPublicIntegrations']>[0]) =>
    (await stranger.listPublicIntegrations(input)).integrations.map(({ name, version }) => `${name} ${version}`)
  expect(await named({ name: 'finder' })).toEqual(['finder 1.1.0', 'finder 1.0.0'])
  expect(await named({ name: 'finder', version: '<1.1.0' })).toEqual(['finder 1.0.0'])
  expect(await named({ search: 'finds THINGS' })).toEqual(['finder 1.0.0'])
  expect(await named({ installedByBotId: bot.id })).toContain('finder 1.0.0')
  await expect(named({ installedByBotId: 'bot_unknown' })).rejects.toMatchObject({ code: 404 })
})

test('lists go on from page to page, the built-in ones first', async () => {
  await publish('page-one')
  await publish('page-two')
  const first = await stranger.listPublicIntegrations({ pageSize: 1 })
  expect(first.integrations.map(({ name }) => name)).toEqual(['chat', 'chat', 'webchat', 'inbox', 'page-two'])
  const second = await stranger.listPublicIntegrations({ pageSize: 1, nextToken: first.meta.nextToken! })
  expect(second.integrations.map(({ name }) => name)).toEqual(['page-one'])
})

test('those that implement an interface are found by it', async () => {
  const { interface: shared } = await client.createInterface({ name: 'hub-shared', version: '1.0.0', public: true })
  await publish('implementing', { interfaces: { 'hub-shared': { id: shared.id } } })
  expect(await namesOf({ interfaceName: 'hub-shared' })).toEqual(['implementing'])
  expect(await namesOf({ interfaceId: shared.id })).toEqual(['implementing'])
  expect(await namesOf({ interfaceId: `' or true --` })).toEqual([])
})

test('a private integration of another workspace does not exist', async () => {
  const { integration } = await publish('hidden', { visibility: 'private' })
  await expect(stranger.getPublicIntegrationById({ id: integration.id })).rejects.toMatchObject({ code: 404 })
  await expect(stranger.getPublicIntegration({ name: 'hidden', version: 'latest' })).rejects.toMatchObject({
    code: 404,
  })
  await expect(install('hidden', integration.id)).rejects.toMatchObject({ type: 'ReferenceNotFound' })
})

test('a public one is changed, deleted and given keys by its own workspace only', async () => {
  const { integration } = await publish('owned')
  const { id } = integration
  await expect(stranger.getIntegration({ id })).rejects.toMatchObject({ code: 404 })
  await expect(stranger.updateIntegration({ id, title: 'Mine' })).rejects.toMatchObject({ code: 404 })
  await expect(stranger.deleteIntegration({ id })).rejects.toMatchObject({ code: 404 })
  const key = await platform.ask(
    'POST',
    '/v1/admin/integrations/iaks',
    { integrationId: id },
    { 'x-workspace-id': strangersId },
  )
  expect(key.status).toBe(404)
  await expect(
    stranger.createIntegration({ name: 'owned', version: '9.0.0', code, visibility: 'public' }),
  ).rejects.toMatchObject({ type: 'AlreadyExists' })
})

test('it can be neither withdrawn nor deleted while bots of other workspaces have it', async () => {
  const { integration } = await publish('lasting')
  const { id } = integration
  const { bot } = await install('lasting', id)
  await expect(client.updateIntegration({ id, visibility: 'private' })).rejects.toMatchObject({
    type: 'ReferenceConstraint',
  })
  const refusal = await client.deleteIntegration({ id }).catch((error: unknown) => error as Error)
  expect(refusal).toMatchObject({ type: 'ReferenceConstraint', message: expect.stringContaining('other workspaces') })
  expect((refusal as Error).message).not.toContain(bot.id)
  await stranger.deleteBot({ id: bot.id })
  await client.updateIntegration({ id, visibility: 'private' })
  await client.deleteIntegration({ id })
})

test('of two workspaces that publish a name at once, one goes on publishing it', async () => {
  const { db } = platform.context
  const holder = await db.transaction()
  await holder('workspaces').whereIn('id', [platform.workspaceId, strangersId]).forUpdate().select('id')
  const first = [client, stranger].map((each) =>
    each.createIntegration({ name: 'popular', version: '1.0.0', code, visibility: 'public' }),
  )
  await expect.poll(() => countLockWaits(db), { timeout: 10_000 }).toBe(2)
  await holder.commit()
  await Promise.all(first)
  const [ownerId] = await db('integrations')
    .where({ name: 'popular' })
    .orderBy(['created_at', 'id'])
    .pluck('workspace_id')
  const [owner, other] = ownerId === strangersId ? [stranger, client] : [client, stranger]
  const next = { name: 'popular', version: '1.1.0', code, visibility: 'public' } as const
  const { integration } = await owner.createIntegration(next)
  await owner.updateIntegration({ id: integration.id, visibility: 'unlisted' })
  await expect(other.createIntegration(next)).rejects.toMatchObject({ type: 'AlreadyExists' })
})

test('a workspace whose integrations others have installed is not deleted', async () => {
  const { id: workspaceId } = await client.createWorkspace({ name: 'Publisher' })
  const publisher = new Client({ apiUrl: platform.url, token: platform.token, workspaceId })
  const { integration } = await publisher.createIntegration({
    name: 'kept',
    version: '1.0.0',
    code,
    visibility: 'public',
  })
  const { bot } = await install('kept', integration.id)
  await expect(publisher.deleteWorkspace({ id: workspaceId })).rejects.toMatchObject({ type: 'ReferenceConstraint' })
  await stranger.deleteBot({ id: bot.id })
  await publisher.deleteWorkspace({ id: workspaceId })
})

test('a bot is transferred with public integrations of its former workspace', async () => {
  const { integration } = await publish('following')
  const { bot } = await client.createBot({})
  await client.updateBot({ id: bot.id, integrations: { following: { integrationId: integration.id } } })
  await client.transferBot({ id: bot.id, targetWorkspaceId: strangersId })
  const { bot: moved } = await stranger.updateBot({ id: bot.id, integrations: { following: { configuration: {} } } })
  expect(moved.integrations['following']).toMatchObject({ name: 'following', status: 'registered' })
})

describe('of an integration of another workspace', () => {
  const events = { identifier: { extractScript: 'to_string(.body)' } }
  const claiming = `
    export async function register({ client, ctx }) {
      if (ctx.configuration.team) await client.configureIntegration({ identifier: ctx.configuration.team })
    }`
  const configuration = { schema: { type: 'object', properties: { team: { type: 'string' } } } }

  test('the identifier is set by its own code and keys, and by no token of the bot or of a member', async () => {
    const { integration } = await publish('claims', { code: claiming, actions: {}, configuration, ...events })
    const { bot } = await install('claims', integration.id)
    const { bot: thief } = await install('claims', integration.id)
    const configure = (token: string, named?: string) =>
      send(
        'POST',
        `${platform.url}/v1/chat/integrations/configure`,
        { identifier: 'T1' },
        { authorization: `Bearer ${token}`, 'x-bot-id': thief.id, 'x-integration-id': named },
      )
    const { value: ofBot } = await stranger.createBotApiKey({ botId: thief.id })
    for (const token of [ofBot, platform.token]) {
      expect(await configure(token, integration.id)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
      expect(await configure(token)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    }
    await stranger.updateBot({ id: bot.id, integrations: { claims: { configuration: { team: 'T1' } } } })
    expect((await stranger.getBot({ id: bot.id })).bot.integrations['claims']).toMatchObject({ identifier: 'T1' })
    // Now the refusal does not tell whether a bot has it.
    expect(await configure(ofBot, integration.id)).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    const { value: ofIntegration } = await client.createIntegrationApiKey({ integrationId: integration.id })
    expect(await configure(ofIntegration)).toMatchObject({ status: 409, body: { type: 'AlreadyExists' } })
  })

  test('an identifier does not come from an own integration of its name that was installed in its place', async () => {
    const { integration } = await publish('moved', { code: claiming, actions: {}, configuration, ...events })
    const fields = { name: 'moved', version: '9.0.0', code: 'export const register = () => {}' }
    const { integration: own } = await stranger.createIntegration(fields)
    const { bot } = await install('moved', own.id)
    const as = { 'x-bot-id': bot.id, 'x-integration-id': own.id, authorization: `Bearer ${platform.token}` }
    const url = `${platform.url}/v1/chat/integrations/configure`
    expect(await send('POST', url, { identifier: 'T2' }, as)).toMatchObject({ status: 200 })
    const identifier = async () => (await stranger.getBot({ id: bot.id })).bot.integrations['moved']
    expect(await identifier()).toMatchObject({ version: '9.0.0', identifier: 'T2' })
    await stranger.updateBot({ id: bot.id, integrations: { moved: { integrationId: integration.id } } })
    expect(await identifier()).toMatchObject({ version: '1.0.0' })
    expect(await identifier()).not.toMatchObject({ identifier: 'T2' })
  })

  test('the configuration does not go to an own integration of its name that a developer installs in its place', async () => {
    const named = { name: 'swapped', version: '1.0.0', code, configuration }
    const { integration } = await publish('swapped', { configuration })
    const { integration: own } = await stranger.createIntegration({ ...named, version: '9.0.0' })
    const { bot } = await install('swapped', integration.id)
    const secret = { team: 'secret of the administrator' }
    await stranger.updateBot({ id: bot.id, integrations: { swapped: { configuration: secret } } })
    const { authorization } = await createMember(platform, 'developer', strangersId)
    const token = authorization.replace('Bearer ', '')
    const developer = new Client({ apiUrl: platform.url, token, workspaceId: strangersId })
    const swap = (one: Client, settings = {}) =>
      one.updateBot({ id: bot.id, integrations: { swapped: { integrationId: own.id, ...settings } } })
    await expect(swap(developer)).rejects.toMatchObject({ type: 'InvalidPayload' })
    await expect(swap(developer, { configuration: {} })).rejects.toMatchObject({ type: 'InvalidPayload' })
    const shown = async () => (await stranger.getBot({ id: bot.id })).bot.integrations['swapped']
    expect(await shown()).toMatchObject({ version: '1.0.0', configuration: secret })
    await swap(stranger)
    expect(await shown()).toMatchObject({ version: '9.0.0', configuration: secret })
    // Back, with a configuration of the developer.
    const back = { integrationId: integration.id, configuration: { team: 'new' } }
    await developer.updateBot({ id: bot.id, integrations: { swapped: back } })
    expect(await shown()).toMatchObject({ version: '1.0.0', configuration: { team: 'new' } })
  })

  test('its owner does not learn which bots of others have it', async () => {
    const { integration } = await publish('discreet')
    const { bot } = await install('discreet', integration.id)
    expect((await client.listIntegrations({ installedByBotId: bot.id })).integrations).toEqual([])
    const { id } = (await client.createBot({})).bot
    await client.updateBot({ id, integrations: { discreet: { integrationId: integration.id } } })
    expect((await client.listIntegrations({ installedByBotId: id })).integrations).toMatchObject([{ name: 'discreet' }])
  })
})

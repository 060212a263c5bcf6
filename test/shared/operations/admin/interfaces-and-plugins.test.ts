import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
/** Of another workspace. */
let stranger: Client
beforeAll(async () => {
  platform = await openPlatform()
  const { url: apiUrl, token, workspaceId } = platform
  client = new Client({ apiUrl, token, workspaceId })
  const { id } = await client.createWorkspace({ name: 'Strangers' })
  stranger = new Client({ apiUrl, token, workspaceId: id })
})
afterAll(() => platform[Symbol.asyncDispose]())

const text = { type: 'string' }
const ofObject = (properties: object) => ({ schema: { type: 'object', properties } })

/** An interface with an entity, to which its action and its event refer. */
const ticketing = (name: string, fields = {}) => ({
  name,
  version: '1.2.0',
  title: 'Ticketing',
  entities: { ticket: ofObject({ subject: text }) },
  actions: {
    openTicket: { input: ofObject({ ticket: { $ref: 'ticket' } }), output: ofObject({ id: text }), title: 'Open' },
  },
  events: { ticketClosed: ofObject({ ticket: { $ref: 'ticket' } }) },
  channels: { ticket: { messages: { text: ofObject({ text }) } } },
  ...fields,
})

const code = 'export const actions = { openCase() { return { id: "1" } } }'

/** An integration that implements `ticketing` under names of its own. */
const desk = (interfaceId: string, fields = {}) => ({
  version: '3.0.0',
  code,
  entities: { case: ofObject({ subject: text, severity: { type: 'number' } }) },
  actions: { openCase: { input: ofObject({}), output: ofObject({}) } },
  events: { caseClosed: ofObject({}) },
  channels: { ticket: { messages: { text: ofObject({ text }) } } },
  interfaces: {
    'ticketing<case>': {
      id: interfaceId,
      entities: { ticket: { name: 'case' } },
      actions: { openTicket: { name: 'openCase' } },
      events: { ticketClosed: { name: 'caseClosed' } },
      channels: {},
    },
  },
  ...fields,
})

const pluginCode = { node: 'exports.node = 1', browser: 'exports.browser = 1' }
/** A plugin that depends on `ticketing`. */
const triage = (name: string, interfaceId: string, fields = {}) => ({
  name,
  version: '0.1.0',
  code: pluginCode,
  configuration: { schema: { type: 'object', properties: { limit: { type: 'number' } }, required: ['limit'] } },
  actions: {
    sort: { input: ofObject({ item: { $ref: 'interface:tickets/entities/ticket' } }), output: ofObject({}) },
  },
  events: { sorted: ofObject({ items: { type: 'array', items: { $ref: 'interface:tickets/entities/ticket' } } }) },
  states: { queue: { type: 'bot' as const, ...ofObject({}) } },
  conversation: { tags: { urgent: { title: 'Urgent' } } },
  dependencies: { interfaces: { tickets: { id: interfaceId, name: 'ticketing', version: '1.2.0' } } },
  ...fields,
})

describe('an interface', () => {
  test('is created, found by id, by name and in lists, changed and deleted', async () => {
    const { interface: created } = await client.createInterface(ticketing('own-ticketing'))
    expect(created).toMatchObject({
      name: 'own-ticketing',
      version: '1.2.0',
      title: 'Ticketing',
      public: false,
      entities: { ticket: ofObject({ subject: text }) },
      actions: { openTicket: { input: ofObject({ ticket: { $ref: 'ticket' } }) } },
    })
    expect((await client.getInterface({ id: created.id })).interface).toEqual(created)
    await client.createInterface(ticketing('own-ticketing', { version: '1.3.0' }))
    const named = await client.getInterfaceByName({ name: 'own-ticketing', version: '>=1.0.0 <1.3.0' })
    expect(named.interface.id).toBe(created.id)
    const { interfaces } = await client.listInterfaces({ name: 'own-ticketing' })
    expect(interfaces.map(({ version }) => version)).toEqual(['1.3.0', '1.2.0'])

    await client.updateInterface({ id: created.id, actions: { close: { input: ofObject({}), output: ofObject({}) } } })
    const { interface: changed } = await client.getInterface({ id: created.id })
    expect(Object.keys(changed.actions).toSorted()).toEqual(['close', 'openTicket'])
    await client.deleteInterface({ id: created.id })
    await expect(client.getInterface({ id: created.id })).rejects.toMatchObject({ code: 404 })
  })

  test('is seen by other workspaces when it is public, and changed only by its own', async () => {
    const { interface: hidden } = await client.createInterface(ticketing('hidden-ticketing'))
    const { interface: open } = await client.createInterface(ticketing('open-ticketing', { public: true }))
    await expect(stranger.getPublicInterfaceById({ id: hidden.id })).rejects.toMatchObject({ code: 404 })
    await expect(stranger.getInterface({ id: open.id })).rejects.toMatchObject({ code: 404 })
    expect((await stranger.getPublicInterfaceById({ id: open.id })).interface).toEqual(open)
    expect((await stranger.getPublicInterface({ name: 'open-ticketing', version: '^1.0.0' })).interface).toEqual(open)
    const { interfaces } = await stranger.listPublicInterfaces({})
    expect(interfaces.map(({ name }) => name)).toEqual(['hitl', 'open-ticketing'])
    await expect(stranger.updateInterface({ id: open.id, title: 'Mine' })).rejects.toMatchObject({ code: 404 })
    await expect(stranger.deleteInterface({ id: open.id })).rejects.toMatchObject({ code: 404 })
    await expect(stranger.createInterface(ticketing('open-ticketing', { public: true }))).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
    const { interface: own } = await stranger.createInterface(ticketing('open-ticketing'))
    await expect(stranger.updateInterface({ id: own.id, public: true })).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
  })

  test('is refused with a version twice, an invalid version, and a schema that is too deep', async () => {
    await client.createInterface(ticketing('refused-ticketing'))
    await expect(client.createInterface(ticketing('refused-ticketing'))).rejects.toMatchObject({
      type: 'AlreadyExists',
    })
    await expect(client.createInterface(ticketing('other', { version: '1' }))).rejects.toMatchObject({
      type: 'InvalidPayload',
    })
    let deep: object = {}
    for (let level = 0; level < 150; level += 1) deep = { items: deep }
    const entities = { deep: { schema: deep } }
    await expect(client.createInterface({ name: 'deep', version: '1.0.0', entities })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
  })
})

describe('an integration', () => {
  test('shows the interfaces that it implements, by their names and versions', async () => {
    const { interface: declared } = await client.createInterface(ticketing('implemented-ticketing'))
    const { integration } = await client.createIntegration({ name: 'desk', ...desk(declared.id) })
    expect(integration.interfaces['ticketing<case>']).toEqual({
      id: declared.id,
      name: 'implemented-ticketing',
      version: '1.2.0',
      entities: { ticket: { name: 'case' } },
      actions: { openTicket: { name: 'openCase' } },
      events: { ticketClosed: { name: 'caseClosed' } },
      channels: {},
    })
  })

  test('is refused when it lacks a part of an interface, or the interface does not exist', async () => {
    const { interface: declared } = await client.createInterface(ticketing('required-ticketing'))
    const lacking = desk(declared.id, { events: {} })
    await expect(client.createIntegration({ name: 'lacking', ...lacking })).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringContaining("no event 'caseClosed'"),
    })
    await expect(client.validateIntegrationCreation({ name: 'lacking', ...lacking })).rejects.toMatchObject({
      type: 'InvalidPayload',
    })
    const { interface: foreign } = await stranger.createInterface(ticketing('foreign-ticketing'))
    await expect(client.createIntegration({ name: 'lacking', ...desk(foreign.id) })).rejects.toMatchObject({
      type: 'ReferenceNotFound',
    })
    const { integration } = await client.createIntegration({ name: 'plain', version: '1.0.0', code })
    await expect(
      client.updateIntegration({
        id: integration.id,
        interfaces: { ticketing: desk(declared.id).interfaces['ticketing<case>'] },
      }),
    ).rejects.toMatchObject({ type: 'InvalidPayload' })
  })
})

describe('a plugin', () => {
  test('is created, found and changed, and its code is returned for each kind of machine', async () => {
    const { plugin } = await client.createPlugin(triage('own-triage', 'unknown', { visibility: 'unlisted' }))
    expect(plugin).toMatchObject({ name: 'own-triage', visibility: 'unlisted', public: false, message: { tags: {} } })
    expect(plugin).not.toHaveProperty('code')
    expect((await client.getPlugin({ id: plugin.id })).plugin).toEqual(plugin)
    expect((await client.getPluginByName({ name: 'own-triage', version: 'latest' })).plugin).toEqual(plugin)
    expect(await client.getPluginCode({ id: plugin.id, platform: 'browser' })).toEqual({ code: pluginCode.browser })
    expect(await stranger.getPublicPluginCode({ id: plugin.id, platform: 'node' })).toEqual({ code: pluginCode.node })
    expect((await stranger.getPublicPlugin({ name: 'own-triage', version: 'latest' })).plugin.id).toBe(plugin.id)
    expect((await stranger.listPublicPlugins({})).plugins).toEqual([])
    await client.updatePlugin({ id: plugin.id, visibility: 'private', code: { node: 'two', browser: 'two' } })
    expect(await client.getPluginCode({ id: plugin.id, platform: 'node' })).toEqual({ code: 'two' })
    await expect(stranger.getPublicPluginCode({ id: plugin.id, platform: 'node' })).rejects.toMatchObject({ code: 404 })
    await expect(stranger.getPublicPluginById({ id: plugin.id })).rejects.toMatchObject({ code: 404 })
    await client.deletePlugin({ id: plugin.id })
    await expect(client.getPlugin({ id: plugin.id })).rejects.toMatchObject({ code: 404 })
  })

  test('shows viewers its definition, and its code to developers alone', async () => {
    const { plugin } = await client.createPlugin(triage('unseen-triage', 'unknown'))
    const viewer = await createMember(platform, 'viewer', platform.workspaceId)
    const path = `/v1/admin/plugins/${plugin.id}`
    expect((await platform.ask('GET', path, undefined, viewer)).status).toBe(200)
    expect((await platform.ask('GET', `${path}/code/node`, undefined, viewer)).status).toBe(403)
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    expect((await platform.ask('GET', `${path}/code/node`, undefined, developer)).body).toEqual({
      code: pluginCode.node,
    })
  })

  test('is refused with a schema of its configuration that no bot could use', async () => {
    const configuration = { schema: { type: 'object', properties: { limit: { type: 'nummer' } } } }
    const refusal = {
      type: 'InvalidJsonSchema',
      message: expect.stringContaining('configuration.schema: #/properties/'),
    }
    await expect(client.createPlugin(triage('misspelt', 'unknown', { configuration }))).rejects.toMatchObject(refusal)
    const ofEntity = {
      schema: { type: 'object', properties: { first: { $ref: 'interface:tickets/entities/ticket' } } },
    }
    const { plugin } = await client.createPlugin(triage('spelt', 'unknown', { configuration: ofEntity }))
    expect(plugin.configuration).toEqual(ofEntity)
    await expect(client.updatePlugin({ id: plugin.id, configuration })).rejects.toMatchObject(refusal)
  })

  test('has the entities of the integrations behind its interfaces in place of the references', async () => {
    const { interface: declared } = await client.createInterface(ticketing('dereferenced-ticketing', { public: true }))
    const { integration } = await client.createIntegration({ name: 'dereferenced-desk', ...desk(declared.id) })
    const { plugin } = await client.createPlugin(triage('dereferenced-triage', declared.id, { public: true }))
    const { plugin: found } = await client.getDereferencedPublicPluginById({
      id: plugin.id,
      interfaces: { tickets: integration.id },
    })
    const { properties } = ofObject({ subject: text, severity: { type: 'number' } }).schema
    expect(found.actions['sort']!.input.schema).toMatchObject({ properties: { item: { properties } } })
    expect(found.events['sorted']!.schema).toMatchObject({ properties: { items: { items: { properties } } } })
    const { plugin: without } = await client.getDereferencedPublicPluginById({ id: plugin.id, interfaces: {} })
    expect(without.actions['sort']!.input.schema).toEqual({ type: 'object', properties: { item: {} } })
    await expect(
      stranger.getDereferencedPublicPluginById({ id: plugin.id, interfaces: { tickets: integration.id } }),
    ).rejects.toMatchObject({ type: 'ReferenceNotFound' })
  })
})

/** A bot whose plugin has an integration behind its interface. */
async function openBot(name: string, settings = {}) {
  const { interface: declared } = await client.createInterface(ticketing(`${name}-ticketing`))
  const { integration } = await client.createIntegration({ name: `${name}-desk`, ...desk(declared.id) })
  const { plugin } = await client.createPlugin(triage(`${name}-triage`, declared.id))
  const { bot } = await client.createBot({})
  const triaging = {
    id: plugin.id,
    configuration: { limit: 3 },
    interfaces: { tickets: { integrationId: integration.id, integrationAlias: 'desk' } },
    ...settings,
  }
  return { plugin, integration, declared, id: bot.id, triaging }
}

/** Settings of interfaces that no plugin declares. */
const unknownInterfaces = (begin: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${begin + at}`, { integrationId: 'intver_x' }]))

describe('a bot with a plugin', () => {
  test('shows the plugin, and its declarations under the alias', async () => {
    const { plugin, integration, declared, id, triaging } = await openBot('shown')
    const { bot } = await client.updateBot({ id, plugins: { triage: triaging } })
    expect(bot.plugins['triage']).toMatchObject({
      id: plugin.id,
      name: 'shown-triage',
      version: '0.1.0',
      enabled: true,
      configuration: { limit: 3 },
      interfaces: { tickets: { integrationId: integration.id, integrationAlias: 'desk', interfaceId: declared.id } },
    })
    expect(bot.actions['triage#sort']!.input.schema).toMatchObject({
      properties: { item: { properties: { subject: text, severity: { type: 'number' } } } },
    })
    expect(Object.keys(bot.events)).toEqual(['triage#sorted'])
    expect(Object.keys(bot.states)).toEqual(['triage#queue'])
    expect(bot.conversation.tags).toEqual({ 'triage#urgent': { title: 'Urgent' } })
  })

  test('is found by the names of its plugins and integrations, and the integration by its interface', async () => {
    const { plugin, integration, declared, id, triaging } = await openBot('found')
    const integrations = { desk: { integrationId: integration.id, enabled: false } }
    await client.updateBot({ id, plugins: { triage: triaging }, integrations })
    const botsOf = async (query: object) => (await client.listBots(query)).bots.map((bot) => bot.id)
    expect(await botsOf({ pluginNames: [plugin.name] })).toEqual([id])
    expect(await botsOf({ pluginNames: ['none', plugin.name], integrationNames: [integration.name] })).toEqual([id])
    expect(await botsOf({ pluginNames: [plugin.name], integrationNames: ['none'] })).toEqual([])
    expect(await botsOf({ integrationNames: ['none'] })).toEqual([])
    expect(await botsOf({ integrationNames: ['none', integration.name] })).toEqual([id])
    const integrationsOf = async (query: object) =>
      (await client.listIntegrations(query)).integrations.map((one) => one.id)
    expect(await integrationsOf({ interfaceName: declared.name })).toEqual([integration.id])
    expect(await integrationsOf({ interfaceId: declared.id, verificationStatus: 'unapproved' })).toEqual([
      integration.id,
    ])
    expect(await integrationsOf({ interfaceName: 'none' })).toEqual([])
    expect(await integrationsOf({ interfaceId: declared.id, verificationStatus: 'approved' })).toEqual([])
  })

  test('keeps what clients cannot know to be the plugin’s, and loses it with the plugin', async () => {
    const { id, triaging } = await openBot('derived')
    const definition = { recurringEvents: { sweep: { type: 'sweep', payload: {}, schedule: { cron: '0 * * * *' } } } }
    // As published command lines send it: the whole definition and implementation of the plugin, and null for names
    // that the bot's own definition does not have.
    const sent = { ...triaging, definition, implementation: { type: 'Buffer', data: [1, 2, 3] } }
    await client.updateBot({ id, plugins: { triage: sent } })
    const again = {
      id,
      plugins: { triage: sent },
      actions: { 'triage#sort': null },
      states: { 'triage#queue': null },
      recurringEvents: { 'triage#sweep': null },
    }
    const { bot } = await client.updateBot(again)
    expect([Object.keys(bot.actions), Object.keys(bot.states)]).toEqual([['triage#sort'], ['triage#queue']])
    expect(bot.recurringEvents['triage#sweep']).toMatchObject({ type: 'triage#sweep', schedule: { cron: '0 * * * *' } })
    const { bot: without } = await client.updateBot({ id, plugins: { triage: null } })
    expect([without.plugins, without.actions, without.recurringEvents]).toEqual([{}, {}, {}])
  })

  test('goes on when the plugin or the integration behind it is deleted', async () => {
    const { id, plugin, integration, triaging } = await openBot('orphaned')
    await client.updateBot({ id, plugins: { triage: triaging } })
    await client.deleteIntegration({ id: integration.id })
    expect((await client.getBot({ id })).bot.actions['triage#sort']!.input.schema).toMatchObject({
      properties: { item: {} },
    })
    await client.deletePlugin({ id: plugin.id })
    expect((await client.getBot({ id })).bot.plugins).toEqual({})
  })

  test.each<[string, object, string]>([
    ['a plugin that does not exist', { id: 'pluginver_unknown' }, 'ReferenceNotFound'],
    ['a configuration that its schema refuses', { configuration: {} }, 'InvalidDataFormat'],
    [
      'an integration that does not exist',
      { interfaces: { tickets: { integrationId: 'intver_x' } } },
      'ReferenceNotFound',
    ],
    ['a configuration that is too long', { configuration: { limit: 1, text: 'x'.repeat(30_000) } }, 'LimitExceeded'],
  ])('is refused with %s', async (title, settings, type) => {
    const { id, triaging } = await openBot(title.replaceAll(' ', '-'))
    const plugins = { triage: { ...triaging, ...settings } }
    await expect(client.updateBot({ id, plugins })).rejects.toMatchObject({ type })
  })

  test('is changed in part, and checked as a whole', async () => {
    const { id, plugin, triaging } = await openBot('parts')
    await client.updateBot({ id, plugins: { triage: { ...triaging, enabled: false } } })
    const { bot } = await client.updateBot({ id, plugins: { triage: { id: plugin.id, enabled: true } } })
    expect(bot.plugins['triage']).toMatchObject({ enabled: true, configuration: { limit: 3 } })
    const configuration = { schema: { type: 'object', properties: { limit: { type: 'string' } } } }
    const { plugin: other } = await client.createPlugin(triage('parts-other', 'unknown', { configuration }))
    await expect(client.updateBot({ id, plugins: { triage: { id: other.id } } })).rejects.toMatchObject({
      type: 'InvalidDataFormat',
    })
  })

  test('has a bounded number of interfaces, and those that the plugin does not declare are not looked up', async () => {
    const { id, triaging } = await openBot('bounded')
    const update = (interfaces: object) =>
      platform.ask('PUT', `/v1/admin/bots/${id}`, { plugins: { triage: { ...triaging, interfaces } } })
    expect((await update(unknownInterfaces(0, 31))).body).toMatchObject({ type: 'InvalidPayload' })
    expect((await update(unknownInterfaces(0, 20))).status).toBe(200)
    expect((await update(unknownInterfaces(20, 20))).body).toMatchObject({ type: 'LimitExceeded' })
  })
})

test('references to a large entity do not multiply it beyond a bound', async () => {
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`field${index}`, text]))
  const { interface: declared } = await client.createInterface(ticketing('wide-ticketing'))
  const entities = { case: ofObject(wide) }
  const { integration } = await client.createIntegration({ name: 'wide-desk', ...desk(declared.id, { entities }) })
  const reference = { $ref: 'interface:tickets/entities/ticket' }
  const items = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`item${index}`, reference]))
  const actions = { sort: { input: ofObject(items), output: ofObject({}) } }
  const { plugin } = await client.createPlugin(triage('wide-triage', declared.id, { actions }))
  const found = await platform.ask(
    'GET',
    `/v1/admin/plugins/${plugin.id}/dereferenced?interfaces.tickets=${integration.id}`,
  )
  expect(found.status).toBe(200)
  expect(JSON.stringify(found.body).length).toBeLessThan(3_000_000)
})

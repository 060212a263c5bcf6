import { Client, isApiError } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageOfIntegrations } from '#shared/store/integrations.ts'
import { pageOfPublicIntegrations } from '#shared/store/public-integrations.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const code = `
export async function register() {}
export const actions = { send: () => ({}) }
export const channels = { direct: { messages: { text() {} } } }`

let names = 0
/** Creates an integration of a name of its own. */
async function create(given: object = {}) {
  const { integration } = await client.createIntegration({ name: `shop-${names++}`, version: '1.0.0', code, ...given })
  return integration
}

function refusalOf(call: Promise<unknown>): Promise<object> {
  return call.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => {
      expect(isApiError(error)).toBe(true)
      const { type, message } = error as { type: string; message: string }
      return { type, message }
    },
  )
}

const schema = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] }

describe('an integration, with the published client,', () => {
  test('is created and given back in the full shape that the client reads into', async () => {
    const created = await create({
      title: 'Shop',
      configuration: { schema },
      configurations: { oauth: { identifier: { required: true } } },
      channels: { direct: { messages: { text: { schema: {} } }, conversation: { tags: { id: {} } } } },
      events: { sold: { schema: {} } },
      secrets: { KEY: 'hush' },
    })
    expect(created).toMatchObject({
      name: expect.stringContaining('shop-'),
      version: '1.0.0',
      title: 'Shop',
      description: '',
      configuration: { schema, identifier: { required: false } },
      configurations: { oauth: { schema: {}, identifier: { required: true } } },
      channels: {
        direct: {
          messages: { text: { schema: {} } },
          conversation: { tags: { id: {} }, creation: { enabled: false, requiredTags: [] } },
          message: { tags: {} },
        },
      },
      user: { tags: {}, creation: { enabled: false, requiredTags: [] } },
      events: { sold: { schema: {} } },
      states: {},
      entities: {},
      interfaces: {},
      identifier: {},
      secrets: ['KEY'],
      dev: false,
      public: false,
      visibility: 'private',
      verificationStatus: 'unapproved',
      lifecycleStatus: 'published',
      signingSecret: '',
    })
    expect(created.id).toMatch(/^intver_/)
    expect((await client.getIntegration({ id: created.id })).integration).toEqual(created)
  })

  test('declares what its code offers, also where the definition is silent', async () => {
    const { actions, channels } = await create()
    expect(actions).toEqual({ send: { input: { schema: {} }, output: { schema: {} } } })
    expect(Object.keys(channels)).toEqual(['direct'])
  })

  test('is found by name and version, by a range, and as the latest, which is no pre-release', async () => {
    const name = `handle/shop-${names++}`
    const ids: Record<string, string> = {}
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0', '3.0.0-rc.1']) {
      ids[version] = (await create({ name, version })).id
    }
    const found = async (version: string) => (await client.getIntegrationByName({ name, version })).integration.id
    expect(await found('1.9.0')).toBe(ids['1.9.0'])
    expect(await found('>=1.0.0 <2.0.0')).toBe(ids['1.10.0'])
    expect(await found('<1.0.5')).toBe(ids['1.0.0'])
    expect(await found('latest')).toBe(ids['2.0.0'])
    expect(await found('3.0.0-rc.1')).toBe(ids['3.0.0-rc.1'])
    for (const version of ['4.0.0', '>2.0.0', 'nonsense']) {
      expect(await refusalOf(found(version))).toMatchObject({ type: 'ResourceNotFound' })
    }
  })

  test('whose only versions are pre-releases has a latest one all the same', async () => {
    const { name } = await create({ version: '0.1.0-beta' })
    expect((await client.getIntegrationByName({ name, version: 'latest' })).integration.version).toBe('0.1.0-beta')
  })

  test('changes entry by entry, and null removes an entry', async () => {
    const { id } = await create({
      events: { sold: { schema: {} }, returned: { schema: {} } },
      configuration: { title: 'Access', schema },
      channels: { direct: { title: 'Direct', messages: { text: { schema: {} }, image: { schema: {} } } } },
      secrets: { KEY: 'hush', OTHER: 'hush' },
    })
    const { integration } = await client.updateIntegration({
      id,
      title: 'Renamed',
      events: { returned: null, refunded: { schema: { type: 'object' } } },
      configuration: { schema: { type: 'object', properties: { key: {} } } },
      channels: { direct: { messages: { image: null } } },
      secrets: { OTHER: null, NEW: 'hush' },
    })
    expect(integration).toMatchObject({ title: 'Renamed', secrets: ['KEY', 'NEW'] })
    expect(integration.events).toEqual({ sold: { schema: {} }, refunded: { schema: { type: 'object' } } })
    expect(integration.configuration).toMatchObject({
      title: 'Access',
      schema: { type: 'object', properties: { key: {} } },
    })
    expect(integration.configuration.schema).not.toHaveProperty('required')
    expect(integration.channels['direct']).toMatchObject({ title: 'Direct', messages: { text: {} } })
    expect(integration.channels['direct']!.messages).not.toHaveProperty('image')
  })

  test('gets another code id with other code, and keeps it with the rest', async () => {
    const { id } = await create()
    const codeId = async () => (await platform.context.db('integrations').where({ id }).first())!.code_id
    const before = await codeId()
    await client.updateIntegration({ id, title: 'Renamed' })
    expect(await codeId()).toBe(before)
    await client.updateIntegration({ id, code: 'export const actions = { other() {} }' })
    expect(await codeId()).not.toBe(before)
  })

  test('is listed, the newest first, page by page and by what is asked for', async () => {
    const [first, second] = [await create({ title: 'A Rare Find' }), await create()]
    const developed = await create({ dev: true })
    const pages = client.list.integrations({ pageSize: 1 })
    const listed = []
    for await (const { id } of pages) listed.push(id)
    expect(listed.slice(0, 2)).toEqual([second.id, first.id])
    expect(new Set(listed).size).toBe(listed.length)
    const idsOf = async (query: object) => (await client.listIntegrations(query)).integrations.map(({ id }) => id)
    expect(await idsOf({ name: first.name })).toEqual([first.id])
    expect(await idsOf({ name: first.name, version: '9.9.9' })).toEqual([])
    expect(await idsOf({ search: 'rare f' })).toEqual([first.id])
    expect(await idsOf({ dev: true })).toEqual([developed.id])
    expect(await idsOf({ dev: false })).not.toContain(developed.id)
    expect(listed).not.toContain(developed.id)
    await client.updateIntegration({ id: first.id, title: 'A Rarer Find' })
    expect((await idsOf({ sortBy: 'updatedAt' }))[0]).toBe(first.id)
    const oldest = []
    for await (const { id } of client.list.integrations({ sortBy: 'createdAt', direction: 'asc', pageSize: 2 }))
      oldest.push(id)
    expect(oldest).toEqual(listed.toReversed())
  })

  test('is listed without the parts of its definition that lists do not show', async () => {
    const { id, name } = await create({ title: 'Long', configuration: { schema } })
    const request = { limit: 20, column: 'created_at' } as const
    const { rows } = await pageOfIntegrations(platform.context.db, platform.workspaceId, { name }, request)
    expect(rows).toMatchObject([{ id }])
    expect(rows[0]!.definition).toEqual({ title: 'Long' })
  })

  test('that is private is not read to list the public ones', async () => {
    const { db } = platform.context
    const { id, name } = await create({ visibility: 'public' })
    const transaction = await db.transaction()
    try {
      await transaction.raw(
        `insert into integrations (id, workspace_id, name, version, definition, kind, code_id, hash)
         select 'private' || n, workspace_id, 'private' || n, '1.0.0', '{}', kind, 'private' || n, hash
         from integrations, generate_series(1, 2000) n where id = ?`,
        [id],
      )
      await transaction.raw('analyze integrations')
      const countRead = async () => {
        const { rows } = await transaction.raw<{ rows: { read: number }[] }>(
          `select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_xact_user_tables where relname = 'integrations'`,
        )
        return rows[0]!.read
      }
      const before = await countRead()
      const { rows } = await pageOfPublicIntegrations(transaction, {}, { limit: 20 })
      expect(rows.map((row) => row.name)).toContain(name)
      expect((await countRead()) - before).toBeLessThan(100)
    } finally {
      await transaction.rollback()
    }
  })

  test('is public or private by the field of earlier command lines, unless a visibility is given', async () => {
    const { id, ...created } = await create({ public: true })
    expect([created.visibility, created.public]).toEqual(['public', true])
    const update = async (change: object) => {
      const { integration } = await client.updateIntegration({ id, ...change })
      return [integration.visibility, integration.public]
    }
    expect(await update({ title: 'Renamed' })).toEqual(['public', true])
    expect(await update({ public: false })).toEqual(['private', false])
    expect(await update({ visibility: 'unlisted', public: true })).toEqual(['unlisted', false])
    expect(await update({ public: false })).toEqual(['unlisted', false])
  })

  test('is gone when it is deleted', async () => {
    const { id } = await create()
    await client.deleteIntegration({ id })
    expect(await refusalOf(client.getIntegration({ id }))).toMatchObject({ type: 'ResourceNotFound' })
    expect(await refusalOf(client.deleteIntegration({ id }))).toMatchObject({ type: 'ResourceNotFound' })
  })

  test('may be tried before it is created or changed, and nothing is', async () => {
    const { id, name, version } = await create()
    await client.validateIntegrationCreation({ name: 'tried', version, code })
    await client.validateIntegrationUpdate({ id, title: 'Tried' })
    expect((await client.listIntegrations({ name: 'tried' })).integrations).toEqual([])
    expect((await client.getIntegration({ id })).integration.title).toBe(name)
    const broken = { code: 'export const actions = 42' }
    for (const attempt of [
      () => client.validateIntegrationCreation({ name: 'tried', version, ...broken }),
      () => client.validateIntegrationUpdate({ id, ...broken }),
    ]) {
      expect(await refusalOf(attempt())).toMatchObject({ type: 'InvalidPayload' })
    }
  })
})

test('code of an integration that has no function left does not replace what has some', async () => {
  const { id } = await create({ code: `export const actions = { order() {} }\nexport const channels = { chat() {} }` })
  const { db } = platform.context
  const before = await db('integrations').where({ id }).first()
  for (const attempt of [
    () => client.updateIntegration({ id, code: 'export const actions = {}' }),
    () => client.validateIntegrationUpdate({ id, code: 'export const actions = {}' }),
  ]) {
    expect(await refusalOf(attempt())).toMatchObject({
      type: 'BreakingChanges',
      message: expect.stringContaining('the action order, the channel chat'),
    })
  }
  expect(await refusalOf(client.updateIntegration({ id, code: 'const actions = {}' }))).toMatchObject({
    type: 'InvalidPayload',
    message: expect.stringContaining('exports nothing'),
  })
  expect(await db('integrations').where({ id }).first()).toEqual(before)
  await client.updateIntegration({ id, code: 'export function register() {}' })
})

describe('an integration is refused', () => {
  test.each([
    ['with a name that no address can hold', { name: 'My Shop' }, 'InvalidPayload'],
    ['with the name of the chat', { name: 'chat' }, 'AlreadyExists'],
    ['with a version that is none', { version: '1.0' }, 'InvalidPayload'],
    ['with a version that is written in another way', { version: 'v1.0.0' }, 'InvalidPayload'],
    ['without code', { code: undefined }, 'InvalidPayload'],
    ['with code that does not parse', { code: 'export const = 1' }, 'InvalidPayload'],
    ['with a schema that is none', { configuration: { schema: { type: 'nonsense' } } }, 'InvalidJsonSchema'],
    ['with a schema that lies elsewhere', { configurations: { a: { schema: { $ref: 'x' } } } }, 'InvalidJsonSchema'],
    ['with a secret that no environment can hold', { secrets: { 'A-B': 'x' } }, 'InvalidPayload'],
    ['that is endlessly long', { configuration: { schema: { title: 'x'.repeat(1024 * 1024) } } }, 'LimitExceeded'],
  ])('%s', async (_what, given, type) => {
    expect(await refusalOf(create(given))).toMatchObject({ type })
  })

  test('in a version that there is already', async () => {
    const { name } = await create()
    expect(await refusalOf(create({ name }))).toMatchObject({ type: 'AlreadyExists' })
  })
})

test('an integration of another workspace does not exist', async () => {
  const { id, name } = await create()
  const stranger = await createMember(platform, 'owner')
  const path = `/v1/admin/integrations/${id}`
  for (const [method, at, body] of [
    ['GET', path],
    ['GET', `/v1/admin/integrations/${name}/1.0.0`],
    ['PUT', path, { title: 'mine' }],
    ['PUT', `${path}/validate`, {}],
    ['DELETE', path, {}],
    ['GET', `/v1/admin/integrations/iaks?integrationId=${id}`],
    ['POST', '/v1/admin/integrations/iaks', { integrationId: id }],
  ] as const) {
    const answer = await platform.ask(method, at, body, stranger)
    expect({ method, at, ...answer }).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
  }
  const listed = await platform.ask('GET', '/v1/admin/integrations', undefined, stranger)
  expect(listed.body).toEqual({ integrations: [], meta: {} })
  // The same name is free there.
  expect(
    await platform.ask('POST', '/v1/admin/integrations', { name, version: '1.0.0', code }, stranger),
  ).toMatchObject({
    status: 200,
  })
})

test('a viewer may look at integrations and not change them', async () => {
  const { id } = await create()
  const viewer = await createMember(platform, 'viewer', platform.workspaceId)
  expect(await platform.ask('GET', `/v1/admin/integrations/${id}`, undefined, viewer)).toMatchObject({ status: 200 })
  const changed = await platform.ask('PUT', `/v1/admin/integrations/${id}`, { title: 'x' }, viewer)
  expect(changed).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
})

test('the secrets of an integration are nowhere in its row in plain text', async () => {
  const { id } = await create({ secrets: { KEY: 'hush-hush' } })
  const row = await platform.context.db('integrations').where({ id }).first()
  expect(JSON.stringify(row)).not.toContain('hush-hush')
})

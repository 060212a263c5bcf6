import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installCode } from '../../../support/install-code.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const echo = 'export const hooks = { async afterIncomingMessage() {} }'

describe('listBots', () => {
  test('gives exactly the fields of the specification, newest first, page by page', async () => {
    const workspace = await createMember(platform, 'owner')
    const created = []
    for (let index = 0; index < 23; index++) {
      created.push((await platform.ask('POST', '/v1/admin/bots', { name: `bot ${index}` }, workspace)).body.bot)
    }
    const first = await platform.ask('GET', '/v1/admin/bots', undefined, workspace)
    expect(first.status).toBe(200)
    const second = await platform.ask(
      'GET',
      `/v1/admin/bots?nextToken=${first.body.meta.nextToken}`,
      undefined,
      workspace,
    )
    expect(second.body.meta).toEqual({})
    const listed = [...first.body.bots, ...second.body.bots]
    expect(listed).toEqual(
      created
        .toReversed()
        .map(({ id, createdAt, updatedAt, name, deployedAt }) => ({ id, createdAt, updatedAt, name, deployedAt })),
    )
    expect(first.body.bots).toHaveLength(20)
  })

  test('answers with an empty page where there are none', async () => {
    const { body } = await platform.ask('GET', '/v1/admin/bots', undefined, await createMember(platform, 'viewer'))
    expect(body).toEqual({ bots: [], meta: {} })
  })

  test.each([
    ['no token', { authorization: undefined }],
    ['a token that is none', { authorization: 'Bearer nonsense' }],
    ['a token of another scheme', { authorization: 'Basic abc' }],
    ['no workspace', { 'x-workspace-id': undefined }],
    ['a workspace that is none', { 'x-workspace-id': 'wkspace_none' }],
  ])('is refused with 401 with %s', async (_what, headers) => {
    const answer = await platform.ask('GET', '/v1/admin/bots', undefined, headers)
    expect(answer).toMatchObject({ status: 401, body: { code: 401, type: 'Unauthorized' } })
  })

  test('is refused with 403 to who is no member of the workspace', async () => {
    const { authorization } = await createMember(platform, 'owner')
    const answer = await platform.ask('GET', '/v1/admin/bots', undefined, { authorization })
    expect(answer).toMatchObject({ status: 403, body: { code: 403, type: 'Forbidden' } })
  })

  test('refuses a page token that is none', async () => {
    expect(await platform.ask('GET', '/v1/admin/bots?nextToken=x')).toMatchObject({
      status: 400,
      body: { type: 'InvalidQuery' },
    })
  })
})

describe('a member', () => {
  test('of the role viewer may look and not change', async () => {
    const viewer = await createMember(platform, 'viewer')
    expect(await platform.ask('POST', '/v1/admin/bots', {}, viewer)).toMatchObject({
      status: 403,
      body: { type: 'Forbidden' },
    })
    expect(await platform.ask('GET', '/v1/admin/bots', undefined, viewer)).toMatchObject({ status: 200 })
  })

  test('finds the workspace without knowing its id', async () => {
    const member = await createMember(platform, 'developer')
    const { body } = await platform.ask('GET', '/v1/admin/workspaces', undefined, {
      ...member,
      'x-workspace-id': undefined,
    })
    expect(body.workspaces.map(({ id }: { id: string }) => id)).toEqual([member['x-workspace-id']])
  })
})

describe('a bot', () => {
  test('of another workspace does not exist', async () => {
    const { id } = await platform.createBot()
    const stranger = await createMember(platform, 'owner')
    for (const [method, body] of [['GET'], ['PUT', { name: 'mine' }], ['DELETE']] as const) {
      const answer = await platform.ask(method, `/v1/admin/bots/${id}`, body, stranger)
      expect(answer).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
    }
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).status).toBe(200)
  })

  test('has a chat from the start', async () => {
    const { body } = await platform.ask('POST', '/v1/admin/bots', {
      name: 'new',
      permissions: { net: ['*.example.org'] },
    })
    const { webhookId, webhookUrl } = body.bot.integrations.chat
    expect(webhookUrl).toBe(`${platform.url}/chat/${webhookId}`)
    expect((await fetch(`${webhookUrl}/hello`)).status).toBe(200)
    expect(body.bot).toMatchObject({ name: 'new', permissions: { net: ['*.example.org'] } })
    expect((await platform.ask('GET', `/v1/admin/bots/${body.bot.id}`)).body).toEqual(body)
  })

  test('is gone with all that belongs to it when it is deleted', async () => {
    const { id, chatUrl } = await platform.createBot(echo)
    expect(await platform.ask('DELETE', `/v1/admin/bots/${id}`, {})).toMatchObject({ status: 200, body: {} })
    expect(await platform.ask('GET', `/v1/admin/bots/${id}`)).toMatchObject({ status: 404 })
    expect((await fetch(`${chatUrl}/hello`)).status).toBe(404)
  })

  test.each(['bot', 'integration'])(
    'is deleted with more rows than one statement deletes in its time: the %s',
    async (what) => {
      const { id } = await platform.createBot(echo)
      const tool = await installCode(platform, id, 'export function handler() {}')
      const { db } = platform.context
      const place = `select bot_id, id as place, number::text from installations, generate_series(1, 24000) number
        where webhook_id = :webhookId`
      const fill = (statement: string, part = '') =>
        db.raw(`with numbers as (${place}) ${statement}`, { webhookId: tool.webhookId, id, part })
      await fill(
        `insert into users (id, bot_id, installation_id) select :id || 'u' || number, bot_id, place from numbers`,
      )
      await fill(
        `insert into conversations (id, bot_id, installation_id, channel, owner_id)
         select :id || 'c' || number, bot_id, place, 'channel', :id || 'u' || number from numbers`,
      )
      await db.raw('analyze users, conversations')
      for (const part of ['1', '2', '3', '4']) {
        await fill(
          `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
           select :id || 'm' || :part || number, bot_id, :id || 'c' || number, :id || 'u' || number, 'text', '{}',
             'incoming', now(), now() from numbers`,
          `${part}-`,
        )
        await fill(
          `insert into events (id, bot_id, mailbox, conversation_id, type, payload, status)
           select :id || 'e' || :part || number, bot_id, :id || 'c' || number, :id || 'c' || number, 'x', '{}', 'processed'
           from numbers`,
          `${part}-`,
        )
      }
      // As the server does soon after so many rows.
      await db.raw('analyze messages, events')
      const deleted =
        what === 'bot'
          ? await platform.ask('DELETE', `/v1/admin/bots/${id}`, {})
          : await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { tool: null } })
      expect(deleted.status).toBe(200)
      for (const table of ['conversations', 'messages', 'events', 'users']) {
        expect((await db(table).where({ bot_id: id }).whereLike('id', `${id}_%`)).length).toBe(0)
      }
    },
    180_000,
  )

  test('is deleted in smaller parts where a statement takes too long', async () => {
    const { id } = await platform.createBot(echo)
    const { db } = platform.context
    await db.raw(
      `insert into users (id, bot_id, installation_id)
       select bot_id || 'v' || n, bot_id, id from installations, generate_series(1, 1500) n where bot_id = ?`,
      [id],
    )
    // As the server ends a statement by its time limit.
    await db.raw(
      `create function refuse_many() returns trigger language plpgsql as $$ begin
         if (select count(*) > 300 from gone) then raise exception using errcode = '57014', message = 'too long'; end if;
         return null;
       end $$`,
    )
    await db.raw(
      `create trigger refuse_many after delete on users referencing old table as gone
       for each statement execute function refuse_many()`,
    )
    try {
      expect(await platform.ask('DELETE', `/v1/admin/bots/${id}`, {})).toMatchObject({ status: 200 })
    } finally {
      await db.raw('drop function refuse_many cascade')
    }
    expect(await db('users').where({ bot_id: id })).toEqual([])
  })

  test('is refused with permissions that are none', async () => {
    for (const host of ['http://example.org/', 'example.org:0', 'example.org:65536', '*:99999']) {
      const answer = await platform.ask('POST', '/v1/admin/bots', { permissions: { net: [host] } })
      expect(answer).toMatchObject({
        status: 400,
        body: {
          type: 'InvalidPayload',
          message: expect.stringMatching(/: A host without a scheme or a path, .*65535$/),
        },
      })
    }
    const net = ['example.org', 'example.org:0443', '*:65535', '*.example.org:1']
    expect(await platform.ask('POST', '/v1/admin/bots', { permissions: { net } })).toMatchObject({ status: 200 })
  })
})

describe('an upload', () => {
  test('becomes a version of its own and goes into service', async () => {
    const { id } = await platform.createBot(echo)
    const before = (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot
    expect(before.version).toMatchObject({ hooks: ['afterIncomingMessage'], actions: [] })
    const typed =
      'export const actions = { greet: (args: { input: { name: string } }): object => ({ text: args.input.name }) }'
    const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${id}`, { code: typed })
    expect(status).toBe(200)
    expect(body.bot.version).toMatchObject({ hooks: [], actions: ['greet'] })
    expect(body.bot.version.id).not.toBe(before.version.id)
    expect(Date.parse(body.bot.deployedAt)).toBeGreaterThan(Date.parse(before.deployedAt))
    const { db } = platform.context
    const bundles = db('bundles').join('bot_versions', 'bundle_id', 'bundles.id').where({ bot_id: id })
    expect(await bundles.pluck('bundles.source')).toEqual(expect.arrayContaining([echo, typed]))
  })

  test.each([
    ['does not parse', 'export const hooks = {\n  async afterIncomingMessage( { }\n}', 3, 1],
    [
      'throws while it loads',
      'const fine = 1\nconst broken: number = (undefined as any).length\nexport const hooks = {}',
      2,
      43,
    ],
    ['declares an unknown hook', 'export const hooks = {\n  beforeLunch() {},\n}', 2, 3],
    ['declares a hook that is no function', 'export const hooks = {\n\n  afterTurnEnd: 42,\n}', 3, 3],
    ['imports what is not in it', "export const actions = {}\nimport pad from 'left-pad'\npad('a')", 2, 17],
    ['imports what isolates lack', "export const actions = {}\nimport { test } from 'node:test'\ntest()", 2, undefined],
    [
      'reads a file while it loads',
      "export const actions = {}\nimport fs from 'node:fs'\nfs.readFileSync('/etc/passwd')",
      3,
      4,
    ],
    ['asks for retries that cannot be', 'export const retry = { attempts: 1000 }\nexport const hooks = {}', 1, 14],
  ])('that %s is refused with its position, and the deployed version stays', async (_what, code, line, column) => {
    const { id } = await platform.createBot(echo)
    const before = (await platform.ask('GET', `/v1/admin/bots/${id}`)).body
    const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${id}`, { code })
    expect({ status, type: body.type, metadata: body.metadata }).toMatchObject({
      status: 400,
      type: 'InvalidPayload',
      metadata: { file: 'bot.ts', line, ...(column && { column }) },
    })
    expect(body.message).toMatch(/^bot\.ts:\d+:\d+: /)
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body).toEqual(before)
  })

  test('that loops while it loads is refused, and the next one is looked at', async () => {
    const bots = await platform.ask('GET', '/v1/admin/bots')
    const answer = await platform.ask('POST', '/v1/admin/bots', { code: 'for (;;) {}' })
    expect(answer).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    expect((await platform.ask('GET', '/v1/admin/bots')).body).toEqual(bots.body)
    await platform.createBot(echo)
  })

  test.each([
    [
      'const hooks = { afterIncomingMessage() {} }',
      /exports nothing\. A bot exports at least one of hooks and actions/,
    ],
    ['export default { hooks: { afterIncomingMessage() {} } }', /exports nothing that the platform calls, but default/],
  ])('that exports none of its hooks is refused, and the deployed version stays: %s', async (code, message) => {
    const { id } = await platform.createBot(echo)
    const before = (await platform.ask('GET', `/v1/admin/bots/${id}`)).body
    const refused = await platform.ask('PUT', `/v1/admin/bots/${id}`, { code })
    expect(refused).toMatchObject({
      status: 400,
      body: { type: 'InvalidPayload', message: expect.stringMatching(message), metadata: { file: 'bot.ts' } },
    })
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body).toEqual(before)
  })

  test('without hooks and actions replaces a version that has some only if that is said', async () => {
    const hooks = 'export const hooks = { afterIncomingMessage() {}, afterTurnEnd() {} }\n'
    const { id } = await platform.createBot(`${hooks}export const actions = { greet() {} }`)
    const path = `/v1/admin/bots/${id}`
    const before = (await platform.ask('GET', path)).body
    const empty = { code: 'export const hooks = {}' }
    const lost = { hooks: ['afterIncomingMessage', 'afterTurnEnd'], actions: ['greet'] }
    for (const body of [empty, { ...empty, allowNoHooks: false }]) {
      const refused = await platform.ask('PUT', path, body)
      expect(refused).toMatchObject({ status: 400, body: { type: 'BreakingChanges', metadata: lost } })
      expect(refused.body.message).toContain('afterIncomingMessage, afterTurnEnd, the action greet')
    }
    const deaf = { code: 'export const actions = { greet() {} }', allowNoHooks: false }
    expect(await platform.ask('PUT', path, deaf)).toMatchObject({
      status: 400,
      body: { type: 'BreakingChanges', metadata: { ...lost, actions: [] } },
    })
    expect((await platform.ask('GET', path)).body).toEqual(before)

    expect((await platform.ask('PUT', path, { ...empty, allowNoHooks: true })).body.bot.version.hooks).toEqual([])
    // There is nothing left to lose.
    expect((await platform.ask('PUT', path, { code: 'export const actions = {}' })).status).toBe(200)
  })

  test('may be an ES module of plain JavaScript or a CommonJS one', async () => {
    const { id } = await platform.createBot('module.exports = { hooks: { afterTurnEnd() {} } }')
    expect((await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.version.hooks).toEqual(['afterTurnEnd'])
  })
})

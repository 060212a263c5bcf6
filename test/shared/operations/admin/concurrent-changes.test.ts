import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Knex } from 'knex'
import { newId } from '#shared/ids.ts'
import { insertMember, insertWorkspace } from '#shared/store/accounts.ts'
import { moveBot } from '#shared/store/bots.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { insertSession } from '#shared/store/inbox.ts'
import { recordMessageNews } from '#shared/store/inbox-webhooks.ts'
import { lockIntegration } from '#shared/store/integrations.ts'
import { lockWorkspaces } from '#shared/store/workspaces.ts'
import { insertUser } from '#shared/store/users.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { countLockWaits } from '../../../support/databases.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Answer, type Platform } from '../../../support/platform.ts'

/** Two changes at once: a transaction of the test holds a lock, so that the order of their statements is certain. */

let platform: Platform
/** Connections for the transactions of the test, beside those of the platform. */
let db: Database
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  db = openDatabase({ ...platform.context.config.database, poolSize: 10 })
})
afterAll(async () => {
  await db.destroy()
  await platform[Symbol.asyncDispose]()
})

const patience = { timeout: 10_000, interval: 20 }

const waiting = () => countLockWaits(db)

async function createWorkspace(): Promise<string> {
  return (await platform.ask('POST', '/v1/admin/workspaces', { name: 'Another' })).body.id
}

const inWorkspace = (id: string) => ({ 'x-workspace-id': id })

/** Creates an integration whose code is elsewhere. */
async function createTool(workspaceId = platform.workspaceId): Promise<string> {
  const tool = { name: `tool-${randomUUID()}`, version: '1.0.0', dev: true, url: 'https://one.example' }
  return (await platform.ask('POST', '/v1/admin/integrations', tool, inWorkspace(workspaceId))).body.integration.id
}

/** Makes an integration one that a worker has compiled, and that every workspace or only its own can use. */
async function setVisibility(on: Database, id: string, visibility: 'public' | 'private'): Promise<void> {
  await on('integrations')
    .where({ id })
    .update({ url: null, definition: on.raw(`definition || ?::jsonb`, [JSON.stringify({ visibility })]) })
}

/** Keeps an integration from being installed until the transaction ends. */
async function hold(id: string, workspaceId = platform.workspaceId): Promise<Knex.Transaction> {
  const transaction = await db.transaction()
  expect(await lockIntegration(transaction, workspaceId, id)).toBeDefined()
  return transaction
}

const installed = (integrationId: string) => ({ integrationId, enabled: false })

test('a workspace in which a bot is being created is not deleted', async () => {
  const workspaceId = await createWorkspace()
  const toolId = await createTool(workspaceId)
  const holder = await hold(toolId, workspaceId)
  const integrations = { tool: installed(toolId) }
  const creation = platform.ask('POST', '/v1/admin/bots', { integrations }, inWorkspace(workspaceId))
  await expect.poll(waiting, patience).toBe(1)
  const path = `/v1/admin/workspaces/${workspaceId}`
  const deletion = platform.ask('DELETE', path, {}, inWorkspace(workspaceId))
  await expect.poll(waiting, patience).toBe(2)
  await holder.commit()
  const { status, body } = await creation
  expect(status).toBe(200)
  expect(await deletion).toMatchObject({ status: 409, body: { type: 'ReferenceConstraint' } })
  const found = await platform.ask('GET', `/v1/admin/bots/${body.bot.id}`, undefined, inWorkspace(workspaceId))
  expect(found.status).toBe(200)
})

test('a workspace whose integration another one is installing is not deleted', async () => {
  const workspaceId = await createWorkspace()
  const publishedId = await createTool(workspaceId)
  await setVisibility(db, publishedId, 'public')
  const toolId = await createTool()
  const bot = await platform.createBot()
  const holder = await hold(toolId)
  const integrations = { published: installed(publishedId), tool: installed(toolId) }
  const installation = platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  await expect.poll(waiting, patience).toBe(1)
  const deletion = platform.ask('DELETE', `/v1/admin/workspaces/${workspaceId}`, {}, inWorkspace(workspaceId))
  await expect.poll(waiting, patience).toBe(2)
  await holder.commit()
  expect(await installation).toMatchObject({ status: 200 })
  expect(await deletion).toMatchObject({
    status: 409,
    body: { type: 'ReferenceConstraint', message: expect.stringContaining('Bots of other workspaces') },
  })
})

test('an account that becomes the owner of another workspace meanwhile is not deleted', async () => {
  const member = await createMember(platform, 'developer', platform.workspaceId)
  const accountId = (await platform.ask('GET', '/v1/admin/account/me', undefined, member)).body.account.id as string
  const workspaceId = newId('wkspace')
  const creation = await db.transaction()
  await insertWorkspace(creation, { id: workspaceId, name: 'Just created' })
  await insertMember(creation, { workspaceId, accountId, role: 'owner' })
  const deletion = platform.ask('POST', '/v1/admin/account/me', {}, member)
  await expect.poll(waiting, patience).toBe(1)
  await creation.commit()
  expect(await deletion).toMatchObject({ status: 409, body: { type: 'ResourceLockedConflict' } })
  expect(await db('members').where({ account_id: accountId }).pluck('workspace_id')).toHaveLength(2)
  // The next attempt names the workspace.
  const { body } = await platform.ask('POST', '/v1/admin/account/me', {}, member)
  expect(body).toMatchObject({ type: 'ReferenceConstraint', message: expect.stringContaining(workspaceId) })
})

test('an inbox in which a session begins meanwhile is not removed', async () => {
  const bot = await platform.createBot()
  const { body } = await platform.ask('GET', '/v1/admin/hub/integrations/inbox/latest')
  const inbox = { integrationId: body.integration.id, enabled: true, configuration: {} }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { inbox } })
  const row = await db('installations').where({ bot_id: bot.id, alias: 'inbox' }).first('id')
  const installationId = row!.id
  const userId = newId('user')
  await insertUser(db, { id: userId, botId: bot.id, installationId })
  const [handoverId, conversationId] = [newId('handover'), newId('conv')]
  const start = await db.transaction()
  const session = { handoverId, conversationId, botId: bot.id, installationId, channel: 'hitl', userId, messages: [] }
  await insertSession(start, session)
  const removal = platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { inbox: null } })
  await expect.poll(waiting, patience).toBe(1)
  await start.commit()
  expect(await removal).toMatchObject({ status: 409, body: { type: 'ReferenceConstraint' } })
  expect(await db('handovers').where({ id: handoverId }).pluck('status')).toEqual(['pending'])
})

test('an integration that its workspace makes private meanwhile is not installed in another one', async () => {
  const workspaceId = await createWorkspace()
  const publishedId = await createTool(workspaceId)
  await setVisibility(db, publishedId, 'public')
  const bot = await platform.createBot()
  const holder = await hold(publishedId, workspaceId)
  const integrations = { published: installed(publishedId) }
  const installation = platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  await expect.poll(waiting, patience).toBe(1)
  await setVisibility(holder, publishedId, 'private')
  await holder.commit()
  expect(await installation).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound' } })
  expect(await db('installations').where({ integration_id: publishedId })).toEqual([])
})

test('a bot is not transferred without an integration that becomes private meanwhile', async () => {
  const publishedId = await createTool()
  await setVisibility(db, publishedId, 'public')
  const bot = await platform.createBot(undefined, { integrations: { published: installed(publishedId) } })
  const targetWorkspaceId = await createWorkspace()
  const holder = await hold(publishedId)
  const transfer = platform.ask('POST', `/v1/admin/bots/${bot.id}/transfer`, { targetWorkspaceId })
  await expect.poll(waiting, patience).toBe(1)
  await setVisibility(holder, publishedId, 'private')
  await holder.commit()
  expect(await transfer).toMatchObject({ status: 409, body: { metadata: { aliases: ['published'] } } })
})

test('two changes of a bot at once do not give it more plugins than it may have', async () => {
  const bot = await platform.createBot()
  const code = { node: 'exports.node = 1', browser: 'exports.browser = 1' }
  const { body } = await platform.ask('POST', '/v1/admin/plugins', { name: 'often', version: '1.0.0', code })
  const plugins = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${prefix}${index}`, { id: body.plugin.id }]))
  const holder = await db.transaction()
  await holder('bots').where({ id: bot.id }).forUpdate().first('id')
  const path = `/v1/admin/bots/${bot.id}`
  const changes = ['one', 'other'].map((prefix) => platform.ask('PUT', path, { plugins: plugins(prefix) }))
  await expect.poll(waiting, patience).toBe(2)
  await holder.commit()
  const answers = (await Promise.all(changes)).toSorted((one, other) => one.status - other.status)
  expect(answers).toMatchObject([{ status: 200 }, { status: 413, body: { type: 'LimitExceeded' } }])
  const { body: changed } = await platform.ask('GET', path)
  expect(Object.keys(changed.bot.plugins)).toHaveLength(20)
})

test('a handover begins, and ends, while the webhook of the inbox is removed', async () => {
  const workspaceId = await createWorkspace()
  const { body } = await platform.ask('POST', '/v1/admin/bots', {}, inWorkspace(workspaceId))
  const { id: botId, integrations } = body.bot
  const user = await createChatUser(integrations.chat.webhookUrl)
  const conversationId = await user.createConversation()
  const webhook = { url: 'https://one.example' }
  const whileRemoved = async (act: () => Promise<Answer>) => {
    await platform.ask('PUT', '/v1/admin/inbox-webhook', webhook, inWorkspace(workspaceId))
    const removal = await db.transaction()
    await removal('inbox_webhooks').where({ workspace_id: workspaceId }).delete()
    const change = act()
    await expect.poll(waiting, patience).toBe(1)
    await removal.commit()
    return change
  }
  const path = `/v1/admin/bots/${botId}`
  const begun = await whileRemoved(() =>
    platform.ask('POST', `${path}/conversations/${conversationId}/handover`, {}, inWorkspace(workspaceId)),
  )
  expect(begun).toMatchObject({ status: 200 })
  await user.send(conversationId, 'hello')
  const ended = await whileRemoved(() =>
    platform.ask('POST', `${path}/handovers/${begun.body.handover.id}/resolve`, {}, inWorkspace(workspaceId)),
  )
  expect(ended).toMatchObject({ status: 200 })
  expect(await db('inbox_news').where({ workspace_id: workspaceId })).toEqual([])
})

test('a message of the user of a handover is recorded while the webhook of the inbox is removed', async () => {
  const bot = await platform.createBot()
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const path = `/v1/admin/bots/${bot.id}/conversations/${conversationId}/handover`
  const { id: handoverId } = (await platform.ask('POST', path, {})).body.handover
  await user.send(conversationId, 'hello')
  const message = await db('messages').where({ conversation_id: conversationId }).first('id')
  await platform.ask('PUT', '/v1/admin/inbox-webhook', { url: 'https://one.example' })
  const removal = await db.transaction()
  await removal('inbox_webhooks').where({ workspace_id: platform.workspaceId }).delete()
  const recording = recordMessageNews(platform.context.db, { handoverId, messageId: message!.id })
  await expect.poll(waiting, patience).toBe(1)
  await removal.commit()
  expect(await recording).toBeUndefined()
})

test.for([
  ['plugins', { code: { node: 'exports.node = 1', browser: 'exports.browser = 1' } }],
  ['interfaces', { entities: {}, actions: {}, events: {}, channels: {} }],
] as const)(
  'of two workspaces that publish a name of %s at once, one goes on publishing it',
  async ([table, fields]) => {
    const workspaces = [await createWorkspace(), await createWorkspace()]
    const publish = (workspaceId: string, version: string) =>
      platform.ask(
        'POST',
        `/v1/admin/${table}`,
        { name: 'popular', version, public: true, ...fields },
        inWorkspace(workspaceId),
      )
    const holder = await db.transaction()
    await holder('workspaces').whereIn('id', workspaces).forUpdate().select('id')
    const first = workspaces.map((id) => publish(id, '1.0.0'))
    await expect.poll(waiting, patience).toBe(2)
    await holder.commit()
    expect(await Promise.all(first)).toMatchObject([{ status: 200 }, { status: 200 }])
    const [owner] = await db(table).where({ name: 'popular' }).orderBy(['created_at', 'id']).pluck('workspace_id')
    const other = workspaces.find((id) => id !== owner)!
    expect(await publish(owner!, '1.1.0')).toMatchObject({ status: 200 })
    expect(await publish(other, '1.1.0')).toMatchObject({ status: 409, body: { type: 'AlreadyExists' } })
  },
)

test('an erasure is refused for a bot that moves to another workspace meanwhile', async () => {
  const bot = await platform.createBot()
  const to = await createWorkspace()
  const transfer = await db.transaction()
  await lockWorkspaces(transfer, [platform.workspaceId, to])
  const erasure = platform.ask('POST', '/v1/admin/users/erase', { botId: bot.id, emails: ['ada@example.com'] })
  await expect.poll(waiting, patience).toBe(1)
  await moveBot(transfer, { id: bot.id, from: platform.workspaceId, to })
  await transfer.commit()
  expect(await erasure).toMatchObject({ status: 404, body: { message: expect.stringContaining(bot.id) } })
  expect(await db('data_requests').where({ bot_id: bot.id })).toEqual([])
})

test.for(['takes over', 'assigns'])(
  'a member %s no conversation of a bot that moves to another workspace meanwhile',
  async (how) => {
    const bot = await platform.createBot()
    const targetWorkspaceId = await createWorkspace()
    const conversationId = await (await createChatUser(bot.chatUrl)).createConversation()
    const handedOver = { 'x-bot-id': bot.id }
    const { body } = await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, handedOver)
    const handoverId = body.handover.id as string
    const member = await createMember(platform, 'developer', platform.workspaceId)
    const { account } = (await platform.ask('GET', '/v1/admin/account/me', undefined, member)).body
    const holder = await db.transaction()
    await holder('members').where({ account_id: account.id }).forUpdate().first('role')
    const path = `/v1/admin/bots/${bot.id}`
    const change =
      how === 'assigns'
        ? platform.ask('PUT', `${path}/handovers/${handoverId}/member`, { memberId: account.id }, member)
        : platform.ask('POST', `${path}/conversations/${conversationId}/handover`, {}, member)
    await expect.poll(waiting, patience).toBe(1)
    expect(await platform.ask('POST', `${path}/transfer`, { targetWorkspaceId })).toMatchObject({ status: 200 })
    await holder.commit()
    expect(await change).toMatchObject({ status: 404 })
    expect(await db('handovers').where({ id: handoverId }).pluck('account_id')).toEqual([null])
  },
)

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { knex, type Knex } from 'knex'
import { newId, newWebhookId } from '#shared/ids.ts'
import { ApiError } from '#shared/errors.ts'
import { once } from '#shared/rpc/journal.ts'
import { query, transact, type Database } from '#shared/store/database.ts'
import { insertInstallation } from '#shared/store/installations.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { takeIdentifier } from '#shared/store/registrations.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { countLockWaits } from '../../support/databases.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { installWebchat } from '../../support/webchat.ts'

let platform: Platform
/** Connections whose statements look for a deadlock, and are then taken back, after three seconds. */
let db: Database
let first: string
let second: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  const { url } = platform.context.config.database
  db = knex({ client: 'pg', connection: { connectionString: url, options: '-c deadlock_timeout=3s' } })
  const chatUser = await createChatUser((await platform.createBot()).chatUrl)
  first = await chatUser.createConversation()
  second = await chatUser.createConversation()
})
afterAll(async () => {
  await db.destroy()
  await platform[Symbol.asyncDispose]()
})

const patience = { timeout: 2500, interval: 20 }

/** Begins a transaction that does not look for deadlocks before the statements of the others have. */
async function beginPatient(): Promise<Knex.Transaction> {
  const transaction = await db.transaction()
  await transaction.raw(`set local deadlock_timeout = '60s'`)
  return transaction
}

/** Creates an integration whose code is elsewhere, for instance to be installed several times. */
async function createTool(): Promise<{ name: string; integrationId: string }> {
  const name = `tool-${randomUUID()}`
  const { body } = await platform.ask('POST', '/v1/admin/integrations', {
    name,
    version: '1.0.0',
    dev: true,
    url: 'https://one.example',
  })
  return { name, integrationId: body.integration.id }
}

/** Locks the one conversation and then the other. */
const lockBoth = `
  with one as (update conversations set sequence = sequence + 1 where id = :one returning id)
  update conversations set sequence = sequence + 1 where id = :other and exists (select from one) returning id`

const waiting = () => countLockWaits(db)

test('a statement that is taken back because of a deadlock is repeated, and what it changes is changed once', async () => {
  const transaction = await beginPatient()
  await transaction('conversations').where({ id: second }).increment('sequence')
  const statement = query(db, lockBoth, { one: first, other: second })
  await expect.poll(waiting, patience).toBe(1)
  await transaction('conversations').where({ id: first }).increment('sequence')
  await transaction.commit()
  expect(await statement).toHaveLength(1)
  const rows = await db('conversations').whereIn('id', [first, second])
  expect(rows.map(({ sequence }) => sequence)).toEqual([2, 2])
})

test('a transaction that deadlocks is not repeated by its statements: the caller is asked to try again', async () => {
  const [one, other] = await Promise.all([beginPatient(), db.transaction()])
  await one('conversations').where({ id: first }).increment('sequence')
  const inTransaction = query(other, lockBoth, { one: second, other: first }).catch((error: unknown) => error)
  await expect.poll(waiting, patience).toBe(1)
  await one('conversations').where({ id: second }).increment('sequence')
  await one.commit()
  expect(ApiError.from(await inTransaction)).toMatchObject({ status: 503, retryAfterSeconds: 1 })
  await other.rollback()
})

test('a bot is deleted although the end of one of its events locks rows in the opposite order', async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  const end = await beginPatient()
  await end('events').where({ bot_id: bot.id }).update({ ended_at: end.fn.now() })
  const deletion = platform.ask('DELETE', `/v1/admin/bots/${bot.id}`)
  await expect.poll(waiting, patience).toBe(1)
  await end('logs').insert({ bot_id: bot.id, level: 'info', message: 'the end', created_at: end.fn.now() })
  await end.commit()
  expect(await deletion).toMatchObject({ status: 200 })
  expect(await db('events').where({ bot_id: bot.id })).toEqual([])
})

test('a member’s reply is stored although the deletion of the user that writes it locks rows in the opposite order', async () => {
  const bot = await platform.createBot()
  const conversationId = await (await createChatUser(bot.chatUrl)).createConversation()
  const path = `/v1/admin/bots/${bot.id}/conversations/${conversationId}`
  expect(await platform.ask('POST', `${path}/handover`, {})).toMatchObject({ status: 200 })
  const reply = (text: string) => platform.ask('POST', `${path}/messages`, { type: 'text', payload: { text } })
  const { body } = await reply('first')
  const other = await beginPatient()
  await other('users').where({ id: body.message.userId }).forUpdate()
  const second = reply('second')
  await expect.poll(waiting, patience).toBe(1)
  await other('conversations').where({ id: conversationId }).increment('sequence')
  await other.commit()
  expect(await second).toMatchObject({ status: 201 })
})

test('a transaction whose work may be repeated is repeated as a whole', async () => {
  const one = await beginPatient()
  const before = await db('conversations').whereIn('id', [first, second]).orderBy('id').pluck('sequence')
  await one('conversations').where({ id: first }).increment('sequence')
  const repeated = transact(db, async (transaction) => {
    await transaction('conversations').where({ id: second }).increment('sequence')
    await transaction('conversations').where({ id: first }).increment('sequence')
  })
  await expect.poll(waiting, patience).toBe(1)
  await one('conversations').where({ id: second }).increment('sequence')
  await one.commit()
  await repeated
  const after = await db('conversations').whereIn('id', [first, second]).orderBy('id').pluck('sequence')
  expect(after).toEqual(before.map((sequence) => sequence + 2))
})

test('a write of bot code is repeated with its journal entry', async () => {
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  const event = (await claimNextEvents(db, [conversationId]))[0]!
  const call = { operation: 'updateConversation', ordinal: 1 }
  const execution = {
    eventId: event.id,
    attempt: event.attempt,
    call,
    openStreams: new Map(),
    callAction: async () => ({}),
  }
  const caller = { kind: 'bot', botId: bot.id, execution } as const
  const before = await db('conversations').whereIn('id', [first, second]).orderBy('id').pluck('sequence')
  const one = await beginPatient()
  await one('conversations').where({ id: first }).increment('sequence')
  const written = once({ ...platform.context, db, caller }, {}, async (transaction) => {
    await transaction('conversations').where({ id: second }).increment('sequence')
    await transaction('conversations').where({ id: first }).increment('sequence')
    return {}
  })
  await expect.poll(waiting, patience).toBe(1)
  await one('conversations').where({ id: second }).increment('sequence')
  await one.commit()
  await written
  const after = await db('conversations').whereIn('id', [first, second]).orderBy('id').pluck('sequence')
  expect(after).toEqual(before.map((sequence) => sequence + 2))
})

test.for([
  ['without', {}],
  ['with', { 'idempotency-key': randomUUID() }],
] as const)(
  'a bot is transferred, %s an idempotency key, although a change of it locks rows in the opposite order',
  async ([, headers]) => {
    const bot = await platform.createBot()
    const { body: target } = await platform.ask('POST', '/v1/admin/workspaces', { name: 'Other' })
    const change = await beginPatient()
    await change('bots').where({ id: bot.id }).update({ name: 'renamed' })
    const transfer = platform.ask(
      'POST',
      `/v1/admin/bots/${bot.id}/transfer`,
      { targetWorkspaceId: target.id },
      headers,
    )
    await expect.poll(waiting, patience).toBe(1)
    await change('workspaces').where({ id: target.id }).update({ name: 'renamed' })
    await change.commit()
    expect(await transfer).toMatchObject({ status: 200 })
    const [moved] = await db('bots').where({ id: bot.id })
    expect(moved).toMatchObject({ name: 'renamed', workspace_id: target.id })
  },
)

test('an installation with nothing to unregister is removed although a message of its users is stored meanwhile', async () => {
  const bot = await platform.createBot()
  await installWebchat(platform, bot.id, { encryptionKey: 'k' })
  const [installation] = await db('installations').where({ bot_id: bot.id, integration: 'webchat' })
  const installationId = installation!.id
  const conversation = { id: `conv_${bot.id}`, bot_id: bot.id, installation_id: installationId, channel: 'webchat' }
  await db('conversations').insert(conversation)
  // A message locks its conversation, and then, for its event, the installation.
  const message = await beginPatient()
  await message('conversations').where({ id: conversation.id }).increment('sequence')
  const removal = platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { webchat: null } })
  await expect.poll(waiting, patience).toBe(1)
  await message('events').insert({
    id: `evt_${bot.id}`,
    bot_id: bot.id,
    mailbox: conversation.id,
    conversation_id: conversation.id,
    installation_id: installationId,
    type: 'message_created',
    payload: {},
  })
  await message.commit()
  expect(await removal).toMatchObject({ status: 200 })
  expect(await db('installations').where({ id: installationId })).toEqual([])
  expect(await db('events').where({ bot_id: bot.id, installation_id: installationId })).toEqual([])
})

test('an integration is updated although a change of its installations locks rows in the opposite order', async () => {
  const bot = await platform.createBot()
  const { name, integrationId } = await createTool()
  const integrations = { tool: { integrationId, enabled: false } }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  const installed = db('installations').where({ bot_id: bot.id, integration_id: integrationId })
  await installed.clone().update({ enabled: true, status: 'registered' })
  // An update of the bot changes one installation, and then adds another.
  const change = await beginPatient()
  await change('installations')
    .where({ bot_id: bot.id, alias: 'tool' })
    .update({ updated_at: change.fn.now(3) })
  const update = platform.ask('PUT', `/v1/admin/integrations/${integrationId}`, { url: 'https://other.example' })
  await expect.poll(waiting, patience).toBe(1)
  await insertInstallation(change, {
    id: newId('int'),
    botId: bot.id,
    integration: name,
    integrationId,
    alias: 'other',
    webhookId: newWebhookId(),
  })
  await change.commit()
  expect(await update).toMatchObject({ status: 200 })
  const registrations = await db('events').where({ bot_id: bot.id, type: 'register' }).pluck('mailbox')
  expect(registrations.toSorted()).toEqual((await installed.clone().pluck('id')).toSorted())
  expect(registrations).toHaveLength(2)
})

test('a bot is deleted although a change of its integrations locks their rows in the opposite order', async () => {
  const bot = await platform.createBot()
  const { integrationId } = await createTool()
  const installed = db('installations').where({ bot_id: bot.id, integration_id: integrationId })
  for (const alias of ['early', 'late']) {
    const integrations = { [alias]: { integrationId, enabled: false } }
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  }
  await installed.clone().update({ enabled: true, status: 'registered' })
  const touch = (transaction: Knex.Transaction, alias: string) =>
    transaction('installations')
      .where({ bot_id: bot.id, alias })
      .update({ updated_at: transaction.fn.now(3) })
  const change = await beginPatient()
  await touch(change, 'late')
  const deletion = platform.ask('DELETE', `/v1/admin/bots/${bot.id}`)
  await expect.poll(waiting, patience).toBe(1)
  await touch(change, 'early')
  await change.commit()
  // No worker runs here: both have unregistered once they have been asked to.
  const asked = db('events').where({ bot_id: bot.id, type: 'unregister' })
  await expect.poll(async () => (await asked.clone()).length).toBe(2)
  await installed.clone().update({ status: 'unregistered' })
  await asked.clone().update({ status: 'processed', ended_at: db.fn.now() })
  expect(await deletion).toMatchObject({ status: 200 })
  expect(await db('bots').where({ id: bot.id })).toEqual([])
})

const setIdentifier = (transaction: Database, id: string, identifier: string | null) =>
  transaction('installations').where({ id }).update({ identifier })

describe('an installation gets the identifier that it has proved to be its own', () => {
  let botId: string
  let one: string
  let other: string
  beforeEach(async () => {
    botId = (await platform.createBot()).id
    const { integrationId } = await createTool()
    const integrations = {
      one: { integrationId, enabled: false, configuration: {} },
      other: { integrationId, enabled: false, configuration: {} },
    }
    await platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations })
    const rows = await db('installations').where({ bot_id: botId, integration_id: integrationId }).orderBy('alias')
    ;[one, other] = rows.map(({ id }) => id) as [string, string]
  })

  const identifiers = async () => db('installations').whereIn('id', [one, other]).orderBy('alias').pluck('identifier')

  test('although the one that has it takes its own at the same time', async () => {
    await setIdentifier(db, one, 'first account')
    await setIdentifier(db, other, 'second account')
    const opposite = await beginPatient()
    await setIdentifier(opposite, one, null)
    const taken = takeIdentifier(db, { botId, id: one }, 'second account')
    await expect.poll(waiting, patience).toBe(1)
    await setIdentifier(opposite, other, 'first account')
    await opposite.commit()
    expect(await taken).toHaveLength(1)
    expect(await identifiers()).toEqual(['second account', 'first account'])
  })

  test('although another one takes the same at the same time', async () => {
    const earlier = await beginPatient()
    await setIdentifier(earlier, one, 'account')
    const taken = takeIdentifier(db, { botId, id: other }, 'account')
    await expect.poll(waiting, patience).toBe(1)
    await earlier.commit()
    expect(await taken).toHaveLength(2)
    expect(await identifiers()).toEqual([null, 'account'])
  })
})

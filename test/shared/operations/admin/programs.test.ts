import { Client } from '@botpress/client'
import { Client as PostgresClient } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { newId } from '#shared/ids.ts'
import { insertMember } from '#shared/store/accounts.ts'
import type { Role } from '#shared/models/tables.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { installCode } from '../../../support/install-code.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
  client = as({ authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** The headers of a member's requests. */
interface Member {
  authorization: string
  'x-workspace-id': string
}
const tokenOf = ({ authorization }: Member) => authorization.replace('Bearer ', '')

/** The published client of a member. */
function as(member: Member): Client {
  return new Client({ apiUrl: platform.url, token: tokenOf(member), workspaceId: member['x-workspace-id'] })
}

type UsageType = Parameters<Client['getUsage']>[0]['type']

/** Makes the client's account a member of another workspace too. */
async function join(workspaceId: string, role: Role = 'administrator'): Promise<void> {
  const { account } = await client.getAccount({})
  await insertMember(platform.context.db, { workspaceId, accountId: account.id, role })
}

const recordsOf = async (one: Client, id: string) => (await one.getAuditRecords({ id })).records

const missing = { code: 404, type: 'ResourceNotFound' }

/** The error of a change, or its answer where it is none. */
const refusalOf = (change: Promise<unknown>) => change.catch((error: unknown) => error)

const isLocked = (text: string) => ({
  code: 409,
  type: 'ResourceLockedConflict',
  message: expect.stringContaining(text) as string,
})

describe('the log of an integration', () => {
  const code = `
    export function register({ logger }) { logger.info('registered') }
    export const actions = {
      greet({ input, logger }) {
        logger.warn('greeting ' + input.name)
        if (input.name === 'nobody') throw new Error('whom?')
        return {}
      },
    }
    export function handler({ logger }) { logger.debug('webhook'); throw new Error('no such order') }`
  const caller = `
    export const actions = {
      async call({ input, client, logger }) {
        logger.info('the bot speaks')
        await client.callAction({ type: 'tool:greet', input })
        return {}
      },
    }`
  const timeStart = '2024-01-01T00:00:00Z'

  test('has what its code wrote, also within runs of bots, and what failed in it', async () => {
    const bot = await platform.createBot(caller)
    const { integrationId: id, webhookUrl } = await installCode(platform, bot.id, code)
    const own = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
    await own.callAction({ type: 'call', input: { name: 'Ada' } })
    await expect(own.callAction({ type: 'call', input: { name: 'nobody' } })).rejects.toThrow(/whom/)
    await fetch(webhookUrl, { method: 'POST', body: '{}' })
    const lines = async (filter = {}) => (await client.getIntegrationLogs({ id, timeStart, ...filter })).logs
    await vi.waitUntil(async () => (await lines({ messageContains: 'no such order' })).length > 0, 10_000)
    const written = (await lines()).toReversed()
    expect(written).toMatchObject([
      { level: 'info', message: 'registered' },
      { level: 'info', message: expect.stringContaining('succeeded') },
      { level: 'warn', message: 'greeting Ada' },
      { level: 'warn', message: 'greeting nobody' },
      { level: 'error', message: expect.stringMatching(/The action 'tool:greet' failed: .*whom\?/s) },
      { level: 'debug', message: 'webhook' },
      { level: 'error', message: expect.stringContaining('no such order') },
    ])
    expect(new Set(written.map((line) => (line as { botId?: string }).botId))).toEqual(new Set([bot.id]))
    expect((await lines({ level: 'warn' })).map(({ message }) => message)).toEqual(['greeting nobody', 'greeting Ada'])
    // An integration's own token writes to its log too.
    const { value: token } = await client.createIntegrationApiKey({ integrationId: id })
    const asIntegration = new Client({ apiUrl: platform.url, token, botId: bot.id })
    await asIntegration.captureObservation({ name: 'stock', data: { left: 3 } })
    expect((await lines())[0]).toMatchObject({ message: expect.stringContaining('Observation stock') })
    // The bot's log has them too, beside its own.
    const all = (await client.getBotLogs({ id: bot.id, timeStart })).logs.map(({ message }) => message)
    expect(all).toEqual(expect.arrayContaining(['the bot speaks', ...written.map(({ message }) => message)]))
  })

  test('is that of the workspace’s own bots alone, and of its own integrations', async () => {
    const bot = await platform.createBot()
    const { integrationId: id } = await installCode(platform, bot.id, code)
    const stranger = await createMember(platform, 'owner')
    await expect(as(stranger).getIntegrationLogs({ id, timeStart })).rejects.toMatchObject(missing)
    expect((await client.getIntegrationLogs({ id, timeStart })).logs).not.toEqual([])
    await platform.context.db('bots').where({ id: bot.id }).update({ workspace_id: stranger['x-workspace-id'] })
    expect((await client.getIntegrationLogs({ id, timeStart })).logs).toEqual([])
  })
})

describe('introspect', () => {
  test('returns the workspace of a bot and the account, without a workspace in the request', async () => {
    const { id: botId } = await platform.createBot()
    const { account } = await client.getAccount({})
    const outside = new Client({ apiUrl: platform.url, token: platform.token })
    const { workspaceId } = platform
    expect(await outside.introspect({ botId })).toEqual({ workspaceId, botId, userId: account.id })
    const stranger = as(await createMember(platform, 'owner'))
    await expect(stranger.introspect({ botId })).rejects.toMatchObject(missing)
  })

  test('returns the bot and its integrations, by their tokens and in their code', async () => {
    const bundle = `
      module.exports.handler = async ({ headers, body }) => {
        if (headers['x-bp-operation'] !== 'action_triggered') return { status: 200 }
        const answer = await fetch(process.env.BP_API_URL + '/v1/admin/introspect', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(JSON.parse(body).input),
        })
        const output = { status: answer.status, body: await answer.json() }
        return { status: 200, body: JSON.stringify({ output }) }
      }`
    const { id: botId } = await platform.createBot(bundle)
    const { id: other } = await platform.createBot()
    const own = { workspaceId: platform.workspaceId, botId, userId: botId }
    const bak = new Client({ apiUrl: platform.url, token: (await client.createBotApiKey({ botId })).value })
    expect(await bak.introspect({ botId })).toEqual(own)
    await expect(bak.introspect({ botId: other })).rejects.toMatchObject(missing)
    const { integrationId } = await installCode(platform, botId, 'export function register() {}')
    const { value: token } = await client.createIntegrationApiKey({ integrationId })
    expect(await new Client({ apiUrl: platform.url, token, botId }).introspect({ botId })).toEqual(own)
    const elsewhere = new Client({ apiUrl: platform.url, token, botId: other })
    await expect(elsewhere.introspect({ botId: other })).rejects.toMatchObject({ type: 'Forbidden' })
    const running = new Client({ apiUrl: platform.url, token: platform.token, botId })
    const asked = async (input: object) => (await running.callAction({ type: 'who', input })).output
    expect(await asked({ botId })).toEqual({ status: 200, body: own })
    expect(await asked({ botId: other })).toMatchObject({ status: 404 })
  })

  test('looks the token of a bot or an integration up once', async () => {
    const { id: botId } = await platform.createBot()
    const { integrationId } = await installCode(platform, botId, 'export function register() {}')
    const bak = (await client.createBotApiKey({ botId })).value
    const iak = (await client.createIntegrationApiKey({ integrationId })).value
    const statements = vi.spyOn(PostgresClient.prototype, 'query')
    onTestFinished(() => statements.mockRestore())
    for (const token of [bak, iak]) {
      statements.mockClear()
      expect(await new Client({ apiUrl: platform.url, token, botId }).introspect({ botId })).toMatchObject({ botId })
      const texts = statements.mock.calls.map(([statement]) => JSON.stringify(statement))
      expect(texts.filter((text) => text.includes('from tokens'))).toHaveLength(1)
    }
  })
})

describe('preferences', () => {
  test('of an account and of a workspace hold any JSON value, each its own', async () => {
    const [one, other] = [await createMember(platform, 'owner'), await createMember(platform, 'owner')].map(as)
    for (const value of [{ theme: 'dark', sizes: [1, 2] }, 'text', 0, false, null, ['a']]) {
      await one!.setAccountPreference({ key: 'editor', value })
      expect(await one!.getAccountPreference({ key: 'editor' })).toEqual({ value })
    }
    await one!.setWorkspacePreference({ key: 'editor', value: 'the workspace’s' })
    expect(await one!.getWorkspacePreference({ key: 'editor' })).toEqual({ value: 'the workspace’s' })
    expect(await one!.getAccountPreference({ key: 'editor' })).toEqual({ value: ['a'] })
    expect(await other!.getAccountPreference({ key: 'editor' })).toEqual({})
    expect(await other!.getWorkspacePreference({ key: 'editor' })).toEqual({})
    await one!.setAccountPreference({ key: 'editor' })
    expect(await one!.getAccountPreference({ key: 'editor' })).toEqual({})
  })

  test('are bounded in length and number, and changed by developers', async () => {
    const owner = await createMember(platform, 'owner')
    const one = as(owner)
    const long = 'x'.repeat(65_536)
    await expect(one.setAccountPreference({ key: 'k', value: long })).rejects.toMatchObject({ type: 'LimitExceeded' })
    await expect(one.setAccountPreference({ key: 'a b', value: 1 })).rejects.toMatchObject({ type: 'InvalidPayload' })
    await Promise.all(
      Array.from({ length: 99 }, (_, index) => one.setAccountPreference({ key: `k${index}`, value: 1 })),
    )
    const results = await Promise.allSettled(['a', 'b', 'c'].map((key) => one.setAccountPreference({ key, value: 1 })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await one.setAccountPreference({ key: 'k0', value: 2 })
    const viewer = as(await createMember(platform, 'viewer', owner['x-workspace-id']))
    expect(await viewer.getWorkspacePreference({ key: 'k' })).toEqual({})
    await expect(viewer.setWorkspacePreference({ key: 'k', value: 1 })).rejects.toMatchObject({ type: 'Forbidden' })
  })
})

describe('the deletion of one’s account', () => {
  test('ends its tokens and memberships, unless a workspace would lose its only owner', async () => {
    const member = await createMember(platform, 'owner')
    const id = member['x-workspace-id']
    const leaving = as(member)
    await expect(leaving.deleteAccount({})).rejects.toMatchObject({
      type: 'ReferenceConstraint',
      message: expect.stringContaining(id),
    })
    const other = as(await createMember(platform, 'owner', id))
    const { account } = await leaving.getAccount({})
    await leaving.setAccountPreference({ key: 'editor', value: 1 })
    await leaving.deleteAccount({})
    await expect(leaving.getAccount({})).rejects.toMatchObject({ code: 401 })
    expect((await other.listWorkspaceMembers({})).members.map((one) => one.userId)).not.toContain(account.id)
    expect(await platform.context.db('preferences').where({ account_id: account.id })).toEqual([])
    await expect(other.deleteAccount({})).rejects.toMatchObject({ type: 'ReferenceConstraint' })
  })
})

describe('a public workspace', () => {
  test('shows its profile to other accounts, and a private one does not', async () => {
    const headers = await createMember(platform, 'owner')
    const id = headers['x-workspace-id']
    const owner = as(headers)
    await owner.updateWorkspace({ id, handle: 'open-shop', about: 'We sell.' })
    await expect(client.getPublicWorkspace({ id })).rejects.toMatchObject(missing)
    expect((await client.listPublicWorkspaces({})).workspaces).toEqual([])
    await owner.updateWorkspace({ id, isPublic: true })
    const shown = await client.getPublicWorkspace({ id })
    expect(shown).toEqual({
      id,
      name: 'Another',
      handle: 'open-shop',
      about: 'We sell.',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const listed = async (input: Parameters<Client['listPublicWorkspaces']>[0]) =>
      (await client.listPublicWorkspaces(input)).workspaces
    expect(await listed({ search: 'PEN-sh' })).toEqual([shown])
    expect(await listed({ workspaceIds: [id] })).toEqual([shown])
    expect(await listed({ workspaceIds: [platform.workspaceId] })).toEqual([])
    expect(await listed({ search: 'closed' })).toEqual([])
  })
})

describe('the transfer of a bot', () => {
  const echo = `export const hooks = { async afterIncomingMessage({ event, client }) {
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'yes, ' + event.preview } })
  } }`

  test('moves it with its data, its addresses and its tokens', async () => {
    const target = await createMember(platform, 'administrator')
    await join(target['x-workspace-id'])
    const bot = await platform.createBot(echo, { secrets: { KEY: 'k' } })
    const user = await createChatUser(bot.chatUrl)
    const conversationId = await user.createConversation()
    const { value: token } = await client.createBotApiKey({ botId: bot.id })
    const before = (await client.getBot({ id: bot.id })).bot

    await client.transferBot({ id: bot.id, targetWorkspaceId: target['x-workspace-id'] })

    await expect(client.getBot({ id: bot.id })).rejects.toMatchObject(missing)
    const other = as(target)
    expect((await other.getBot({ id: bot.id })).bot).toEqual({ ...before, updatedAt: expect.any(String) })
    expect((await other.listBots({})).bots.map(({ id }) => id)).toEqual([bot.id])
    // The secrets decrypt, the conversation goes on, and the token acts as the bot.
    await other.updateBot({ id: bot.id, name: 'moved' })
    await user.send(conversationId, 'still here?')
    const own = new Client({ apiUrl: platform.url, token, botId: bot.id })
    const answered = async () =>
      (await own.listMessages({ conversationId })).messages.map(({ payload }) => payload['text'])
    await vi.waitFor(async () => expect(await answered()).toContain('yes, still here?'), 10_000)
    const moved = { operation: 'transferBot', resourceId: bot.id, outcome: 'done' }
    const at = target['x-workspace-id']
    expect((await recordsOf(client, platform.workspaceId))[0]).toMatchObject({
      ...moved,
      value: `targetWorkspaceId=${at}`,
    })
    const received = (await recordsOf(other, at)).filter(({ action }) => action !== 'UPDATE_BOT')
    expect(received).toMatchObject([{ ...moved, value: `workspaceId=${platform.workspaceId}` }])
  })

  test('is refused with the aliases while the bot has integrations or private plugins of the former workspace', async () => {
    const target = await createMember(platform, 'administrator')
    await join(target['x-workspace-id'])
    const bot = await platform.createBot()
    await installCode(platform, bot.id, 'export function register() {}', { alias: 'shop' })
    const transfer = () => client.transferBot({ id: bot.id, targetWorkspaceId: target['x-workspace-id'] })
    await expect(transfer()).rejects.toMatchObject({
      code: 409,
      type: 'ReferenceConstraint',
      message: expect.stringContaining('shop'),
      metadata: { aliases: ['shop'] },
    })
    expect((await client.getBot({ id: bot.id })).bot.id).toBe(bot.id)
    await client.updateBot({ id: bot.id, integrations: { shop: null } })
    const code = { node: 'export default {}', browser: '' }
    const { plugin } = await client.createPlugin({ name: 'own-plugin', version: '1.0.0', code })
    const installed = { mine: { id: plugin.id, enabled: true, configuration: {}, interfaces: {}, integrations: {} } }
    await client.updateBot({ id: bot.id, plugins: installed })
    await expect(transfer()).rejects.toMatchObject({ metadata: { aliases: ['mine'] } })
    await client.updatePlugin({ id: plugin.id, visibility: 'public' })
    await transfer()
  })

  test('waits for the erasures of persons in both workspaces', async () => {
    const target = await createMember(platform, 'administrator')
    const targetWorkspaceId = target['x-workspace-id']
    await join(targetWorkspaceId)
    const { id } = await platform.createBot()
    const other = await platform.createBot()
    const { db } = platform.context
    /** A request that another worker carries out. */
    const erase = async (workspaceId: string, botId: string | null = null) => {
      const request = {
        id: newId('datareq'),
        workspace_id: workspaceId,
        account_id: null,
        bot_id: botId,
        subject: null,
      }
      const state = { status: 'in_progress', erases_findings: false, due_at: db.raw(`now() + interval '1 hour'`) }
      await db('data_requests').insert({ ...request, ...state } as never)
      return request.id
    }
    const end = (requestId: string) => db('data_requests').where({ id: requestId }).update({ status: 'completed' })
    const transfer = () => client.transferBot({ id, targetWorkspaceId })
    const ofOther = await erase(platform.workspaceId, other.id)
    const own = await erase(platform.workspaceId)
    await expect(transfer()).rejects.toMatchObject(isLocked(own))
    await end(own)
    const theirs = await erase(targetWorkspaceId)
    await expect(transfer()).rejects.toMatchObject(isLocked('one of the other workspace'))
    await end(theirs)
    await transfer()
    await end(ofOther)
    expect((await as(target).getBot({ id })).bot.id).toBe(id)
  })

  test('is refused while the bot is being deleted, and after a deletion that was interrupted, as changes of the bot are', async () => {
    const target = await createMember(platform, 'administrator')
    const targetWorkspaceId = target['x-workspace-id']
    await join(targetWorkspaceId)
    const { id, chatUrl } = await platform.createBot()
    await createChatUser(chatUrl)
    const { db } = platform.context
    // The platform is unavailable for a moment after it has lost a connection.
    const isRefused = async () => {
      const refused = expect.objectContaining(isLocked('is being deleted'))
      await expect.poll(() => refusalOf(client.transferBot({ id, targetWorkspaceId }))).toEqual(refused)
      await expect.poll(() => refusalOf(client.updateBot({ id, name: 'kept' }))).toEqual(refused)
    }
    /** Ends the connections of statements that wait for a lock. @returns their number */
    const disconnect = async (statement: string) => {
      const waiting = `datname = current_database() and wait_event_type = 'Lock' and query like ?`
      const { rowCount } = await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${waiting}`, [
        statement,
      ])
      return rowCount as number
    }

    // The deletion waits for a row that another transaction holds, and its connection is lost then.
    const deletion = await db.transaction(async (transaction) => {
      await transaction('users').where({ bot_id: id }).forUpdate()
      const ended = refusalOf(client.deleteBot({ id }))
      const waits = async () => (await db('bots').where({ id }).first('deletion_began_at'))?.deletion_began_at
      await expect.poll(waits).toBeInstanceOf(Date)
      await isRefused()
      await expect.poll(() => disconnect('delete from users%')).toBe(1)
      return await ended
    })
    expect(deletion).toMatchObject({ type: 'Internal' })
    await isRefused()
    await client.deleteBot({ id })
    await expect(client.getBot({ id })).rejects.toMatchObject(missing)
  })

  test('needs an administrator of both workspaces', async () => {
    const { id } = await platform.createBot()
    const stranger = await createMember(platform, 'owner')
    const targetWorkspaceId = stranger['x-workspace-id']
    await expect(client.transferBot({ id, targetWorkspaceId })).rejects.toMatchObject(missing)
    await expect(as(stranger).transferBot({ id, targetWorkspaceId: platform.workspaceId })).rejects.toMatchObject(
      missing,
    )
    await join(targetWorkspaceId, 'developer')
    await expect(client.transferBot({ id, targetWorkspaceId })).rejects.toMatchObject({ type: 'Forbidden' })
    const itself = { id, targetWorkspaceId: platform.workspaceId }
    await expect(client.transferBot(itself)).rejects.toMatchObject({ type: 'InvalidPayload' })
    expect((await client.getBot({ id })).bot.id).toBe(id)
  })
})

describe('usage', () => {
  test('is counted for a workspace and for each of its bots', async () => {
    const owner = await createMember(platform, 'owner')
    const id = owner['x-workspace-id']
    const one = as(owner)
    const [first, second] = [(await one.createBot({})).bot, (await one.createBot({})).bot]
    const asFirst = new Client({ apiUrl: platform.url, token: tokenOf(owner), botId: first.id })
    await asFirst.createTable({
      name: 'ordersTable',
      schema: { type: 'object', properties: { n: { type: 'number' } } },
    })
    await asFirst.createTableRows({ table: 'ordersTable', rows: [{ n: 1 }, { n: 2 }] })
    await asFirst.uploadFile({ key: 'a.txt', content: 'twelve bytes' })
    await asFirst.createEvent({ type: 'custom', payload: {} })
    const period = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`
    const of = async (type: UsageType, whose = id) => (await one.getUsage({ id: whose, type })).usage

    expect(await of('bot_count')).toEqual({ id, type: 'bot_count', period, value: 2, quota: Number.MAX_SAFE_INTEGER })
    expect(await of('workspace_member_count')).toMatchObject({ value: 1 })
    expect(await of('storage_count', first.id)).toMatchObject({ value: 12, quota: 1024 * 1024 * 1024 })
    expect((await one.listWorkspaceUsages({ id, type: 'table_row_count' })).usages).toMatchObject([
      { id, value: 2 },
      { id: first.id, value: 2, quota: platform.context.config.tables.rowsPerBot },
      { id: second.id, value: 0 },
    ])
    expect(await one.breakDownWorkspaceUsageByBot({ id, type: 'invocation_calls' })).toEqual({
      data: [
        { botId: first.id, value: 1 },
        { botId: second.id, value: 0 },
      ],
    })
    const types = ['storage_count', 'bot_count']
    expect((await one.getMultipleUsages({ types, ids: [id, second.id] })).usages).toMatchObject([
      { id, type: 'storage_count', value: 12 },
      { id, type: 'bot_count', value: 2 },
      { id: second.id, type: 'storage_count', value: 0 },
    ])
    const { usages } = await one.listUsageHistory({ id: first.id, type: 'invocation_calls' })
    expect(usages.map(({ value }) => value)).toEqual([1, ...Array<number>(11).fill(0)])
    expect(new Set(usages.map((usage) => usage.period)).size).toBe(12)

    const refused = { type: 'InvalidQuery' }
    await expect(of('bot_count', first.id)).rejects.toMatchObject(refused)
    await expect(one.getUsage({ id, type: 'storage_count', period: '2024-01' })).rejects.toMatchObject(refused)
    expect((await one.getUsage({ id, type: 'invocation_calls', period: '2024-01' })).usage).toMatchObject({ value: 0 })
    await expect(client.getUsage({ id: first.id, type: 'storage_count' })).rejects.toMatchObject(missing)
    await expect(client.listWorkspaceUsages({ id, type: 'storage_count' })).rejects.toMatchObject(missing)
  })
})

describe('the issues of a bot', () => {
  test('are groups of its failures, which a developer dismisses until the next one', async () => {
    const { id } = await platform.createBot(`export const hooks = {
      afterIncomingEvent({ event }) { throw new Error(event.payload.problem) },
    }`)
    const own = new Client({ apiUrl: platform.url, token: platform.token, botId: id })
    const fail = async (...problems: string[]) => {
      for (const problem of problems) {
        const { event } = await own.createEvent({ type: 'custom', payload: { problem } })
        await vi.waitFor(async () => expect((await own.getEvent({ id: event.id })).event.status).toBe('failed'), 10_000)
      }
    }
    await fail('order 1 is lost', 'no stock', 'order 2 is lost')
    const issues = async () => (await client.listBotIssues({ id })).issues
    const [lost, stock] = await issues()
    expect([lost, stock]).toMatchObject([
      {
        code: 'error',
        category: 'user_code',
        title: expect.stringContaining('order # is lost'),
        description: expect.stringContaining('order 2 is lost'),
        groupedData: { hook: { raw: 'afterIncomingEvent' } },
        eventsCount: 2,
      },
      { title: expect.stringContaining('no stock'), eventsCount: 1 },
    ])
    const first = await client.listBotIssues({ id, pageSize: 1 })
    expect(first.issues).toEqual([lost])
    const rest = await client.listBotIssues({ id, pageSize: 1, nextToken: first.meta.nextToken! })
    expect(rest).toEqual({ issues: [stock], meta: {} })
    const issueId = lost!.id
    expect((await client.getBotIssue({ id, issueId })).issue).toEqual(lost)
    const { issueEvents } = await client.listBotIssueEvents({ id, issueId })
    expect(issueEvents.map(({ data }) => data['reason']!.raw)).toEqual([
      expect.stringContaining('order 2 is lost'),
      expect.stringContaining('order 1 is lost'),
    ])

    const viewer = as(await createMember(platform, 'viewer', platform.workspaceId))
    await expect(viewer.deleteBotIssue({ id, issueId })).rejects.toMatchObject({ type: 'Forbidden' })
    await client.deleteBotIssue({ id, issueId })
    expect(await issues()).toEqual([stock])
    await expect(client.getBotIssue({ id, issueId })).rejects.toMatchObject(missing)
    await fail('order 3 is lost')
    expect(await issues()).toMatchObject([{ id: issueId, eventsCount: 1 }, { id: stock!.id }])
  })
})

describe('the analytics of a bot', () => {
  test('count users, conversations, messages and events by day', async () => {
    const bot = await platform.createBot()
    const own = new Client({ apiUrl: platform.url, token: platform.token, botId: bot.id })
    const [ada, bob] = [await createChatUser(bot.chatUrl), await createChatUser(bot.chatUrl)]
    const { db } = platform.context
    const ofAda = await ada.createConversation()
    for (const text of ['one', 'two']) await ada.send(ofAda, text)
    await bob.send(await bob.createConversation(), 'three')
    const { messages } = await own.listMessages({ conversationId: ofAda })
    await own.createMessage({ conversationId: ofAda, userId: bot.id, type: 'text', payload: { text: 'hi' }, tags: {} })
    await own.trackAnalytics({ name: 'orders', count: 3 })
    // Ada, her user and the first message are of yesterday.
    const day = 24 * 3600 * 1000
    const now = (await db.raw('select now() as now')).rows[0].now as Date
    const yesterday = new Date(now.getTime() - day)
    await db('users').where({ id: messages[0]!.userId }).update({ created_at: yesterday })
    await db('messages').where({ id: messages[1]!.id }).update({ created_at: yesterday })

    const dates = [new Date(now.getTime() - 2 * day), yesterday, now].map((date) => date.toISOString().slice(0, 10))
    const { records } = await client.getBotAnalytics({ id: bot.id, startDate: dates[0]!, endDate: now.toISOString() })
    const none = { newUsers: 0, returningUsers: 0, sessions: 0, userMessages: 0, botMessages: 0, events: 0 }
    expect(records).toMatchObject([
      { startDateTimeUtc: `${dates[0]}T00:00:00.000Z`, endDateTimeUtc: `${dates[0]}T23:59:59.999Z`, ...none },
      {
        startDateTimeUtc: `${dates[1]}T00:00:00.000Z`,
        ...none,
        newUsers: 1,
        sessions: 1,
        userMessages: 1,
        messages: 1,
      },
      {
        startDateTimeUtc: `${dates[2]}T00:00:00.000Z`,
        newUsers: 1,
        returningUsers: 1,
        sessions: 2,
        userMessages: 2,
        botMessages: 1,
        events: 3,
        eventTypes: { message_created: 3 },
        customEvents: { orders: 3 },
      },
    ])
    // A day that is over is not counted again, as the present one is.
    await db('messages').where({ conversation_id: ofAda }).delete()
    const again = (await client.getBotAnalytics({ id: bot.id, startDate: dates[0]!, endDate: dates[2]! })).records
    // The count of a day is kept ten minutes after its end.
    const kept = now.getTime() % day > 10 * 60_000 ? 2 : 1
    expect(again.slice(0, kept)).toEqual(records.slice(0, kept))
    expect(again[2]).toMatchObject({ sessions: 1, userMessages: 1, botMessages: 0, customEvents: { orders: 3 } })

    // A bot that counts under a name of its own for each call makes no answer of any size.
    await db.raw(
      `insert into analytics (bot_id, name, day, count)
       select ?, 'name ' || number, (now() at time zone 'UTC')::date, number from generate_series(1, 300) number`,
      [bot.id],
    )
    await db.raw(
      `insert into events (id, mailbox, bot_id, type, payload, status)
       select 'event_' || number, ?, ?, 'type ' || number, '{}', 'processed' from generate_series(1, 300) number`,
      [bot.id, bot.id],
    )
    const [many] = (await client.getBotAnalytics({ id: bot.id, startDate: dates[2]!, endDate: dates[2]! })).records
    expect(Object.values(many!.customEvents).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 100 }, (_, index) => 201 + index),
    )
    expect(Object.keys(many!.eventTypes)).toHaveLength(100)
    expect(many!.eventTypes).toMatchObject({ message_created: 3 })
    expect(many!.events).toBe(303)

    const refused = { type: 'InvalidQuery' }
    for (const [startDate, endDate] of [
      ['2026-01-02', '2026-01-01'],
      ['2026-01-01', '2026-04-03'],
    ] as const) {
      await expect(client.getBotAnalytics({ id: bot.id, startDate, endDate })).rejects.toMatchObject(refused)
    }
    const stranger = as(await createMember(platform, 'owner'))
    const range = { startDate: dates[0]!, endDate: dates[2]! }
    await expect(stranger.getBotAnalytics({ id: bot.id, ...range })).rejects.toMatchObject(missing)
  })
})

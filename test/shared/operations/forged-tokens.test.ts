import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertLog } from '#shared/store/logs.ts'
import * as operations from '#shared/operations/index.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { storeIntegration } from '../../support/install-integration.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../../support/platform.ts'
import { installWebchat, visit, type Visitor } from '../../support/webchat.ts'

/** The fields in which a client gives back what an answer had, to go on after it. */
const fields = ['nextToken', 'after'] as const

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const json = (...parts: unknown[]) => encoded(JSON.stringify(parts))

/** Tokens in the forms of all lists, with values that PostgreSQL refuses for some of them. */
const tokens = [
  'x',
  '0',
  'undefined',
  '%',
  '\u{1F600}',
  'A'.repeat(3000),
  ...['', ' ', '\0', 'a\0', '\uFFFD'].map(encoded),
  encoded(Buffer.from([0xff, 0xfe, 0xc0])),
  ...[
    '0 abc',
    '0 0',
    '0 99999999999999999999',
    '0 999999999999999999',
    '-99999999999999 x',
    '99999999999999 1',
    '-0 1',
  ].map(encoded),
  ...['99999999999999 x', `0 ${'a'.repeat(100)}`, '0 a\0'].map(encoded),
  ...['p0', 'p999999999', 'p2147483648', 'p-1', 'p1e9'].map(encoded),
  ...['createdAt', 'updatedAt'].flatMap((field) =>
    [
      '----------',
      '9999-99-99 99:99:99',
      '2026-02-30 00:00:00+00',
      '2026-01-01 00:00:00+99',
      '0000-01-01 00:00:00+00',
      '999999-01-01 00:00:00+00',
      '1234567890',
      '2026-01-01 24:00:01+00',
    ].map((value) => json(field, value, 'x')),
  ),
  ...['createdAt', 'updatedAt', 'size', 'key', 'tag', 'value'].flatMap((field) => [
    json(field, '2026-01-01 00:00:00+00', '\0'),
    json(field, '1', '\uD800'),
    json(field, '999999999999999999', 'x'),
    json(field, '-1', { a: 1 }),
    json(field, '\0', 'x'),
    json(field, '\uD800', 'x'),
    json(field, ['a'], 'x'),
    json(field),
  ]),
  ...['1:1:', '5:10:10', '5:10:5', '5:10:7,6', '5:10:6,6', '5:10:11', '10:5:', '0:1:', '5:5:5', '5:10:6,'].map(
    (snapshot) => encoded(`1 ${snapshot}`),
  ),
  encoded('999999999999999999 999999999999999999:999999999999999999:'),
  encoded('0 5:10:'),
]

let platform: Platform
let bot: DeployedBot
let user: ChatUser
let visitor: Visitor
/** Parts of paths, and those of rows that exist. */
let rows: [part: string, ofRow: string][]
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

let made: Promise<void> | undefined

/** Makes a row of each kind that has a list. */
async function makeRows(): Promise<void> {
  bot = await platform.createBot()
  const { db } = platform.context
  const webchat = new URL(await installWebchat(platform, bot.id))
  visitor = await visit(webchat.href)
  user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const file = await platform.ask(
    'PUT',
    '/v1/files',
    { key: 'a', size: 1, tags: { kind: 'b' } },
    { 'x-bot-id': bot.id },
  )
  const stored = (await db('conversations').where({ bot_id: bot.id }).orderBy('created_at', 'desc').first('id'))!
  const handover = {
    id: 'handover1',
    bot_id: bot.id,
    conversation_id: stored.id,
    status: 'pending',
    requested_by: 'bot',
  }
  await db('handovers').insert(handover as never)
  const request = { id: 'request1', workspace_id: platform.workspaceId, erases_findings: false, status: 'completed' }
  await db('data_requests').insert(request as never)
  const integrationId = await storeIntegration(platform)
  await insertLog(db, { botId: bot.id, conversationId: stored.id, level: 'info', message: 'a line' })
  rows = [
    ['/v1/admin/bots/{id}', `/v1/admin/bots/${bot.id}`],
    ['/v1/admin/integrations/{id}', `/v1/admin/integrations/${integrationId}`],
    ['/v1/admin/workspaces/{id}', `/v1/admin/workspaces/${platform.workspaceId}`],
    ['/v1/admin/data-requests/{id}', '/v1/admin/data-requests/request1'],
    ['/v1/chat/conversations/{id}', `/v1/chat/conversations/${stored.id}`],
    ['/v1/files/{id}', `/v1/files/${file.body.file.id}`],
    ['/handovers/{id}', '/handovers/handover1'],
    ['/tags/{tag}', '/tags/kind'],
    ['{botId}', bot.id],
    ['/chat/{webhookId}/conversations/{conversationId}', `/chat/{webhookId}/conversations/${conversationId}`],
    [
      '/webchat/{webhookId}/conversations/{conversationId}',
      `${webchat.pathname}/conversations/${visitor.conversationId}`,
    ],
    ['/chat/{webhookId}', new URL(bot.chatUrl).pathname],
    ['{conversationId}', stored.id],
  ]
}

/** The path of an operation, for rows that exist. */
const pathOf = ({ path }: Operation) => rows.reduce((filled, [part, ofRow]) => filled.replace(part, ofRow), path)

interface ListInput {
  properties?: Record<string, { enum?: readonly string[] } | undefined>
  required?: readonly string[]
}

const lists = Object.values(operations as unknown as Record<string, Operation>).flatMap((operation) => {
  const { properties = {} } = operation.input as ListInput
  const field = fields.find((name) => properties[name] !== undefined)
  return field === undefined ? [] : [{ name: `${operation.method} ${operation.path}`, operation, field }]
})

test.each(lists)(
  'a forged token is refused by its name, or names a position of the list: $name',
  async ({ operation, field }) => {
    await (made ??= makeRows())
    const { properties = {}, required = [] } = operation.input as ListInput
    const query = new URLSearchParams(required.includes('timeStart') ? { timeStart: '2026-01-01T00:00:00Z' } : {})
    const headers = {
      authorization: `Bearer ${platform.token}`,
      'x-workspace-id': platform.workspaceId,
      'x-bot-id': bot.id,
      'x-user-key': operation.path.startsWith('/webchat') ? visitor.key : user.key,
    }
    const ask = (given: URLSearchParams) =>
      send('GET', `${platform.url}${pathOf(operation)}?${given.toString()}`, undefined, headers)
    expect(await ask(query)).toMatchObject({ status: 200 })
    for (const sortField of properties['sortField']?.enum ?? [undefined]) {
      for (const token of tokens) {
        const forged = new URLSearchParams(query)
        forged.set(field, token)
        if (sortField) forged.set('sortField', sortField)
        const { status, body } = await ask(forged)
        if (status === 200) continue
        expect({ token, sortField, body }).toMatchObject({
          body: { code: 400, type: 'InvalidQuery', message: expect.stringContaining(field) as string },
        })
      }
    }
  },
)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext, type Context } from '#shared/context.ts'
import { newId } from '#shared/ids.ts'
import { encryptJson, type PlatformSecret } from '#shared/secrets.ts'
import { findInstallation } from '#shared/store/installations.ts'
import { findWebhook } from '#shared/store/inbox-webhooks.ts'
import { readModelKeys } from '#shared/store/model-keys.ts'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { encryptedColumns, reencrypt } from '#shared/store/reencrypt.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startServer } from '../../../api/server.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../../support/platform.ts'

const webhookSecret = 'the secret that signs what is sent'
const former = 'the former secret of the platform, long enough'
const replacement = 'the new secret of the platform, long enough'

let platform: Platform
let bot: DeployedBot
let integrationId: string
beforeAll(async () => {
  platform = await openPlatform({ environment: { ISOBOT_SECRET: former } })
  const code = 'export async function handler() {}; export async function register() {}'
  const { body } = await platform.ask('POST', '/v1/admin/integrations', {
    name: 'weather',
    version: '1.0.0',
    code,
    secrets: { OF_ALL: 'rain' },
    configuration: { schema: { type: 'object', properties: { token: { type: 'string' } } } },
  })
  integrationId = body.integration.id
  bot = await platform.createBot('export const hooks = {}; export const actions = { async none() {} }', {
    secrets: { OWN: 'sun' },
    integrations: { [integrationId]: { enabled: true, configuration: { token: 'of the service' } } },
  })
  await platform.ask('PUT', '/v1/admin/models/keys/openai', { key: 'key-of-the-provider' })
  await platform.ask('PUT', '/v1/admin/inbox-webhook', { url: 'https://tool.example', secret: webhookSecret })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Another api of the platform, with these secrets. */
async function openApi(secret: PlatformSecret): Promise<{ context: Context; url: string } & AsyncDisposable> {
  const parts = new AsyncDisposableStack()
  const config = readConfig({
    ...platform.environment,
    PORT: String(await freePort()),
    ISOBOT_SECRET: secret.current,
    ISOBOT_SECRET_ACCEPTED: secret.accepted,
  })
  const context = parts.use(openContext(config, createLogger('test', 'silent')))
  parts.use(await startServer(context))
  return { context, url: config.http.baseUrl, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** The secrets of the bot and the integration, the configuration of its installation, and the workspace's keys of models and webhook. */
async function readAll({ db, config: { secret } }: Context): Promise<unknown[]> {
  const installed = await db('installations').where({ bot_id: bot.id, integration_id: integrationId }).first()
  return [
    await readSecrets(secret, (await db('bots').where({ id: bot.id }).first())!),
    await readSecrets(secret, (await db('integrations').where({ id: integrationId }).first())!),
    (await findInstallation(db, secret, bot.id, installed!.id))!.configuration,
    await readModelKeys(db, secret, bot.id),
    (await findWebhook(db, secret, platform.workspaceId))!.secret,
  ]
}

const values = [
  { OWN: 'sun' },
  { OF_ALL: 'rain' },
  { token: 'of the service' },
  { openai: 'key-of-the-provider' },
  webhookSecret,
]

test('a secret is replaced while the platform serves: both are accepted, and values are encrypted again', async () => {
  const visitor = await createChatUser(bot.chatUrl)
  const { context } = platform
  const me = async (url: string, key: string) =>
    (await send('GET', `${url}/chat/${bot.webhookId}/users/me`, undefined, { 'x-user-key': key })).status

  await using before = await openApi({ current: former, accepted: replacement })
  await using after = await openApi({ current: replacement, accepted: former })
  const newcomer = await createChatUser(`${after.url}/chat/${bot.webhookId}`)
  for (const { url } of [before, after]) {
    expect([await me(url, visitor.key), await me(url, newcomer.key)]).toEqual([200, 200])
  }
  expect(await readAll(after.context)).toEqual(values)
  expect(await reencrypt(context.db, after.context.config.secret)).toMatchObject({
    reencrypted: 5,
    unreadable: [],
  })
  expect(await readAll(before.context)).toEqual(values)

  await using alone = await openApi({ current: replacement })
  expect(await readAll(alone.context)).toEqual(values)
  expect([await me(alone.url, visitor.key), await me(alone.url, newcomer.key)]).toEqual([401, 200])
  expect(await reencrypt(context.db, after.context.config.secret)).toMatchObject({ reencrypted: 0, unreadable: [] })
})

test('a repetition whose answer the former secret has encrypted is refused by name, and not carried out again', async () => {
  const { context, token, workspaceId } = platform
  const repeat = ({ url }: { url: string }) =>
    send(
      'POST',
      `${url}/v1/admin/bots`,
      { name: 'once' },
      {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspaceId,
        'idempotency-key': 'of-a-bot',
      },
    )
  await using before = await openApi({ current: former, accepted: replacement })
  await using alone = await openApi({ current: replacement })
  const first = await repeat(before)
  expect(first.status).toBe(200)
  const { status, body } = await repeat(alone)
  expect([status, body.type]).toEqual([422, 'InvalidPayload'])
  expect(body.message).toContain('The request with this Idempotency-Key has been carried out')
  expect((await repeat(before)).body).toEqual(first.body)
  expect(await context.db('bots').where({ name: 'once' }).pluck('id')).toEqual([first.body.bot.id])
})

test('a value that neither secret decrypts stays as it is, and is named', async () => {
  const { db } = platform.context
  const secrets = async () => (await db('bots').where({ id: bot.id }).first())!.secrets
  const present = await secrets()
  const { unreadable } = await reencrypt(db, { current: 'x'.repeat(40), accepted: 'y'.repeat(40) })
  expect(unreadable).toContain(bot.id)
  expect(await secrets()).toBe(present)
})

test('every column that is encrypted for its row is encrypted again', async () => {
  const { db } = platform.context
  const id = newId('datareq')
  const subject = await encryptJson({ current: former }, id, { emails: ['ada@example.org'] })
  const due = new Date(Date.now() + 3_600_000)
  await db('data_requests').insert({
    id,
    workspace_id: platform.workspaceId,
    erases_findings: false,
    subject,
    due_at: due,
  })
  const { rows } = await db.raw<{ rows: { table: string; column: string }[] }>(
    `select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and data_type in ('text', 'character varying', 'jsonb')`,
  )
  const found = []
  for (const { table, column } of rows) {
    // The header of a compact encryption with a key of the platform.
    const encrypted = await db(table).whereRaw(`??::text ~ 'eyJhbGciOiJkaXIi'`, [column]).first()
    if (encrypted) found.push(`${table}.${column}`)
  }
  const known = encryptedColumns.map(({ table, column }) => `${table}.${column}`)
  const isShortLived = /^(?:idempotency_keys|inspections)\./
  expect(found.filter((name) => !isShortLived.test(name)).toSorted()).toEqual(known.toSorted())
})

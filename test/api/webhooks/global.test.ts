import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { startServer } from '../../../api/server.ts'
import { logOf } from '../../support/install-code.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

const extractScript = 'body = object!(parse_json!(.body))\nto_string(body.team) ?? ""'
const fallbackHandlerScript = `
  if contains(string!(.query), "challenge=") {
    { "status": 202, "headers": { "x-kind": "challenge" }, "body": replace(string!(.query), "challenge=", "") }
  } else if .secrets.TOKEN == null {
    { "status": 500 }
  } else {
    assert!(false, message: "no installation")
  }`

const code = `
  export const register = async ({ client, ctx }) => {
    if (ctx.configuration.team) await client.configureIntegration({ identifier: ctx.configuration.team })
  }
  export const handler = async ({ request, logger }) => {
    logger.info('hears', request.method, request.path, request.query, request.body)
    return { body: { path: request.path, body: request.body } }
  }`

async function createIntegration(name: string, fields: object = {}, version = '1.0.0'): Promise<string> {
  const { body } = await platform.ask('POST', '/v1/admin/integrations', {
    name,
    version,
    code,
    identifier: { extractScript, fallbackHandlerScript },
    secrets: { TOKEN: 'a secret' },
    ...fields,
  })
  return body.integration.id
}

async function installFor(integrationId: string, configuration: object) {
  const { id: botId } = await platform.createBot()
  const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${botId}`, {
    integrations: { tool: { integrationId, enabled: true, configuration } },
  })
  expect([status, body.bot?.integrations?.tool?.status ?? body]).toEqual([200, 'registered'])
  return { botId, ...body.bot.integrations.tool }
}

const send = (path: string, body: unknown) =>
  fetch(`${platform.url}/integration/global/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('a request to the address of all installations reaches the one whose identifier the script finds in it', async () => {
  const id = await createIntegration('chatter')
  const [one, other] = [await installFor(id, { team: 'T1' }), await installFor(id, { team: 'T2' })]
  const response = await send('chatter/events?a=b', { team: 'T2', text: 'hello' })
  expect([response.status, await response.json()]).toEqual([
    200,
    { path: '/events', body: '{"team":"T2","text":"hello"}' },
  ])
  expect(await logOf(platform, other.botId)).toContain('info hears POST /events a=b {"team":"T2","text":"hello"}')
  expect(await logOf(platform, one.botId)).not.toContain('hears')
})

test('without an installation, the other script answers, with the secrets of the integration', async () => {
  await createIntegration('verified')
  const response = await send('verified?challenge=abc', { team: 'none' })
  expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([202, 'challenge', 'abc'])
})

test('where both scripts fail, a service gets an empty answer, so that it goes on sending', async () => {
  await createIntegration('broken')
  const response = await send('broken', 'this is no JSON')
  expect([response.status, await response.text()]).toEqual([200, ''])
})

test('a script whose outcome has characters that cannot be stored, in names of fields too, answers all the same', async () => {
  const script = 'fields = parse_json!(.body)\n{ "status": 202, "body": "heard", "fields": fields }'
  await createIntegration('unstorable', { identifier: { extractScript, fallbackHandlerScript: script } })
  const response = await send('unstorable', { 'a\u0000b': 'c\u0000d' })
  expect([response.status, await response.text()]).toEqual([202, 'heard'])
})

test('the log of the api says which identifier a request had that no enabled installation has', async () => {
  await createIntegration('lonely')
  const lines = new PassThrough()
  await using context = openContext(
    readConfig({ ...platform.environment, PORT: '0', LOG_LEVEL: 'info' }),
    createLogger('api', 'info', { destination: lines }),
  )
  await using server = await startServer(context)
  const ask = (team: string) =>
    fetch(`http://127.0.0.1:${server.port}/integration/global/lonely`, {
      method: 'POST',
      body: JSON.stringify({ team }),
    })
  expect((await ask('T404')).status).toBe(200)
  const logged = String(lines.read()).split('\n')
  expect(logged.filter((line) => line.includes('No enabled installation'))).toEqual([
    expect.stringContaining('"integration":"lonely","identifier":"T404"'),
  ])
})

test('a new version of an integration keeps the identifiers of the former one', async () => {
  const first = await createIntegration('lasting')
  const { botId } = await installFor(first, { team: 'T9' })
  const second = await createIntegration('lasting', {}, '2.0.0')
  const { body } = await platform.ask('PUT', `/v1/admin/bots/${botId}`, {
    integrations: { tool: { integrationId: second, enabled: true, configuration: {} } },
  })
  expect(body.bot.integrations.tool).toMatchObject({ version: '2.0.0', identifier: 'T9' })
  expect(await (await send('lasting', { team: 'T9' })).json()).toMatchObject({ path: '/' })
})

test('two installations in different versions cannot have the same identifier', async () => {
  const first = await createIntegration('single')
  await installFor(first, { team: 'T5' })
  const second = await createIntegration('single', {}, '1.1.0')
  const { id: botId } = await platform.createBot()
  const { body } = await platform.ask('PUT', `/v1/admin/bots/${botId}`, {
    integrations: { tool: { integrationId: second, enabled: true, configuration: { team: 'T5' } } },
  })
  expect(body.bot.integrations.tool).toMatchObject({ status: 'registration_failed' })
})

test('an integration of the same name in another workspace receives none of it', async () => {
  const id = await createIntegration('owned')
  const mine = await installFor(id, { team: 'T1' })
  const { body } = await platform.ask('POST', '/v1/admin/workspaces', { name: 'Another' })
  const theirs = { 'x-workspace-id': body.id }
  const created = await platform.ask(
    'POST',
    '/v1/admin/integrations',
    { name: 'owned', version: '9.0.0', code, identifier: { extractScript: '"T1"' } },
    theirs,
  )
  expect(created.status).toBe(200)
  const bot = await platform.ask('POST', '/v1/admin/bots', {}, theirs)
  const installed = await platform.ask(
    'PUT',
    `/v1/admin/bots/${bot.body.bot.id}`,
    {
      integrations: {
        tool: { integrationId: created.body.integration.id, enabled: true, configuration: { team: 'T1' } },
      },
    },
    theirs,
  )
  expect(installed.body.bot.integrations.tool.status).toBe('registered')
  expect((await send('owned', { team: 'T1' })).status).toBe(200)
  expect(await logOf(platform, mine.botId)).toContain('info hears POST /  {"team":"T1"}')
  const heard = await platform.context.db('events').where({ bot_id: bot.body.bot.id, type: 'webhook_received' })
  expect(heard).toEqual([])
})

test('names without such a script, and bodies of more than 4 MB, are refused', async () => {
  await createIntegration('plain', { identifier: {} })
  for (const name of ['plain', 'unknown', '%00', '..%2f']) {
    const response = await send(name, {})
    expect([name, response.status]).toEqual([name, name === '%00' ? 400 : 404])
  }
  const response = await send('chatter', `"${'x'.repeat(4 * 1024 * 1024)}"`)
  expect([response.status, await response.json()]).toMatchObject([413, { type: 'PayloadTooLarge' }])
})

test('an installation is reached at the origin and its webhook id too, as bundles of the public SDK expect', async () => {
  const { webhookId } = await installFor(await createIntegration('bare'), {})
  const response = await fetch(`${platform.url}/${webhookId}/sub?x=1`)
  expect(await response.json()).toMatchObject({ path: '/sub' })
  expect((await fetch(`${platform.url}/${crypto.randomUUID()}`)).status).toBe(404)
})

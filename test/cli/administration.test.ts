import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { endedEvents } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let isobot: CommandLine
beforeAll(async () => {
  platform = parts.use(await openPlatform())
  isobot = parts.use(await openCommandLine(platform))
})
afterAll(() => parts.disposeAsync())

interface Bot {
  id: string
  name: string
  secrets: string[]
  limits: object
  retention: object
  recurringEvents: Record<string, object>
  subscriptions: { events: object | null }
  integrations: Record<string, { webhookUrl: string; version: string; status: string; configuration: object }>
}

async function createBot(name: string, code?: string): Promise<Bot> {
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name, ...(code !== undefined && { code }) })
  return (body as { bot: Bot }).bot
}

async function readBot(id: string): Promise<Bot> {
  return ((await platform.ask('GET', `/v1/admin/bots/${id}`)).body as { bot: Bot }).bot
}

async function createIntegration(name: string, version: string, code = ''): Promise<string> {
  const schema = {
    type: 'object',
    required: ['token'],
    properties: { token: { type: 'string' }, region: { type: 'string', default: 'eu' } },
  }
  const definition = { name, version, code: code || 'export function register() {}', configuration: { schema } }
  const { status, body } = await platform.ask('POST', '/v1/admin/integrations', definition)
  expect({ status, body }).toMatchObject({ status: 200 })
  return (body as { integration: { id: string } }).integration.id
}

test('secrets come from standard input, reach the code, and are listed without values', async () => {
  const code = `export const hooks = {
    async afterIncomingMessage({ client, env, event }) {
      const text = env.SECRET_API_KEY
      await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
    },
  }`
  const bot = await createBot('keeper', code)
  const set = await isobot.run(['secrets', 'set', 'keeper', 'SECRET_API_KEY'], { input: 'first\n' })
  expect(set).toMatchObject({ code: 0, stdout: 'Added API_KEY of keeper\n' })
  const again = await isobot.run(['secrets', 'set', bot.id, 'API_KEY'], { input: 'open\nsesame' })
  expect(again.stdout).toBe('Replaced API_KEY of keeper\n')
  expect(await isobot.json('secrets', 'list', 'keeper')).toEqual({ id: bot.id, secrets: ['API_KEY'] })
  expect((await isobot.run(['chat', 'keeper', 'Say it'])).stdout).toContain('open\nsesame')

  expect(await isobot.run(['secrets', 'set', 'keeper', 'EMPTY'], { input: '\n' })).toMatchObject({ code: 2 })
  const misnamed = await isobot.run(['secrets', 'set', 'keeper', '1st'], { input: 'x' })
  expect(misnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('"1st" is no name') as string })
  const unknown = await isobot.run(['secrets', 'remove', 'keeper', 'OTHER', '--yes'])
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('it has API_KEY') as string })
  expect((await isobot.run(['secrets', 'remove', 'keeper', 'API_KEY'])).code).toBe(2)
  await isobot.json('secrets', 'remove', 'keeper', 'API_KEY', '--yes')
  expect((await readBot(bot.id)).secrets).toEqual([])

  const integrationId = await createIntegration('vault', '1.0.0')
  await isobot.run(['secrets', 'set', 'vault@1.0.0', 'TOKEN', '--integration'], { input: 'x' })
  expect(await isobot.json('secrets', 'list', 'vault', '--integration')).toEqual({
    id: integrationId,
    secrets: ['TOKEN'],
  })
})

test('members are invited, listed, given roles and removed', async () => {
  const invited = await isobot.json<{ id: string; invitationUrl: string }>('members', 'invite', 'ada@example.com')
  expect(invited).toMatchObject({ role: 'developer', invitationUrl: expect.stringContaining('#inv_') as string })
  expect((await isobot.run(['members', 'list'])).stdout).toMatch(/ada@example\.com +developer +invited/)
  const changed = await isobot.json('members', 'role', 'Ada@example.com', 'viewer')
  expect(changed).toMatchObject({ from: 'developer', member: { role: 'viewer' } })
  const misspelt = await isobot.run(['members', 'remove', 'adda@example.com', '--yes'])
  expect(misspelt).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean "ada@example.com"') as string,
  })
  expect((await isobot.run(['members', 'role', 'ada@example.com', 'king'])).code).toBe(2)
  expect((await isobot.run(['members', 'remove', 'ada@example.com'])).code).toBe(2)
  await isobot.json('members', 'remove', invited.id, '--yes')
  expect((await isobot.run(['members', 'list'])).stdout).not.toContain('ada@example.com')
})

interface AuditRecord {
  id: string
  operation: string
  resourceId: string
  recordedAt: string
}

function recordsIn(lines: string): AuditRecord[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditRecord)
}

test('audit records are exported page by page, to a new file or to standard output, with filters', async () => {
  const { id } = await createBot('audited')
  // More than one page of 100.
  const last = 104
  for (let note = 0; note <= last; note++) {
    const { status } = await platform.ask('PUT', `/v1/admin/bots/${id}`, { name: `audited ${note}` })
    expect(status).toBe(200)
  }
  const path = join(isobot.folder, 'audit.ndjson')
  const command = ['audit', 'export', '--operation', 'updateBot', '--resource', id]
  expect(await isobot.json(...command, '-o', path)).toEqual({ path, records: last + 1 })
  const text = await readFile(path, 'utf8')
  const records = recordsIn(text)
  expect(new Set(records.map((record) => record.id)).size).toBe(last + 1)
  expect(records.every(({ operation, resourceId }) => operation === 'updateBot' && resourceId === id)).toBe(true)
  const times = records.map(({ recordedAt }) => recordedAt)
  expect(times).toEqual(times.toSorted().toReversed())
  expect((await stat(path)).mode & 0o777).toBe(0o600)

  const since = times[3]!
  const newest = await isobot.run([...command, '--since', since])
  expect(recordsIn(newest.stdout)).toEqual(records.filter(({ recordedAt }) => recordedAt >= since))
  // An existing file stays as it is, and a refused export leaves none.
  expect(await isobot.run([...command, '-o', path])).toMatchObject({ code: 2, stdout: '' })
  expect(await readFile(path, 'utf8')).toBe(text)
  const refused = join(isobot.folder, 'refused.ndjson')
  const environment = { ISOBOT_TOKEN: 'none' }
  expect(await isobot.run([...command, '-o', refused], { environment })).toMatchObject({ code: 3 })
  expect((await readdir(isobot.folder)).filter((name) => name.includes('ndjson'))).toEqual(['audit.ndjson'])
})

test('tokens of the account and of a bot are created, used and revoked', async () => {
  const created = await isobot.run(['tokens', 'create', '--note', 'CI'])
  expect(created.stdout).toMatch(/^\S+\n$/)
  const environment = { ISOBOT_TOKEN: created.stdout.trim() }
  const listed = await isobot.run(['tokens', 'list', '--json'], { environment })
  const { tokens } = JSON.parse(listed.stdout) as { tokens: { id: string; note: string }[] }
  const { id } = tokens.find(({ note }) => note === 'CI')!
  expect((await isobot.run(['tokens', 'revoke', id])).code).toBe(2)
  await isobot.json('tokens', 'revoke', id, '--yes')
  expect(await isobot.run(['tokens', 'list'], { environment })).toMatchObject({ code: 3 })
  expect(await isobot.run(['tokens', 'revoke', id, '--yes'])).toMatchObject({ code: 1 })

  const bot = await createBot('keyed')
  const key = await isobot.json<{ token: { id: string; value: string } }>(
    'tokens',
    'create',
    '--note',
    'x',
    '--bot',
    'keyed',
  )
  const headers = { authorization: `Bearer ${key.token.value}`, 'x-bot-id': bot.id }
  expect((await fetch(`${platform.url}/v1/chat/users`, { headers })).status).toBe(200)
  await isobot.json('tokens', 'revoke', key.token.id, '--bot', 'keyed', '--yes')
  expect((await fetch(`${platform.url}/v1/chat/users`, { headers })).status).toBe(401)
})

test('users of a bot are listed, shown and deleted', async () => {
  const { id, integrations } = await createBot('host')
  const person = await createChatUser(integrations['chat']!.webhookUrl, { name: 'Ada' })
  await person.createConversation()
  const { users } = await isobot.json<{ users: { id: string; name?: string }[] }>('users', 'list', 'host')
  const ada = users.find(({ name }) => name === 'Ada')!
  expect(await isobot.json('users', 'show', id, ada.id)).toMatchObject({ user: { name: 'Ada' } })
  expect((await isobot.run(['users', 'delete', 'host', ada.id])).code).toBe(2)
  await isobot.json('users', 'delete', 'host', ada.id, '--yes')
  expect(await isobot.run(['users', 'show', 'host', ada.id])).toMatchObject({ code: 1, stdout: '' })
})

test('integrations are granted hosts, installed, configured, updated and removed', async () => {
  const failing = `export function register({ ctx }) {
    if (ctx.configuration.token === 'wrong') throw new Error('The token is wrong')
  }`
  const first = await createIntegration('acme', '1.0.0', failing)
  await createIntegration('acme', '1.1.0', failing)
  const { id } = await createBot('shop')
  expect(await isobot.json('integrations', 'grant', 'acme@1.0.0', 'api.acme.example')).toEqual({
    id: first,
    net: ['api.acme.example'],
  })
  expect((await isobot.run(['integrations', 'show', 'acme@1.0.0'])).stdout).toMatch(/configuration +token\* region/)

  const install = ['integrations', 'install', 'shop', 'acme@1.0.0', '--configuration', '-']
  const wrong = await isobot.run(install, { input: '{"token":"wrong"}' })
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('The token is wrong') as string })
  expect(await isobot.run(install, { input: '{"token":"x"}' })).toMatchObject({ code: 2 })
  const configure = ['integrations', 'configure', 'shop', 'acme', '--configuration', '-']
  const configured = await isobot.run(configure, { input: '{"token":"right"}' })
  expect(configured.stdout).toMatch(/^Configured acme \(acme@1\.0\.0\): registered\n {2}webhook +http/)
  expect(await isobot.json('integrations', 'update', 'shop', 'acme')).toMatchObject({ from: '1.0.0' })
  expect((await readBot(id)).integrations['acme']).toMatchObject({
    version: '1.1.0',
    configuration: { token: 'right', region: 'eu' },
  })
  expect((await isobot.run(['integrations', 'list', 'shop'])).stdout).toMatch(/acme +acme +1\.1\.0 +registered/)
  expect((await isobot.run(['integrations', 'remove', 'shop', 'chat', '--yes'])).code).toBe(2)
  await isobot.json('integrations', 'remove', 'shop', 'acme', '--yes')
  expect(Object.keys((await readBot(id)).integrations)).toEqual(['chat'])
  const unknown = await isobot.run(['integrations', 'install', 'shop', 'acmee'])
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no integration "acmee"') as string })
})

/** A bot that says a word, and fails when it is asked to. */
function answering(word: string): string {
  return `export const hooks = {
  async afterIncomingMessage({ client, event }) {
    if (event.preview === 'fail') throw new Error('asked to')
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: '${word}' } })
  },
}
`
}

describe('a project', () => {
  let folder: string
  async function declare(settings: object, word = 'one'): Promise<void> {
    await writeFile(join(folder, 'isobot.json'), JSON.stringify(settings))
    await writeFile(join(folder, 'src', 'index.ts'), answering(word))
  }
  const declared = {
    name: 'declared',
    limits: { cpuMilliseconds: 500 },
    retention: { conversationDays: 90, userDays: 0 },
    recurringEvents: { nightly: { schedule: { cron: '0 3 * * *' }, type: 'nightly', payload: { full: true } } },
    integrations: {
      crm: { integration: 'crm@^1.0.0', configuration: { token: { env: 'CRM_TOKEN' } }, hosts: ['api.crm.example'] },
    },
    secrets: ['SECRET_API_KEY'],
    subscriptions: { events: ['message_created', 'nightly'] },
  }
  const environment = { CRM_TOKEN: 'from the environment' }
  const deploy = (...options: string[]) => isobot.run(['deploy', folder, '--no-types', ...options], { environment })

  beforeAll(async () => {
    await createIntegration('crm', '1.0.0')
    folder = join(isobot.folder, 'declared')
    await isobot.json('init', 'declared')
  })

  test('shows the difference of its declarations to what is in service, and applies it with the code', async () => {
    await declare(declared)
    const dry = await deploy('--dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    for (const line of [
      '+ code',
      '+ limits',
      '+ retention',
      '+ recurringEvents.nightly',
      '+ integrations.crm',
      'subscriptions.events',
    ]) {
      expect(dry.stdout).toContain(line)
    }
    expect(dry.stdout).toContain('isobot secrets set declared API_KEY')
    expect(dry.stdout).not.toContain(environment.CRM_TOKEN)
    expect((await isobot.run(['bots', 'list'])).stdout).not.toContain('declared')

    const deployed = await deploy()
    expect(deployed).toMatchObject({ code: 0, stdout: expect.stringContaining('Created declared') as string })
    expect(deployed.stderr).toContain('+ integrations.crm')
    const [id] = Object.values(((await readSettings()) as { bots: Record<string, string> }).bots)
    expect(await readBot(id!)).toMatchObject({
      limits: { cpuMilliseconds: 500 },
      retention: { conversationDays: 90, userDays: 0 },
      recurringEvents: { nightly: { schedule: { cron: '0 3 * * *' }, payload: { full: true } } },
      subscriptions: { events: { message_created: {}, nightly: {} } },
      integrations: { crm: { status: 'registered', configuration: { token: 'from the environment', region: 'eu' } } },
    })
    expect((await isobot.run(['integrations', 'show', 'crm'])).stdout).toMatch(/hosts +api\.crm\.example/)
    expect((await deploy('--dry-run')).stdout).toMatch(/^Nothing would change\nDeclared secrets/)

    const { bots } = (await readSettings()) as { bots: object }
    const { limits: _limits, ...others } = declared
    const lastly = { ...others, bots, recurringEvents: {}, subscriptions: { events: null } }
    await declare(lastly, 'two')
    expect((await deploy('--dry-run')).stdout).toMatch(
      /~ code {2}\w{12} → \w{12}, lines \+1 −1\n.*~ subscriptions\.events.*\n.*- recurringEvents\.nightly/,
    )
    await deploy()
    expect(await readBot(id!)).toMatchObject({ recurringEvents: {}, subscriptions: { events: null } })
  })

  async function readSettings(): Promise<object> {
    return JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8')) as object
  }

  test('names what it declares wrongly, and changes nothing', async () => {
    const before = await readSettings()
    for (const [wrong, words] of [
      [{ recuringEvents: {} }, 'recuringEvents'],
      [{ integrations: { crm: { integration: 'crmm' } } }, 'no integration "crmm"'],
      [
        { integrations: { crm: { integration: 'crm', configuration: { token: { env: 'UNSET' } } } } },
        'UNSET, which is not set',
      ],
    ] as const) {
      await declare({ ...before, ...wrong })
      const { code, stderr } = await deploy()
      expect(code).not.toBe(0)
      expect(stderr).toContain(words)
    }
    await declare(before)
  })

  test('is deployed to an environment, whose version is then promoted as it is, with the places in its sources', async () => {
    const environments = { staging: { profile: 'nearby', name: 'declared-staging', secrets: [] } }
    const { bots, ...before } = (await readSettings()) as { bots: object }
    await declare({ ...before, bots, environments }, 'three')
    const login = await isobot.run(['login', '--url', platform.url, '--profile', 'nearby'])
    expect(login).toMatchObject({ code: 0 })
    expect((await deploy('--env', 'stagin')).stderr).toContain('did you mean "staging"')
    expect(await deploy('--env', 'staging')).toMatchObject({ code: 0 })
    const settings = (await readSettings()) as {
      bots: object
      environments: { staging: { bots: Record<string, string> } }
    }
    expect(settings.bots).toEqual(bots)
    expect(Object.values(settings.environments.staging.bots)).toHaveLength(1)

    const other = await createBot('declared-live')
    const promoted = await isobot.json<{ hash: string; to: { versionId: string } }>(
      'promote',
      'declared-staging',
      'declared-live',
    )
    const versions = await isobot.json<{ versions: { hash: string; description: string }[] }>(
      'bots',
      'versions',
      'declared-live',
    )
    expect(versions.versions).toMatchObject([
      { hash: promoted.hash, description: expect.stringContaining('declared-staging') as string },
    ])
    expect((await isobot.run(['chat', 'declared-live', 'Hi'])).stdout).toContain('three')
    const chatUser = await createChatUser(other.integrations['chat']!.webhookUrl)
    await chatUser.send(await chatUser.createConversation(), 'fail')
    await endedEvents(platform, other.id, 2)
    expect((await isobot.run(['logs', 'declared-live'])).stdout).toContain('src/index.ts:3:')
    expect(await isobot.run(['promote', 'declared-live', other.id])).toMatchObject({ code: 2 })
    const absent = await isobot.run(['promote', 'declared-live', 'absent'])
    expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('isobot bots create absent') as string })
    expect(await isobot.run(['promote', 'declared-live', 'declared', '--from-version', 'nope'])).toMatchObject({
      code: 1,
    })
  })
})

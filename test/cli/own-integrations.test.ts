import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

const definition = {
  name: 'crm',
  version: '1.0.0',
  title: 'CRM',
  configuration: { schema: { type: 'object', properties: { region: { type: 'string', default: 'eu' } } } },
}

const code = `import type { Register, WebhookHandler } from 'isobot/bot'
export const register: Register<{ region: string }> = ({ ctx, logger }) => logger.info('in', ctx.configuration.region)
export const handler: WebhookHandler = ({ ctx }) => ({ body: ctx.configuration.region })
`

/** Code with an action. */
const exporting = (name: string) => `${code}export const actions = { ${name}: () => ({}) }\n`

/** Creates a project with an integration of its own. */
async function createProject(name: string, source = code): Promise<string> {
  const { folder } = await isobot.json<{ folder: string }>('init', name)
  await mkdir(join(folder, 'integrations', 'crm'), { recursive: true })
  await write(folder, 'integration.json', { ...definition, name })
  await write(folder, 'index.ts', source)
  const integrations = { crm: { integration: './integrations/crm', hosts: ['api.crm.example'] } }
  await writeFile(join(folder, 'isobot.json'), JSON.stringify({ name, integrations }))
  return folder
}

async function write(folder: string, file: string, content: string | object): Promise<void> {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  await writeFile(join(folder, 'integrations', 'crm', file), text)
}

/** The fields that a deployment would change. */
async function wouldChange(folder: string): Promise<string[]> {
  const { changes } = await isobot.json<{ changes: { field: string }[] }>('deploy', folder, '--dry-run')
  return changes.map(({ field }) => field)
}

interface Deployed {
  bot: { id: string }
  integrations: Record<string, { status: string; webhookUrl: string }>
}

test('deploy creates the integration of a project and installs it; then it uploads what has changed, and shows that before', async () => {
  const folder = await createProject('shop')
  expect(await wouldChange(folder)).toEqual([
    'code',
    'integrations.crm',
    'integrations.crm.hosts',
    'integrations.crm.code',
  ])
  expect((await platform.ask('GET', '/v1/admin/integrations')).body.integrations).toEqual([])
  const { bot, integrations } = await isobot.json<Deployed>('deploy', folder)
  const { status, webhookUrl } = integrations['crm']!
  expect(status).toBe('registered')
  const answer = async () => (await fetch(webhookUrl, { method: 'POST' })).text()
  expect(await answer()).toBe('eu')
  const stored = await platform.ask('GET', '/v1/admin/integrations/shop/1.0.0')
  expect(stored.body.integration).toMatchObject({ title: 'CRM', permissions: { net: ['api.crm.example'] } })
  expect(await wouldChange(folder)).toEqual([])

  await write(folder, 'index.ts', code.replace('body: ctx.configuration.region', "body: 'changed'"))
  expect(await wouldChange(folder)).toEqual(['integrations.crm.code'])
  await write(folder, 'integration.json', { ...definition, name: 'shop', title: 'Customers' })
  expect(await wouldChange(folder)).toEqual(['integrations.crm.code', 'integrations.crm.definition'])
  await isobot.json('deploy', folder)
  await expect.poll(answer).toBe('changed')
  expect(await wouldChange(folder)).toEqual([])

  // A new version is another integration, to which the installation changes.
  await write(folder, 'integration.json', { ...definition, name: 'shop', version: '1.1.0' })
  await isobot.json('deploy', folder)
  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}`)
  expect(body.bot.integrations.crm).toMatchObject({ version: '1.1.0', webhookUrl })
})

test('what the definition and the code of an integration no longer have is removed, and shown before', async () => {
  const folder = await createProject('shrinking', exporting('look'))
  const more = {
    title: 'Customers',
    description: 'All of them',
    user: { tags: { crm: {} } },
    channels: { desk: { title: 'Desk', messages: { text: { schema: {} } } } },
    actions: { look: { title: 'Look', input: { schema: { type: 'object' } }, output: { schema: {} } } },
    events: { opened: { schema: {} } },
    attributes: { kind: 'crm' },
    identifier: { extractScript: '"one"' },
    maxExecutionTime: 60,
  }
  const name = 'shrinking'
  await write(folder, 'integration.json', { ...definition, ...more, name })
  await isobot.json('deploy', folder)
  const stored = async () => (await platform.ask('GET', `/v1/admin/integrations/${name}/1.0.0`)).body.integration
  expect(await stored()).toMatchObject(more)
  await platform.ask('PUT', `/v1/admin/integrations/${(await stored()).id}`, { visibility: 'public' })

  await write(folder, 'integration.json', { name, version: '1.0.0' })
  expect(await wouldChange(folder)).toEqual(['integrations.crm.definition'])
  await isobot.json('deploy', folder)
  const shrunk = await stored()
  expect(shrunk).toMatchObject({
    title: name,
    description: '',
    channels: {},
    events: {},
    identifier: {},
    visibility: 'public',
    actions: { look: { input: { schema: {} }, output: { schema: {} } } },
  })
  expect(shrunk.actions.look).not.toHaveProperty('title')
  expect(shrunk.configuration.schema).toEqual({})
  expect(shrunk.user.tags).toEqual({})
  expect(shrunk).not.toHaveProperty('maxExecutionTime')
  expect(await wouldChange(folder)).toEqual([])

  await write(folder, 'index.ts', exporting('find'))
  await isobot.json('deploy', folder)
  expect(Object.keys((await stored()).actions as object)).toEqual(['find'])
  const { status, body } = await platform.ask('PUT', `/v1/admin/integrations/${shrunk.id}`, { replaceDefinition: true })
  expect({ status, message: body.message }).toEqual({ status: 400, message: expect.stringContaining('needs code') })
})

test('problems of an integration are shown with their places, and nothing is deployed', async () => {
  const folder = await createProject('faulty')
  const cases: [file: string, content: string | object, message: RegExp][] = [
    ['index.ts', `${code}export const actions = {`, /integrations\/crm\/index\.ts:4:\d+: Expected identifier/],
    ['index.ts', code.replace('logger.info', 'logger.inform'), /integrations\/crm\/index\.ts:2:\d+: TS2551/],
    ['index.ts', `${code}\nthrow new RangeError('at load')`, /integrations\/crm\/index\.ts:5:7: RangeError: at load/],
    ['index.ts', 'export const nothing = 1', /exports nothing that the platform calls/],
    ['integration.json', '{ "name": ', /integrations\/crm\/integration\.json is not valid JSON/],
    ['integration.json', { ...definition, versoin: 1 }, /integration\.json: .*versoin/],
    ['integration.json', { name: 'crm' }, /integration\.json: .*version/],
  ]
  for (const [file, content, message] of cases) {
    await write(folder, 'index.ts', code)
    await write(folder, 'integration.json', { ...definition, name: 'faulty' })
    await write(folder, file, content)
    const refused = await isobot.run(['deploy', folder])
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) as string })
  }
  const { body } = await platform.ask('GET', '/v1/admin/bots')
  expect((body.bots as { name: string }[]).map(({ name }) => name)).not.toContain('faulty')
})

test('an integration of several installations is uploaded once, and granted the hosts of all of them', async () => {
  const folder = await createProject('twice')
  const { integration } = (
    await platform.ask('POST', '/v1/admin/integrations', {
      name: 'pager',
      version: '1.0.0',
      code: 'export const register = () => {}',
    })
  ).body
  const declare = (hosts: Record<string, string[]>) => {
    const own = { integration: './integrations/crm' }
    const integrations = {
      north: { ...own, hosts: hosts['north'] },
      south: { ...own, hosts: hosts['south'] },
      day: { integration: 'pager', hosts: hosts['day'] },
      night: { integration: 'pager', hosts: hosts['night'] },
    }
    return writeFile(join(folder, 'isobot.json'), JSON.stringify({ name: 'twice', integrations, bots }))
  }
  let bots: object | undefined
  await declare({ north: ['north.example'], south: ['south.example'], day: ['day.example'], night: ['night.example'] })
  const { integrations } = await isobot.json<Deployed>('deploy', folder)
  expect(integrations).toMatchObject({ north: { status: 'registered' }, south: { status: 'registered' } })
  const hostsOf = async (path: string) =>
    (await platform.ask('GET', `/v1/admin/integrations/${path}`)).body.integration.permissions.net as string[]
  expect(await hostsOf('twice/1.0.0')).toEqual(['north.example', 'south.example'])
  expect(await hostsOf(integration.id)).toEqual(['day.example', 'night.example'])
  expect(await wouldChange(folder)).toEqual([])

  bots = (JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8')) as { bots: object }).bots
  await declare({ north: ['third.example'], south: [], day: [], night: ['third.example'] })
  await isobot.json('deploy', folder)
  expect(await hostsOf('twice/1.0.0')).toEqual(['north.example', 'south.example', 'third.example'])
  expect(await hostsOf(integration.id)).toEqual(['day.example', 'night.example', 'third.example'])
})

test('a deployment that is refused after an integration was changed names the integration', async () => {
  const folder = await createProject('halfway')
  const deploy = (...options: string[]) => isobot.run(['deploy', folder, '--no-types', ...options])
  const writeBot = (source: string) => writeFile(join(folder, 'src', 'index.ts'), source)
  expect(await deploy()).toMatchObject({ code: 0 })
  await writeBot('throw new RangeError("at load")')
  expect((await deploy()).stderr).toMatch(/error: Nothing was deployed:\n\n.*RangeError: at load/s)

  await write(folder, 'index.ts', code.replace('body: ctx.configuration.region', "body: 'second'"))
  const words = 'Changed before, and still so: the integration halfway@1.0.0'
  const problem = await deploy()
  expect(problem).toMatchObject({ code: 1, stderr: expect.stringContaining(`The bot was not deployed. ${words}:`) })
  await write(folder, 'index.ts', code.replace('body: ctx.configuration.region', "body: 'third'"))
  await writeBot('export const actions = { nothing() {} }')
  const loss = await deploy()
  expect(loss).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Until then the bot was not changed. ${words}`),
  })
  expect(loss.stderr).toContain('The project has no hooks')
  // The integration is the same now.
  expect((await deploy()).stderr).not.toContain('Changed before')
})

test('a name that another bot has is refused before an integration is created', async () => {
  const folder = await createProject('taken')
  await platform.ask('POST', '/v1/admin/bots', { name: 'taken' })
  expect(await isobot.run(['deploy', folder])).toMatchObject({ code: 2, stderr: expect.stringContaining('--bot bot_') })
  expect((await platform.ask('GET', '/v1/admin/integrations/taken/1.0.0')).status).toBe(404)
})

test('warnings about the scripts of an integration are printed, and in the document for programs', async () => {
  const folder = await createProject('scripted')
  const scripted = { ...definition, name: 'scripted', identifier: { extractScript: '.body +' } }
  await write(folder, 'integration.json', scripted)
  const warning = 'scripted@1.0.0: identifier.extractScript does not compile: line 1, column 8: '
  const { code: exitCode, stderr } = await isobot.run(['deploy', folder])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringContaining(`Warning: ${warning}`) as string,
  })
  await write(folder, 'integration.json', { ...scripted, title: 'Changed' })
  const { warnings } = await isobot.json<{ warnings: string[] }>('deploy', folder)
  expect(warnings).toEqual([expect.stringContaining(warning)])
})

test('a registration that fails is reported with its reason, and with exit code 1', async () => {
  const folder = await createProject(
    'refused',
    code
      .replace("logger.info('in'", "fail('no region'")
      .concat('function fail(reason: string, region: string): void { throw new Error(`${reason} ${region}`) }'),
  )
  const { code: exitCode, stdout, stderr } = await isobot.run(['deploy', folder])
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/Created refused/) as string,
  })
  expect(stderr).toContain('not registered: crm: ')
  expect(stderr).toContain('no region eu')
  expect(JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8'))).toHaveProperty('bots')
})

/** A line of `isobot dev --json`. */
interface Item {
  kind: string
}

test('dev deploys again when only an integration has changed, or what isobot.json declares', async () => {
  const folder = await createProject('worked-on')
  const developing = isobot.start(['dev', folder, '--json', '--no-types'])
  const deployed = () =>
    developing
      .stdout()
      .split('\n')
      .filter((line) => line !== '' && (JSON.parse(line) as Item).kind === 'deployed')
  await expect.poll(deployed, { timeout: 30_000 }).toHaveLength(1)
  await write(folder, 'index.ts', code.replace('body: ctx.configuration.region', "body: 'changed'"))
  await expect.poll(deployed, { timeout: 30_000 }).toHaveLength(2)
  const settings = JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8')) as { bots: Record<string, string> }
  const change = (fields: object) => writeFile(join(folder, 'isobot.json'), JSON.stringify({ ...settings, ...fields }))
  await change({ limits: { cpuMilliseconds: 'many' } })
  await expect.poll(developing.stdout, { timeout: 30_000 }).toMatch(/"kind":"failure".*isobot\.json: .*cpuMilliseconds/)
  await change({ limits: { cpuMilliseconds: 150 }, integrations: {} })
  await expect.poll(deployed, { timeout: 30_000 }).toHaveLength(3)
  const [botId] = Object.values(settings.bots)
  expect((await platform.ask('GET', `/v1/admin/bots/${botId}`)).body.bot.limits).toEqual({ cpuMilliseconds: 150 })
  developing.child.kill('SIGINT')
  expect(await developing.ended).toMatchObject({ code: 0 })
})

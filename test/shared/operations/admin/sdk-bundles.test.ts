import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { logOf } from '../../../support/install-code.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { bundleSdk } from '../../../sdk/bundle.ts'

let platform: Platform
let bundle: string
beforeAll(async () => {
  platform = await openPlatform()
  bundle = await bundleSdk('echo-bot.ts')
})
afterAll(() => platform[Symbol.asyncDispose]())

async function kindOf(code: string): Promise<string> {
  const { status, body } = await platform.ask('POST', '/v1/admin/bots', { code })
  expect({ status, message: body.message }).toEqual({ status: 200, message: undefined })
  return body.bot.version.kind
}

describe('uploaded code is taken for', () => {
  test('a bundle of the SDK when it is one, and is kept as it is', async () => {
    const { body } = await platform.ask('POST', '/v1/admin/bots', { code: bundle })
    expect(body.bot.version).toMatchObject({ kind: 'sdk', hooks: [], actions: [] })
    expect(await bundleOf('bot_versions', body.bot.version.id)).toMatchObject({
      kind: 'sdk',
      source: bundle,
      script: null,
      source_map: '',
    })
  })

  test.each([
    ['a bundle of the SDK when it is CommonJS and exports a handler', 'exports.handler = async () => {}', 'sdk'],
    ['a module when it is an ES module with a handler', 'export const handler = () => {}', 'native'],
    ['a module when it is CommonJS and only speaks of a handler', 'exports.actions = { handler() {} }', 'native'],
    ['a module when it is CommonJS without a handler', 'exports.hooks = { afterTurnEnd() {} }', 'native'],
  ])('%s', async (_what, code, kind) => {
    expect(await kindOf(code)).toBe(kind)
  })

  test('a bundle of the SDK as an integration too', async () => {
    const code = await bundleSdk('integration.ts')
    const { body } = await platform.ask('POST', '/v1/admin/integrations', { name: 'sdk', version: '1.0.0', code })
    expect(await bundleOf('integrations', body.integration.id)).toMatchObject({
      kind: 'sdk',
      source: code,
      script: null,
    })
  })
})

describe('the same code is stored and compiled once', () => {
  const code = `const { format } = require('util'); exports.handler = async () => format('the same code everywhere')`

  test('for versions of bots, for other bots and for integrations', async () => {
    const { body: first } = await platform.ask('POST', '/v1/admin/bots', { code })
    const { body: second } = await platform.ask('POST', '/v1/admin/bots', { code })
    const { body: again } = await platform.ask('PUT', `/v1/admin/bots/${first.bot.id}`, { code })
    const named = { name: 'same', version: '1.0.0', code }
    const { body: used } = await platform.ask('POST', '/v1/admin/integrations', named)
    expect(again.bot.version.id).not.toBe(first.bot.version.id)
    const bundles = [
      await bundleOf('bot_versions', first.bot.version.id),
      await bundleOf('bot_versions', second.bot.version.id),
      await bundleOf('bot_versions', again.bot.version.id),
      await bundleOf('integrations', used.integration.id),
    ]
    expect(new Set(bundles.map((each) => each!.id)).size).toBe(1)
    expect(await platform.context.db('bundles').where({ source: code }).select('id')).toHaveLength(1)
  })

  test('and is evaluated each time, with the secrets of the upload', async () => {
    const needy = `exports.handler = async () => {}
      if (!process.env.SECRET_KEY) throw new Error('KEY is missing')`
    const fields = { name: 'needy', code: needy }
    const secrets = { KEY: 'k' }
    expect(
      await platform.ask('POST', '/v1/admin/integrations', { ...fields, version: '1.0.0', secrets }),
    ).toMatchObject({
      status: 200,
    })
    const refused = await platform.ask('POST', '/v1/admin/integrations', { ...fields, version: '1.0.1' })
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('KEY is missing') } })
  })

  test('with the same declaration, flows and refusals', async () => {
    const native = `export const hooks = { async afterIncomingMessage() {} }
      export const actions = { greet() {} }
export const flows = [{ id: 'main', start: 'first', nodes: [{ id: 'first', cards: [] }] }]`
    const versions = []
    for (let upload = 0; upload < 2; upload++) {
      const { status, body } = await platform.ask('POST', '/v1/admin/bots', { code: native })
      expect({ status, message: body.message }).toEqual({ status: 200, message: undefined })
      const path = `/v1/admin/bots/${body.bot.id}/versions/${body.bot.version.id}`
      const { id: _id, createdAt: _createdAt, ...version } = (await platform.ask('GET', path)).body.version
      versions.push(version)
    }
    expect(versions[0]).toMatchObject({ hooks: ['afterIncomingMessage'], actions: ['greet'], code: native })
    expect(versions[1]).toEqual(versions[0])
  })
})

async function bundleOf(table: 'bot_versions' | 'integrations', id: string) {
  const { db } = platform.context
  const row = await db(table).where({ id }).first('bundle_id', 'source', 'script', 'source_map')
  expect(row).toMatchObject({ source: null, script: null, source_map: null })
  return db('bundles').where({ id: row!.bundle_id! }).first()
}

test('an integration that is a bundle of the SDK is registered, configures itself and says why it cannot', async () => {
  const code = await bundleSdk('integration.ts')
  const { body } = await platform.ask('POST', '/v1/admin/integrations', { name: 'outside', version: '1.0.0', code })
  const integrationId = body.integration.id
  const integrations = {
    fine: { integrationId, configuration: { account: 'somebody' } },
    wrong: { integrationId, configuration: { refuse: true } },
  }
  const { body: created } = await platform.ask('POST', '/v1/admin/bots', { integrations })
  expect(created.bot.integrations).toMatchObject({
    fine: { status: 'registered', statusReason: null, identifier: 'somebody' },
    wrong: { status: 'registration_failed', statusReason: expect.stringContaining('The configuration is refused') },
  })
})

describe('a bundle is refused', () => {
  test.each([
    ['./build/sharp.node', "'./build/sharp.node'"],
    ['left-pad', "'left-pad'"],
  ])('when it requires %s while it loads, which the error names', async (module, named) => {
    const code = `const it = require('${module}'); require('util'); exports.handler = () => it`
    const answer = await platform.ask('POST', '/v1/admin/bots', { code })
    expect(answer).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    expect(answer.body.message).toContain(`Cannot find module ${named}`)
  })

  test('when its handler is no function', async () => {
    const answer = await platform.ask('POST', '/v1/admin/bots', { code: 'exports.handler = 42' })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('must be a function') } })
  })

  test('when it throws while it loads', async () => {
    const code = "exports.handler = () => {}; throw new Error('not in the mood')"
    const answer = await platform.ask('POST', '/v1/admin/bots', { code })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('not in the mood') } })
  })
})

test.each([
  ['modules of Node', `const { Worker } = require('worker_threads'); const { spawn } = require('node:child_process')`],
  ['a module that it can do without', `let it; try { it = require('encoding') } catch {}`],
  ['a module only on use', `const later = () => require('left-pad')`],
])('a bundle is accepted that requires %s', async (_what, code) => {
  expect(await kindOf(`${code}; exports.handler = () => ({})`)).toBe('sdk')
})

describe('the secrets of a bundle are there while it loads', () => {
  const reading = `
    const token = process.env.SECRET_TOKEN
    if (token !== 'a token of the service') throw new Error('without its secret, but with ' + token)
    exports.handler = async () => ({ status: 200 })`
  const upload = (name: string, fields: object) =>
    platform.ask('POST', '/v1/admin/integrations', { name, version: '1.0.0', code: reading, ...fields })

  test('of an integration that is created, validated and updated', async () => {
    const secrets = { TOKEN: 'a token of the service' }
    const created = await upload('reads-secrets', { secrets })
    expect({ status: created.status, message: created.body.message }).toEqual({ status: 200, message: undefined })
    const { id } = created.body.integration
    const code = `${reading}\n// again`
    for (const path of [`/v1/admin/integrations/${id}/validate`, `/v1/admin/integrations/${id}`]) {
      expect(await platform.ask('PUT', path, { code })).toMatchObject({ status: 200 })
      const refused = await platform.ask('PUT', path, { code, secrets: { TOKEN: null } })
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('without its secret') } })
    }
    const fields = { name: 'reads-too', version: '1.0.0', code: reading, secrets }
    expect(await platform.ask('POST', '/v1/admin/integrations/validate', fields)).toMatchObject({ status: 200 })
  })

  test('of a bot', async () => {
    const fields = { code: reading, secrets: { TOKEN: 'a token of the service' } }
    const { status, body } = await platform.ask('POST', '/v1/admin/bots', fields)
    expect({ status, message: body.message }).toEqual({ status: 200, message: undefined })
    const answer = await platform.ask('PUT', `/v1/admin/bots/${body.bot.id}`, { code: `${reading}\n// again` })
    expect(answer).toMatchObject({ status: 200 })
  })

  test('and are neither kept with the inspection nor contained in its refusal', async () => {
    const answer = await upload('tells-secrets', { secrets: { TOKEN: 'another token of it' } })
    expect(answer.body.message).toContain('but with ***')
    expect(await platform.context.db('inspections').first()).toBeUndefined()
  })
})

test('a bundle of 14 MB loads within the usual limits', async () => {
  const code = largeBundle(14)
  const { status, body } = await platform.ask('POST', '/v1/admin/bots', { code })
  expect({ status, message: body.message, kind: body.bot?.version.kind }).toEqual({
    status: 200,
    message: undefined,
    kind: 'sdk',
  })
}, 60_000)

/** Modules of classes as clients of services have them, each evaluated while the bundle loads. */
function largeBundle(megabytes: number): string {
  const methods = Array.from(
    { length: 40 },
    (_, index) =>
      `get${index}(params,options){const root=options?.rootUrl||'https://service.example.com/';return{url:(root+'/v1/{project}/resource${index}').replace(/([^:]\\/)\\/+/g,'$1'),method:'GET',params,required:['project'],context:this.context}}`,
  ).join('')
  const module = (index: number) =>
    `var m${index}=(exports)=>{class Resource${index}{constructor(context){this.context=context}${methods}}exports.Resource=Resource${index};return exports};\n`
  const count = Math.ceil((megabytes * 1024 * 1024) / module(1000).length)
  const modules = Array.from({ length: count }, (_, index) => module(index)).join('')
  const loaded = Array.from({ length: count }, (_, index) => `m${index}({})`).join(',')
  return `${modules}const all=[${loaded}];new all[${count - 1}].Resource(1).get1({});exports.handler=async()=>({status:200})\n`
}

/** A bundle whose `register` logs its name. */
const registering = (name: string) => `exports.handler = async ({ headers }) => {
  if (headers['x-bp-operation'] === 'register') console.info('${name} registers')
  return { status: 200 }
}`

test('a bundle registers after each deployment, also when it is deployed again', async () => {
  const bot = await platform.createBot(registering('former'))
  const lines = () => logOf(platform, bot.id)
  await expect.poll(lines).toEqual(['info former registers'])
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: registering('new') })
  await expect.poll(lines).toEqual(['info former registers', 'info new registers'])
  await platform.ask('POST', `/v1/admin/bots/${bot.id}/rollback`, {})
  await expect.poll(lines).toEqual(['info former registers', 'info new registers', 'info former registers'])
})

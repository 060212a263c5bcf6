import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    const row = await platform.context.db('bot_versions').where({ id: body.bot.version.id }).first()
    expect(row).toMatchObject({ kind: 'sdk', script: bundle, source_map: '' })
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
    const row = await platform.context.db('integrations').where({ id: body.integration.id }).first()
    expect(row).toMatchObject({ kind: 'sdk', script: code })
  })
})

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
    ['worker_threads', "'worker_threads'"],
    ['node:child_process', "'node:child_process'"],
    ['./build/sharp.node', "'./build/sharp.node'"],
    ['left-pad', "'left-pad'"],
  ])('when it requires %s, which the error names', async (module, named) => {
    const code = `const it = require('${module}'); require('util'); exports.handler = () => it`
    const answer = await platform.ask('POST', '/v1/admin/bots', { code })
    expect(answer).toMatchObject({ status: 400, body: { type: 'InvalidPayload' } })
    expect(answer.body.message).toContain(`requires ${named};`)
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

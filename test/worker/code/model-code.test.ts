import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** As the library llmz asks whether it may use its sandbox. */
const modelCode = `globalThis.process?.env?.USE_QUICKJS !== 'false'`

test('an upload with the version of QuickJS that isolates have gets no warning', async () => {
  const program = 'DuMBAADmAQAAmEUBAAAEAEGc/AQLAQEAQaz8BAsF/////woAQfD8BAsD4D0B'
  const code = `exports.handler = async () => ({ usesSandbox: ${modelCode}, program: '${program}' })`
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'separates code of models', code })
  expect(body.bot.id).toBeDefined()
  expect(body).not.toHaveProperty('warnings')
})

test.each([
  ['a bundle of the SDK', `exports.handler = async () => ({ usesSandbox: ${modelCode} })`],
  ['native code', `export const hooks = {}\nexport const actions = { run: () => ({ usesSandbox: ${modelCode} }) }`],
])('the answer to each upload of %s that runs code of models has a warning', async (_what, code) => {
  const created = await platform.ask('POST', '/v1/admin/bots', { name: `bot-${Math.random()}`, code })
  expect(created.body.warnings).toEqual([expect.stringContaining('llmz, which runs code that models write')])
  const { id } = created.body.bot
  const again = await platform.ask('PUT', `/v1/admin/bots/${id}`, { code: `${code}\n// again` })
  expect(again.body.warnings).toHaveLength(1)
  expect((await platform.ask('PUT', `/v1/admin/bots/${id}`, { name: 'another' })).body).not.toHaveProperty('warnings')
  const plain = await platform.ask('PUT', `/v1/admin/bots/${id}`, {
    code: 'export const actions = { run: () => ({}) }',
  })
  expect(plain.body).not.toHaveProperty('warnings')
})

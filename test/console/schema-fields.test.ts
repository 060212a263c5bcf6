import { beforeAll, afterAll, expect, test } from 'vitest'
import { fieldsOf, findRefused, toConfiguration, toTexts } from '../../console/source/integrations/schema-fields.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform?.[Symbol.asyncDispose]())

/** The kinds of the fields of a configuration, by name. */
function kinds(properties: object): Record<string, string> {
  return Object.fromEntries(fieldsOf({ type: 'object', properties }, {}).map(({ name, kind }) => [name, kind]))
}

test('fields that a schema marks as secret are, whatever their names', () => {
  const marked = {
    pin: { type: 'string', format: 'password' },
    code: { type: 'string', writeOnly: true },
    // As the schemas of the public SDK have it.
    word: { type: 'string', 'x-zui': { secret: true } },
    botToken: { type: 'string' },
    address: { type: 'string', 'x-zui': { secret: false } },
  }
  expect(kinds(marked)).toEqual({ pin: 'secret', code: 'secret', word: 'secret', botToken: 'secret', address: 'text' })
})

test('a union of constants is a choice among them, and keeps their types', () => {
  const properties = {
    region: { anyOf: [{ const: 'eu' }, { const: 'us' }] },
    size: { oneOf: [{ const: 1 }, { enum: [2, 3] }, { type: 'null', const: null }] },
    other: { anyOf: [{ const: 'eu' }, { type: 'object' }] },
    none: { anyOf: [] },
  }
  const fields = fieldsOf({ type: 'object', properties }, {})
  expect(fields.map(({ kind, choices }) => [kind, choices])).toEqual([
    ['choice', ['"eu"', '"us"']],
    ['choice', ['1', '2', '3', 'null']],
    ['json', []],
    ['json', []],
  ])
  expect(toConfiguration(fields, { region: '"us"', size: '3' })).toEqual({ region: 'us', size: 3 })
  expect(toTexts(fields, { region: 'eu', size: null })).toMatchObject({ region: '"eu"', size: 'null' })
})

test('a refusal of a built-in integration is that of its field, as the platform words it', async () => {
  const { id } = await platform.createBot()
  const { body: listed } = await platform.ask('GET', '/v1/admin/hub/integrations?name=webchat')
  const webchat = (listed.integrations as { id: string }[])[0]!.id
  const refusal = async (alias: string, settings: object) => {
    const { status, body } = await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { [alias]: settings } })
    expect(status).toBe(400)
    return body.message as string
  }
  const fields = fieldsOf({ type: 'object', properties: { encryptionKey: {}, allowedOrigins: {}, webhookUrl: {} } }, {})
  const cases: [alias: string, settings: object, field: string, message: RegExp][] = [
    [
      'webchat',
      { integrationId: webchat, configuration: { encryptionKey: '' } },
      'encryptionKey',
      /^must NOT have fewer/,
    ],
    [
      'webchat',
      { integrationId: webchat, configuration: { allowedOrigins: ['x'] } },
      'allowedOrigins',
      /^0 must match/,
    ],
    ['chat', { configuration: { webhookUrl: 'ftp://x' } }, 'webhookUrl', /^must /],
  ]
  for (const [alias, settings, field, message] of cases) {
    const found = findRefused(fields, alias, await refusal(alias, settings))
    expect(found).toMatchObject({ field, message: expect.stringMatching(message) as string })
  }
  expect(findRefused(fields, 'chat', 'integrations.chat.configurationType is unknown')).toBeUndefined()
  expect(findRefused(fields, 'chat', 'integrations.chats.configuration: url is required')).toBeUndefined()
})

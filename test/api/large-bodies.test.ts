import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LargeBodies } from '../../api/large-bodies/large-bodies.ts'
import { closedObject } from '#shared/schema.ts'
import { megabyte } from '#shared/units.ts'
import { openPlatform, type Platform } from '../support/platform.ts'

const schema = closedObject(
  { name: { type: 'string' } },
  {
    code: { type: 'string' },
    configuration: { type: 'object', additionalProperties: true },
    plugins: { type: 'object', additionalProperties: closedObject({ id: { type: 'string' } }) },
    list: { type: 'array', items: closedObject({ id: { type: 'string' } }) },
  },
)

const bodies = new LargeBodies()
afterAll(() => bodies.close())

function parse(text: string, from = bodies, encoding: 'utf-8' | 'utf-16le' = 'utf-8') {
  return from.parse({ bytes: new Uint8Array(Buffer.from(text, encoding)), encoding, schema })
}

/** Text of code, whose characters JSON escapes often. */
const code = 'const quoted = "\\\\";\n\t'.repeat(megabyte)

describe('a large body', () => {
  test('is parsed while the event loop goes on', async () => {
    let turns = 0
    let isParsed = false
    const turn = () => {
      turns += 1
      if (!isParsed) setImmediate(turn)
    }
    const all = Promise.all([1, 2, 3].map(() => parse(JSON.stringify({ name: 'x', code }))))
    setImmediate(turn)
    const parsed = await all
    isParsed = true
    expect(parsed.map((body) => (body as { code: string }).code === code)).toEqual([true, true, true])
    // Parsed in the event loop, each body is one turn.
    expect(turns).toBeGreaterThan(100)
  })

  test('has the values that JSON has', async () => {
    const text = '{"configuration":{"__proto__":{"a":1},"e":1e400,"z":-0,"s":"\\ud800 λ \\u0000","l":[null,true,{}]}}'
    const value = await parse(text)
    expect(value).toStrictEqual(JSON.parse(text))
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
  })

  test('is read in the charset that the request names', async () => {
    expect(await parse('{"name":"λ"}', bodies, 'utf-16le')).toEqual({ name: 'λ' })
  })

  test('whose bytes are in another encoding than its own is refused', async () => {
    const bytes = new Uint8Array(Buffer.from('{"name":"\xe9"}', 'latin1'))
    const refused = bodies.parse({ bytes, encoding: 'utf-8', schema })
    await expect(refused).rejects.toMatchObject({ type: 'InvalidPayload', message: expect.stringContaining('UTF-8') })
  })

  test('loses the fields that its operation does not know, at each level, and no others', async () => {
    const implementation = { type: 'Buffer', data: Array.from({ length: 600_000 }, (_, index) => index % 256) }
    const names = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']
    const plugins = Object.fromEntries(names.map((id) => [id, { id, implementation }]))
    const body = { name: 'x', plugins, other: 1, configuration: { other: [1] }, list: [{ id: 'a', other: 1 }] }
    expect(await parse(JSON.stringify(body))).toEqual({
      name: 'x',
      plugins: Object.fromEntries(names.map((id) => [id, { id }])),
      configuration: { other: [1] },
      list: [{ id: 'a' }],
    })
    const bytes = new Uint8Array(Buffer.from('{"name":"x","other":1}'))
    const ofClosed = bodies.parse({ bytes, encoding: 'utf-8', schema: undefined })
    expect(await ofClosed).toEqual({ name: 'x', other: 1 })
  })

  test.each([
    [
      'is no JSON',
      '{"name":',
      { type: 'InvalidPayload', message: expect.stringContaining('not valid JSON') as string },
    ],
    ['is nested too deep', '['.repeat(501), { type: 'InvalidPayload' }],
    [
      'has many values in known fields',
      JSON.stringify({ configuration: { list: Array.from({ length: 200_001 }, () => []) } }),
      { type: 'PayloadTooLarge', status: 413 },
    ],
    ['has very many values anywhere', `{"other":[${'[],'.repeat(2_000_000)}0]}`, { type: 'PayloadTooLarge' }],
    ['has very many numbers anywhere', `{"other":[${'0,'.repeat(8_000_000)}0]}`, { type: 'PayloadTooLarge' }],
  ])('that %s is refused, and the next one is read', async (_, text, refusal) => {
    await expect(parse(text)).rejects.toMatchObject(refusal)
    expect(await parse('{"name":"x"}')).toEqual({ name: 'x' })
  })

  test('that needs more memory than there is ends the thread alone, and those that wait are read', async () => {
    const small = new LargeBodies(20)
    const fields = Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`field${index}`, { index }]))
    const [large, next] = await Promise.allSettled([parse(JSON.stringify(fields), small), parse('{"name":"x"}', small)])
    expect(large).toMatchObject({ status: 'rejected', reason: { type: 'PayloadTooLarge' } })
    expect(next).toEqual({ status: 'fulfilled', value: { name: 'x' } })
    await small.close()
  })

  test('that the thread fails at is refused, and the next one is read', async () => {
    const failed = bodies.parse({ bytes: new Uint8Array(Buffer.from('{}')), encoding: 'no charset', schema })
    const next = parse('{"name":"x"}')
    await expect(failed).rejects.toThrow('no charset')
    expect(await next).toEqual({ name: 'x' })
  })
})

describe('the api', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await openPlatform({ worker: false })
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test('answers others while it reads large bodies, and drops what their operation does not know', async () => {
    const ignored = Array.from({ length: 300_000 }, () => 1)
    const large = platform.ask('POST', '/v1/admin/bots', { name: 'Large', ignored, text: code })
    const other = platform.ask('POST', '/v1/admin/bots', { name: 'Small' })
    expect((await Promise.all([large, other])).map(({ status, body }) => [status, body.bot.name])).toEqual([
      [200, 'Large'],
      [200, 'Small'],
    ])
  })

  test('refuses a large body that is no JSON as a small one', async () => {
    const response = await fetch(`${platform.url}/v1/admin/bots`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId },
      body: `{"name":"${'x'.repeat(2 * megabyte)}`,
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ type: 'InvalidPayload' })
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A range is compared with each version of a name: a long one stops the event loop for a millisecond each time. */
const longest = Array.from({ length: 67 }, () => '1').join('||')
const tooLong = `${longest}||1`

test.each(['interfaces', 'plugins', 'integrations', 'hub/interfaces', 'hub/plugins', 'hub/integrations'])(
  'a version range and a name of more than 200 characters are refused in the path of %s',
  async (kind) => {
    const look = (name: string, range: string) =>
      platform.ask('GET', `/v1/admin/${kind}/${name}/${encodeURIComponent(range)}`)
    expect((await look('none', longest)).status).toBe(404)
    const refused = {
      status: 400,
      body: { type: 'InvalidPayload', message: expect.stringContaining('200 characters') },
    }
    expect(await look('none', tooLong)).toMatchObject(refused)
    expect(await look('n'.repeat(201), 'latest')).toMatchObject(refused)
  },
)

function lookInHub(query: Record<string, string>) {
  return platform.ask('GET', `/v1/admin/hub/integrations?${new URLSearchParams(query).toString()}`)
}

test('a version range and a name of more than 200 characters are refused in the query of the hub', async () => {
  expect((await lookInHub({ name: 'chat', version: longest })).status).toBe(200)
  expect((await lookInHub({ name: 'chat', version: tooLong })).status).toBe(400)
  expect((await lookInHub({ name: 'n'.repeat(201) })).status).toBe(400)
})

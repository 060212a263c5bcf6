import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatter } from '../chatter.ts'
import { openPlatform, type DeployedBot, type Platform } from '../platform.ts'

let platform: Platform
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

const origin = 'https://shop.example'
const allowed = { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'Origin' }

test('a page of another origin is told that it may ask, with the headers that it wants to send', async () => {
  const response = await fetch(`${bot.chatUrl}/messages`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-user-key,x-custom',
    },
  })
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
  const headers = Object.fromEntries(response.headers)
  expect(headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET,POST,PUT,DELETE,OPTIONS',
    'access-control-allow-headers': 'content-type,x-user-key,x-custom',
  })
})

test('a page of another origin may read answers, errors and streams', async () => {
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  const abort = new AbortController()
  const key = { 'x-user-key': chatter.key }
  for (const [path, headers, status] of [
    ['/hello', {}, 200],
    ['/users/me', {}, 401],
    ['/users/me', key, 200],
    [`/conversations/${conversationId}/listen`, key, 200],
  ] as const) {
    const response = await fetch(`${bot.chatUrl}${path}`, { headers: { origin, ...headers }, signal: abort.signal })
    expect(response.status).toBe(status)
    expect(Object.fromEntries(response.headers)).toMatchObject(allowed)
  }
  abort.abort()
})

test('the Admin API is not for pages of other origins', async () => {
  const response = await fetch(`${platform.url}/v1/admin/bots`, { headers: { origin } })
  expect(response.headers.get('access-control-allow-origin')).toBeNull()
})

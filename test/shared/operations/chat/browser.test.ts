import type * as Chat from '@botpress/chat'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchChromium } from '../../../browser/chromium.ts'
import { servePage, type ServedPage } from '../../../browser/serve-page.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

/** Globals of the page for its tests. Functions given to `evaluate` run in the page and see nothing else. */
declare global {
  var chat: typeof Chat
  var conversation: { client: Chat.AuthenticatedClient; id: string }
}

const echo = `
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 'You said ' + event.preview },
      })
    },
  }
`

/** Time enough to download a browser. */
const installing = 600_000

const parts = new AsyncDisposableStack()
let platform: Platform
let bot: DeployedBot
let browser: Browser
let served: ServedPage
let page: Page
beforeAll(async () => {
  browser = parts.adopt(await launchChromium(), (open) => open.close())
  platform = parts.use(await openPlatform())
  bot = await platform.createBot(echo)
  served = parts.use(await servePage())
}, installing)
afterAll(() => parts.disposeAsync())

beforeEach(async () => {
  const context = await browser.newContext()
  page = await context.newPage()
  await page.goto(`${served.origin}/?apiUrl=${encodeURIComponent(bot.chatUrl)}`)
  await page.waitForFunction(() => globalThis.conversation !== undefined, undefined, { timeout: 10_000 })
  return () => context.close()
})

test('a page of another origin holds a conversation with the bot', async () => {
  await page.getByLabel('Message').fill('hello')
  await page.getByLabel('Message').press('Enter')

  const heard = page.getByLabel('Heard').getByRole('listitem')
  await expect.poll(() => heard.allTextContents(), { timeout: 10_000 }).toEqual(['You: hello', 'Bot: You said hello'])
  const listed = await page.evaluate(async () => {
    const { client, id } = globalThis.conversation
    return client.list.messages({ conversationId: id }).collect()
  })
  expect(listed.map(({ payload }) => payload)).toEqual([
    { type: 'text', text: 'You said hello' },
    { type: 'text', text: 'hello' },
  ])
})

test('a page may send what a browser first asks permission for: other methods, the key, headers of its own', async () => {
  const done = await page.evaluate(async (apiUrl) => {
    const { client, id } = globalThis.conversation
    const { user } = await client.updateUser({ name: 'Page' })
    const { message } = await client.createMessage({ conversationId: id, payload: { type: 'text', text: 'oops' } })
    await client.deleteMessage({ id: message.id })
    const custom = new globalThis.chat.Client({ apiUrl, headers: { 'x-custom': 'of the page' } })
    const known = await custom.getUser({ 'x-user-key': client.user.key })
    return { updated: user.name, known: known.user.name }
  }, bot.chatUrl)
  expect(done).toEqual({ updated: 'Page', known: 'Page' })
})

test('a page hears the bot by an event source of the browser alone, whose key is in the query', async () => {
  const heard = await page.evaluate(async (apiUrl) => {
    const { client, id } = globalThis.conversation
    const key = encodeURIComponent(client.user.key)
    const source = new EventSource(`${apiUrl}/conversations/${id}/listen?x-user-key=${key}`)
    const texts: string[] = []
    const both = new Promise<void>((resolve) => {
      source.addEventListener('message', (event) => {
        const { type, data: message } = JSON.parse((event as unknown as { data: string }).data) as {
          type: string
          data: { payload: { text: string } }
        }
        if (type === 'message_created' && texts.push(message.payload.text) === 2) resolve()
      })
    })
    await new Promise((resolve) => source.addEventListener('open', resolve))
    await client.createMessage({ conversationId: id, payload: { type: 'text', text: 'hi' } })
    await both
    source.close()
    return texts
  }, bot.chatUrl)
  expect(heard).toEqual(['hi', 'You said hi'])
})

test('a page can distinguish errors by their class', async () => {
  const thrown = await page.evaluate(async (apiUrl) => {
    const { Client, ForbiddenError, ResourceNotFoundError, UnauthorizedError, isApiError } = globalThis.chat
    const { client, id } = globalThis.conversation
    const stranger = await Client.connect({ apiUrl })
    const failures = await Promise.allSettled([
      stranger.getConversation({ id }),
      client.getMessage({ id: 'none' }),
      new Client({ apiUrl }).getUser({ 'x-user-key': 'forged' }),
    ])
    const classes = [ForbiddenError, ResourceNotFoundError, UnauthorizedError]
    return failures.map((failure, index) => {
      const reason: unknown = failure.status === 'rejected' && failure.reason
      return isApiError(reason) && reason instanceof classes[index]! && reason.code
    })
  }, bot.chatUrl)
  expect(thrown).toEqual([403, 404, 401])
})

test('a page may send its credentials to a chat and read the answer', async () => {
  const type = await page.evaluate(async (apiUrl) => {
    const headers = { 'x-user-key': 'forged' }
    const response = await fetch(`${apiUrl}/users/me`, { credentials: 'include', headers })
    return ((await response.json()) as { type: string }).type
  }, bot.chatUrl)
  expect(type).toBe('Unauthorized')
})

test('a page reads nothing of the Admin API', async () => {
  const reading = page.evaluate(async (url) => (await fetch(url)).status, `${platform.url}/v1/admin/bots`)
  await expect(reading).rejects.toThrow('Failed to fetch')
})

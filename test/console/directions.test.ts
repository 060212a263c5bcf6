import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { replies } from '../support/outcomes.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const question = 'מה שלומך?'
const name = 'יוסי כהן!'

const flow = {
  id: 'main',
  name: question,
  description: question,
  start: 'first',
  nodes: [
    { id: 'first', name: question, cards: [{ id: 'say', type: 'say', message: question }], next: 'second' },
    { id: 'second', name, cards: [{ id: 'say', type: 'say', message: question }] },
  ],
}

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
let flowBot: DeployedBot
let conversationId: string
let tableId: string
beforeAll(async () => {
  ;({ platform, page } = await openConsole(parts))
  await signIn(page, platform)
  const code = `export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId } = event
      await client.createMessage({ conversationId, type: 'text', payload: { text: event.preview } })
    },
  }`
  bot = await platform.createBot(code, { name })
  flowBot = await platform.createBot('', { flows: [flow] })
  const user = await createChatUser(bot.chatUrl, { name })
  conversationId = await user.createConversation()
  await user.send(conversationId, question)
  await vi.waitUntil(async () => (await replies(platform, conversationId)).length === 1, patience)
  const asBot = { 'x-bot-id': bot.id }
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, { title: question }, asBot)
  await platform.ask('POST', '/v1/admin/canned-replies', { shortcut: 'hello', text: question })
  const schema = { type: 'object', properties: { text: { type: 'string' } } }
  const { body } = await platform.ask('POST', '/v1/tables', { name: 'textsTable', schema }, asBot)
  tableId = body.table.id
  await platform.ask('POST', '/v1/tables/textsTable/rows', { rows: [{ text: question }] }, asBot)
}, installing)
afterAll(() => parts.disposeAsync())

/**
 * The texts and values of the page that begin from the right, and stand in an element whose direction is from the left: their
 * last punctuation is on the wrong side.
 */
const misdirected = `(() => {
  const isHebrew = /^\\s*[“"]?[\\u0590-\\u05ff]/
  const isolates = (style) => style.display !== 'inline' || /isolate|plaintext/.test(style.unicodeBidi)
  const found = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    let element = text.parentElement
    if (!isHebrew.test(text.data) || element.closest('title, option, .avatar')) continue
    while (!isolates(getComputedStyle(element))) element = element.parentElement
    if (getComputedStyle(element).direction !== 'rtl') found.push(element.outerHTML.slice(0, 200))
  }
  for (const field of document.querySelectorAll('input, textarea')) {
    if (isHebrew.test(field.value) && getComputedStyle(field).direction !== 'rtl') found.push(field.outerHTML.slice(0, 200))
  }
  return found
})()`

const pages: Record<string, () => string> = {
  'the list of bots': () => '',
  'the list of conversations': () => `/bots/${bot.id}/conversations`,
  'a search for conversations': () => `/bots/${bot.id}/conversations?text=${encodeURIComponent('מה')}`,
  'a conversation': () => `/bots/${bot.id}/conversations/${conversationId}`,
  'the events': () => `/bots/${bot.id}/events`,
  'the flows': () => `/bots/${flowBot.id}/flows`,
  'a flow': () => `/bots/${flowBot.id}/flows/main`,
  'a table': () => `/bots/${bot.id}/tables/${tableId}`,
  'the settings': () => `/bots/${bot.id}/settings`,
  'the inbox': () => '/inbox',
  'a conversation beside the inbox': () => `/inbox/${bot.id}/${conversationId}`,
  'the canned replies': () => '/inbox/canned-replies',
}

test.for(Object.entries(pages))('%s: texts from right to left have their own direction', async ([_title, path]) => {
  await page.goto(`${platform.url}/console${path()}`)
  await page
    .getByText(/מה שלומך|יוסי/)
    .first()
    .waitFor()
  await expect.poll(() => page.locator('.skeleton').count(), patience).toBe(0)
  expect(await page.evaluate<string[]>(misdirected)).toEqual([])
})

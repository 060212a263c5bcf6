import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { clicksOfSafari } from '../browser/clicks-of-safari.ts'
import { createChatUser } from '../support/chat-client.ts'
import { replies } from '../support/outcomes.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
/** A conversation that waits for a person. */
let conversationId: string
let handoverId: string
beforeAll(async () => {
  const opened = await openConsole(parts)
  platform = opened.platform
  const context = await opened.browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(clicksOfSafari)
  page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  await signIn(page, platform)
}, installing)
beforeEach(async () => {
  bot = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(bot.chatUrl, { name: 'Ada' })
  conversationId = await user.createConversation()
  await user.send(conversationId, 'Is anyone there?')
  const path = `/v1/chat/conversations/${conversationId}/handover`
  handoverId = (await platform.ask('POST', path, {}, { 'x-bot-id': bot.id })).body.handover.id
})
afterAll(() => parts.disposeAsync())

const button = (name: string) => page.getByRole('button', { name, exact: true })
const openFromInbox = () => page.goto(`${platform.url}/console/inbox/${bot.id}/${conversationId}`)
const focused = () => page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)

test('after a reply that a click has sent, letters are those of the next one', async () => {
  await openFromInbox()
  await button('Take over').click()
  await page.getByRole('textbox', { name: 'Reply' }).fill('Yes')
  await button('Send').click()
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['Yes'])
  await expect.poll(focused, patience).toBe('Reply')
  // As shortcuts, they would hand the conversation back.
  await page.keyboard.type('here')
  expect(await page.getByRole('textbox', { name: 'Reply' }).inputValue()).toBe('here')
  await page.getByRole('textbox', { name: 'Reply' }).fill('')
})

test('a note whose handover has ended meanwhile is added and deleted by clicks', async () => {
  await openFromInbox()
  await button('Write a note').click()
  await page.getByRole('textbox', { name: 'Note' }).fill('A refund')
  await platform.ask('POST', `/v1/admin/bots/${bot.id}/handovers/${handoverId}/resolve`, {})
  await page.getByText('The bot answers', { exact: true }).waitFor()
  await button('Add note').click()
  const note = page.getByRole('log', { name: 'Messages' }).getByText('A refund')
  await note.waitFor()
  await page.getByRole('button', { name: /^Delete the note/ }).click()
  await page.getByRole('dialog', { name: 'Delete the note' }).getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => note.count(), patience).toBe(0)
})

test('a conversation that a click has opened leaves the focus to its row when it is closed', async () => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/conversations`)
  const row = page.getByRole('link', { name: 'Is anyone there?' })
  await row.click()
  await page.getByRole('log', { name: 'Messages' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => row.evaluate((row) => row.matches(':focus')), patience).toBe(true)
})

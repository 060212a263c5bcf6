import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { replies } from '../support/outcomes.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]

beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts))
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill(agent.authorization.slice('Bearer '.length))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
}, installing)
afterAll(() => parts.disposeAsync())

const queue = (name: string) => page.getByRole('button', { name, exact: true }).click()

/** A conversation of a bot that waits for a person. */
async function handOver(name: string, title: string) {
  const bot = await platform.createBot('export const hooks = {}', { name: `bot of ${name}` })
  const user = await createChatUser(bot.chatUrl, { name })
  const id = await user.createConversation()
  await user.send(id, 'Is anyone there?')
  const path = `/v1/chat/conversations/${id}/handover`
  const { body } = await platform.ask('POST', path, { title }, { 'x-bot-id': bot.id })
  return { id, botId: bot.id, handoverId: body.handover.id as string }
}

test('an agent finds the conversations of all bots that wait, the longest first, and answers one of them', async () => {
  await page.getByText('No conversation waits for a person.').waitFor()
  const first = await handOver('Ada', 'A broken parcel')
  const second = await handOver('Bob', 'A refund')
  const rows = page.getByRole('region', { name: 'Waiting' }).getByRole('listitem')
  await expect.poll(() => rows.allTextContents(), patience).toHaveLength(2)
  const links = page.getByRole('region', { name: 'Waiting' }).getByRole('link')
  expect(await links.allTextContents()).toEqual(['Ada', 'Bob'])
  await page.getByText('A broken parcel bot of Ada').waitFor()
  await page.getByRole('link', { name: 'Bob' }).click()
  await page.getByRole('log', { name: 'Messages' }).getByText('Is anyone there?').waitFor()
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByRole('textbox', { name: 'Reply' }).fill('Yes, I am')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(platform, second.id), patience).toEqual(['Yes, I am'])
  expect(await page.getByRole('link', { name: 'Its events' }).count()).toBe(0)
  expect(await page.getByLabel('File to send').count()).toBe(0)
  const log = page.getByRole('log', { name: 'Messages' })
  const failure = { status: 'failed', failure_reason: 'The address does not exist' } as const
  await platform.context.db('events').where({ conversation_id: second.id }).update(failure)
  await log.getByText('The bot failed: The address does not exist').waitFor()
  expect(await log.getByRole('link').count()).toBe(0)

  await page.locator('.conversation > header').getByRole('link', { name: 'Inbox' }).click()
  await page.getByRole('region', { name: 'Waiting' }).getByRole('link', { name: 'Ada' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Bob' }).count(), patience).toBe(0)
  await queue('Mine')
  await page.getByRole('region', { name: 'Mine' }).getByText('You answer').waitFor()
  await queue('All open')
  await expect
    .poll(() => page.getByRole('region', { name: 'All open' }).getByRole('listitem').count(), patience)
    .toBe(2)
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320)
  await page.setViewportSize({ width: 1280, height: 800 })
  await platform.ask('POST', `/v1/admin/bots/${first.botId}/handovers/${first.handoverId}/resolve`, {})
  await expect.poll(() => page.getByRole('link', { name: 'Ada' }).count(), patience).toBe(0)
})

test('an agent sees the sections of an agent, and no others', async () => {
  const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
  expect(await sections.allTextContents()).toEqual(['Inbox', 'Members', 'Tokens'])
})

test('agents of other workspaces find an empty inbox', async () => {
  await handOver('Cy', 'Not for others')
  const stranger = await createMember(platform, 'agent')
  const { body } = await platform.ask('GET', '/v1/admin/handovers', undefined, stranger)
  expect(body.handovers).toEqual([])
})

test('after all that, the browser has nothing to complain about', () => {
  expect(complaints).toEqual([])
})

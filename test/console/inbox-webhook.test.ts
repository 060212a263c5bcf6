import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]

beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts, /status of 400/))
}, installing)
afterAll(() => parts.disposeAsync())

async function openDialog(token: string): Promise<void> {
  await page.goto(`${platform.url}/console/inbox`)
  await page.getByLabel('Personal token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Notifications' }).click()
  await page.getByRole('dialog', { name: 'Notifications' }).getByLabel('Play a sound').waitFor()
}

const section = () => page.getByRole('region', { name: 'Webhook' })
const stored = async () => (await platform.ask('GET', '/v1/admin/inbox-webhook')).body.webhook as unknown

test('an administrator sets, changes and removes the webhook, and sees that its receiver fails', async () => {
  await openDialog(platform.token)
  await section().getByLabel('URL').fill('https://user@hooks.example.com/inbox')
  await section().getByRole('button', { name: 'Set' }).click()
  await page.getByText('without a user name').waitFor()
  expect(await stored()).toBeUndefined()
  await section().getByLabel('URL').fill('https://hooks.example.invalid/inbox')
  await section().getByLabel('Secret, optional').fill('open sesame')
  await section().getByRole('button', { name: 'Set' }).click()
  await section().getByText('There is one').waitFor()
  expect(await stored()).toMatchObject({ url: 'https://hooks.example.invalid/inbox', hasSecret: true })
  expect(await section().getByLabel('Secret, optional').inputValue()).toBe('')

  const bot = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(bot.chatUrl)
  const id = await user.createConversation()
  await platform.ask('POST', `/v1/chat/conversations/${id}/handover`, {}, { 'x-bot-id': bot.id })
  await section()
    .getByText(/1 change to send: the receiver has not accepted the next one \d times?/)
    .waitFor()
  await section().getByRole('button', { name: 'Save' }).click()
  await expect.poll(stored, patience).toMatchObject({ hasSecret: false })
  await section().getByRole('button', { name: 'Remove' }).click()
  await expect.poll(stored, patience).toBeUndefined()
  await section().getByRole('button', { name: 'Set' }).waitFor()
  expect(complaints).toEqual([])
})

test('an agent does not see it', async () => {
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await openDialog(agent['authorization'].slice('Bearer '.length))
  expect(await section().count()).toBe(0)
})

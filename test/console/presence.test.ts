import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let context: BrowserContext
let agent: Record<string, string>
let accountId: string

beforeAll(async () => {
  const opened = await openConsole(parts)
  platform = opened.platform
  context = opened.page.context()
  await opened.page.close()
}, installing)
afterAll(() => parts.disposeAsync())

beforeEach(async () => {
  agent = await createMember(platform, 'agent', platform.workspaceId)
  accountId = (await platform.ask('GET', '/v1/admin/account/me', undefined, agent)).body.account.id
})

/** Opens the inbox in a tab of its own; the first one signs in. */
async function openInbox(stays = false): Promise<Page> {
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  await page.goto(`${platform.url}/console`)
  const token = page.getByLabel('Personal token')
  const heading = page.getByRole('heading', { level: 1, name: 'Inbox' })
  await token.or(heading).waitFor()
  if (await token.isVisible()) {
    await token.fill(agent['authorization']!.slice('Bearer '.length))
    if (stays) await page.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await heading.waitFor()
  return page
}

/** The status that colleagues see. */
async function seen(): Promise<string | undefined> {
  const { members } = (await platform.ask('GET', '/v1/admin/presence')).body
  return (members as { id: string; status: string }[]).find(({ id }) => id === accountId)?.status
}

test('a member who closes the tab, leaves the inbox, or signs out is offline at once, and online again on return', async () => {
  const page = await openInbox()
  await expect.poll(seen, patience).toBe('online')
  await page.getByRole('link', { name: 'Tokens' }).click()
  await expect.poll(seen, patience).toBe('offline')
  await page.getByRole('link', { name: 'Inbox' }).click()
  await expect.poll(seen, patience).toBe('online')
  await page.goto('about:blank')
  await expect.poll(seen, patience).toBe('offline')
  await page.goBack()
  await expect.poll(seen, patience).toBe('online')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect.poll(seen, patience).toBe('offline')
  await page.getByLabel('Personal token').waitFor()
  expect(await page.getByText('no longer valid').count()).toBe(0)
  await page.close()
})

test('a member whose inbox is open in another tab stays online, and is away in all tabs', async () => {
  const first = await openInbox(true)
  const second = await openInbox()
  await expect.poll(seen, patience).toBe('online')
  const returned = second.waitForRequest((request) => request.method() === 'PUT' && request.url().endsWith('/presence'))
  await first.close({ runBeforeUnload: true })
  await returned
  await expect.poll(seen, patience).toBe('online')

  const third = await openInbox()
  await third.getByRole('button', { name: 'Online: be away' }).click()
  await second.getByRole('button', { name: 'Away: be online' }).click()
  await third.getByRole('button', { name: 'Online: be away' }).waitFor()
  await third.close({ runBeforeUnload: true })
  await second.close({ runBeforeUnload: true })
  await expect.poll(seen, patience).toBe('offline')
})

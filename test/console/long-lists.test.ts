import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot

beforeAll(async () => {
  ;({ platform, page } = await openConsole(parts))
  await signIn(page, platform)
  // A few entries make several pages.
  await page.route(/pageSize=/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/pageSize=\d+/, 'pageSize=2'),
    }),
  )
}, installing)
beforeEach(async () => {
  bot = await platform.createBot('export const hooks = {}')
})
afterAll(() => parts.disposeAsync())

const rows = (list: string | RegExp) => page.getByRole('list', { name: list }).getByRole('listitem')
const open = (path: string) => page.goto(`${platform.url}/console/${path}`)
const more = (name: string) => page.getByRole('button', { name })
/** The ids at the end of the addresses of rows, from top to bottom. */
const ids = (list: string | RegExp) =>
  rows(list)
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.split('/').at(-1)))

test('all members of a workspace are listed, and the audit log goes back to its first record', async () => {
  for (let number = 0; number < 4; number++) await createMember(platform, 'viewer', platform.workspaceId)
  await open('members')
  await expect.poll(() => rows('Members').count(), patience).toBe(5)
  await rows('Members').getByText('you', { exact: true }).waitFor()

  for (const shortcut of ['one', 'two', 'three', 'four']) {
    await platform.ask('POST', '/v1/admin/canned-replies', { shortcut, text: shortcut })
  }
  const path = `/v1/admin/workspaces/${platform.workspaceId}/audit-records?pageSize=100`
  const { records } = (await platform.ask('GET', path)).body
  expect(records.length).toBeGreaterThan(4)
  await open('audit')
  for (let shown = 2; shown < records.length; shown += 2) {
    await expect.poll(() => rows('Records').count(), patience).toBe(shown)
    await more('Show older records').click()
  }
  await expect.poll(() => rows('Records').count(), patience).toBe(records.length)
  expect(await more('Show older records').count()).toBe(0)
})

test('all versions and knowledge bases are listed', async () => {
  for (const name of ['one', 'two']) {
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: `export const actions = { ${name}() {} }` })
  }
  await open(`bots/${bot.id}/versions`)
  await expect.poll(() => rows('Versions').count(), patience).toBe(3)

  for (const name of ['Cars', 'Trains', 'Ships']) {
    await platform.ask('POST', '/v1/files/knowledge-bases', { name }, { 'x-bot-id': bot.id })
  }
  await open(`bots/${bot.id}/files`)
  await expect.poll(() => rows('Knowledge bases').count(), patience).toBe(3)
})

test('events that new ones push out of the newest page stay in the list, which has no gap', async () => {
  const sent: string[] = []
  const send = async (count: number) => {
    for (let number = 0; number < count; number++) {
      const { body } = await platform.ask(
        'POST',
        '/v1/chat/events',
        { type: 'tested', payload: {} },
        { 'x-bot-id': bot.id },
      )
      sent.unshift(body.event.id)
    }
  }
  await send(5)
  await open(`bots/${bot.id}/events`)
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent.slice(0, 2))
  await more('Show older events').click()
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent.slice(0, 4))
  await send(1)
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent.slice(0, 5))
  await more('Show older events').click()
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent)

  // More events come than the newest page has: what it does not reach is to be asked for again.
  const events = new RegExp(`/bots/${bot.id}/events\\?`)
  await page.route(events, (route) => route.abort())
  await send(4)
  await page.unroute(events)
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent.slice(0, 2))
  await more('Show older events').click()
  await expect.poll(() => ids('Timeline'), patience).toEqual(sent.slice(0, 4))
})

test('conversations that newer ones push out of the newest page stay in the list, once each', async () => {
  const list = /^Conversations/
  const begun: string[] = []
  const user = await createChatUser(bot.chatUrl)
  const say = async (id: string) => {
    await user.send(id, 'Hello?')
    begun.splice(0, begun.length, id, ...begun.filter((other) => other !== id))
  }
  for (let number = 0; number < 4; number++) await say(await user.createConversation())
  await open(`bots/${bot.id}/conversations`)
  await expect.poll(() => ids(list), patience).toEqual(begun.slice(0, 2))
  await more('Show older conversations').click()
  await expect.poll(() => ids(list), patience).toEqual(begun)
  await say(await user.createConversation())
  await expect.poll(() => ids(list), patience).toEqual(begun)
  await say(begun.at(-1)!)
  await expect.poll(() => ids(list), patience).toEqual(begun)
  // They are there again when one of them is closed.
  const last = begun.at(-1)!
  await page.locator(`a[href*="${last}"]`).click()
  await page.getByRole('log', { name: 'Messages' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => ids(list), patience).toEqual(begun)
  expect(await page.locator(`a[href*="${last}"]`).evaluate((row) => row.matches(':focus'))).toBe(true)
})

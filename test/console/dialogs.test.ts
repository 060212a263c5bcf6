import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatter } from '../chatter.ts'
import { replies } from '../outcomes.ts'
import type { Platform } from '../platform.ts'
import { installing, openConsole, patience } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]

beforeAll(async () => {
  // A test is refused, as it should: somebody is a member already.
  ;({ platform, page, complaints } = await openConsole(parts, /status of 409/))
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill(platform.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'No bot yet' }).waitFor()
}, installing)
afterAll(() => parts.disposeAsync())

const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true })
const dialog = (name: string) => page.getByRole('dialog', { name })

async function open(section: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: section }).click()
  await page.getByRole('heading', { level: 1, name: section }).waitFor()
}

/** The token that a dialog shows this once. */
async function tokenIn(shown: Locator): Promise<string> {
  const text = (await button('Copy token', shown).textContent()) ?? ''
  await button('Done', shown).click()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  return text
}

/** How the platform answers whoever has a token. */
async function accountOf(token: string): Promise<{ status: number; id?: string; email?: string }> {
  const { status, body } = await platform.ask('GET', '/v1/admin/account/me', undefined, {
    authorization: `Bearer ${token}`,
  })
  return { status, ...body.account }
}

test('a token is shown once, opens what its owner may open, and nothing any more when it is deleted', async () => {
  await open('Tokens')
  await button('New token').click()
  await dialog('New token').getByLabel('What it is for').fill('for the pipeline')
  await button('Create', dialog('New token')).click()
  const token = await tokenIn(dialog('The new token'))
  expect((await accountOf(token)).status).toBe(200)

  await page.getByRole('list', { name: 'Tokens' }).getByText('for the pipeline').waitFor()
  expect(await page.locator('body').textContent()).not.toContain(token)
  await button('Delete for the pipeline').click()
  await page.getByText('“for the pipeline” opens nothing any more.').waitFor()
  expect((await accountOf(token)).status).toBe(401)
})

test('whoever is added is a member with a first token, has the role that is chosen later, and is gone when removed', async () => {
  const email = 'ada@example.com'
  await open('Members')
  await button('Add a member').click()
  await dialog('Add a member').getByLabel('Email address').fill(email)
  await dialog('Add a member').getByLabel('Role').selectOption('Viewer')
  await button('Add', dialog('Add a member')).click()
  const token = await tokenIn(dialog(`${email} is a member`))
  expect(await accountOf(token)).toMatchObject({ status: 200, email })

  const asMember = { authorization: `Bearer ${token}`, 'x-workspace-id': platform.workspaceId }
  const createBot = () => platform.ask('POST', '/v1/admin/bots', { name: `bot of ${email}` }, asMember)
  expect((await createBot()).status).toBe(403)
  await page.getByLabel(`Role of ${email}`).selectOption('Developer')
  await page.getByText(`${email} is developer now.`).waitFor()
  const created = await createBot()
  expect(created.status).toBe(200)
  await platform.ask('DELETE', `/v1/admin/bots/${created.body.bot.id}`)

  await button(`Remove ${email}`).click()
  await page.getByText(`${email} is no member any more.`).waitFor()
  expect((await createBot()).status).toBe(401)
})

test('what is refused is said in the dialog, which stays as it was filled in', async () => {
  const email = 'bob@example.com'
  await platform.ask('POST', '/v1/admin/workspace-members', { email, role: 'viewer' })
  await open('Members')
  await button('Add a member').click()
  const adding = dialog('Add a member')
  await adding.getByLabel('Email address').fill(email)
  await button('Add', adding).click()
  await adding.getByRole('alert').getByText(email).waitFor()
  expect(await adding.getByLabel('Email address').inputValue()).toBe(email)
  await button('Cancel', adding).click()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})

test('settings that are changed are the bot’s: its name, what it may reach, and secrets that only its code sees', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingMessage({ event, client, env }) {
        const text = String(env.SECRET_API_KEY)
        await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
      },
    }`)
  await page.goto(`${platform.url}/console/bots/${bot.id}/settings`)
  const form = (label: string) => page.locator('form').filter({ has: page.getByLabel(label, { exact: true }) })
  const fill = async (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text)
  await fill('Name', 'keeper')
  await button('Save', form('Name')).click()
  await page.getByRole('heading', { level: 1, name: 'keeper' }).waitFor()
  await fill('Hosts that its code may reach', 'api.example.com, *.example.org')
  await button('Save', form('Hosts that its code may reach')).click()
  await page.getByText('The bot reaches these hosts now.').waitFor()
  await fill('Name of a secret', 'API_KEY')
  await fill('Value', 'only for the code')
  await button('Save', form('Name of a secret')).click()
  await page.getByText('The code finds it as env.SECRET_API_KEY.').waitFor()

  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}`)
  expect(body.bot).toMatchObject({ name: 'keeper', permissions: { net: ['api.example.com', '*.example.org'] } })
  const chatter = await createChatter(bot.chatUrl)
  const conversationId = await chatter.createConversation()
  await chatter.say(conversationId, 'which key?')
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['only for the code'])
  await page.reload()
  await button('Remove API_KEY').waitFor()
  expect(await page.content()).not.toContain('only for the code')

  await button('Remove API_KEY').click()
  await page.getByText('API_KEY is removed.').waitFor()
  await chatter.say(conversationId, 'and now?')
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['only for the code', 'undefined'])
})

test('a bot is deleted only by whoever types its name', async () => {
  await button('Delete').click()
  const deleting = dialog('Delete keeper')
  await deleting.getByLabel('Type the bot’s name to delete it').fill('keepe')
  expect(await button('Delete for good', deleting).isDisabled()).toBe(true)
  await deleting.getByLabel('Type the bot’s name to delete it').fill('keeper')
  await button('Delete for good', deleting).click()
  await page.getByRole('heading', { name: 'No bot yet' }).waitFor()
  expect((await platform.ask('GET', '/v1/admin/bots')).body.bots).toEqual([])
})

test('who signs out leaves nothing behind in the browser that opens anything', async () => {
  await page.evaluate(`sessionStorage.setItem('isobot.chat.some', '{"key":"of a chat user"}')`)
  await button('Sign out').click()
  await page.getByLabel('Personal token').waitFor()
  const kept = await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
  expect(kept).not.toContain(platform.token)
  expect(kept).not.toContain('of a chat user')
  await page.goto(`${platform.url}/console/members`)
  await page.getByLabel('Personal token').waitFor()
})

test('after all that, the browser has nothing to complain about', () => {
  expect(complaints).toEqual([])
})

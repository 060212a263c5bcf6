import { Client } from '@botpress/client'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { addMember, createMember } from '../support/members.ts'
import { replies } from '../support/outcomes.ts'
import type { Platform } from '../support/platform.ts'
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

/** The text that a click on `Copy …` copies. */
async function copyable(what: string, within: Page | Locator): Promise<string> {
  return (
    (await within
      .getByRole('button', { name: `Copy ${what}` })
      .locator('code')
      .textContent()) ?? ''
  )
}

/** The token that a dialog shows this once. */
async function tokenIn(shown: Locator): Promise<string> {
  const text = await copyable('token', shown)
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
  await dialog('New token').getByLabel('Purpose').fill('for the pipeline')
  await button('Create', dialog('New token')).click()
  // It can be read and copied on a phone, too.
  await page.setViewportSize({ width: 360, height: 740 })
  const shown = await dialog('The new token').getByRole('button', { name: 'Copy token' }).boundingBox()
  const around = await dialog('The new token').boundingBox()
  expect(shown!.x + shown!.width).toBeLessThan(around!.x + around!.width)
  await page.setViewportSize({ width: 1280, height: 800 })
  const token = await tokenIn(dialog('The new token'))
  expect((await accountOf(token)).status).toBe(200)

  await page.getByRole('list', { name: 'Tokens' }).getByText('for the pipeline').waitFor()
  expect(await page.locator('body').textContent()).not.toContain(token)
  await button('Delete for the pipeline').click()
  expect((await accountOf(token)).status).toBe(200)
  await button('Delete', dialog('Delete for the pipeline')).click()
  await page.getByText('“for the pipeline” is no longer valid.').waitFor()
  expect((await accountOf(token)).status).toBe(401)
})

/** The link that the dialog after an invitation shows. */
async function linkIn(shown: Locator): Promise<string> {
  const text = await copyable('invitation', shown)
  await button('Done', shown).click()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  // Tests reach the platform by another name than the one that it tells people.
  return text.replace(/^.*(?=\/console)/, platform.url)
}

async function inviteMember(email: string, role: string): Promise<string> {
  await open('Members')
  await button('Invite a member').click()
  await dialog('Invite a member').getByLabel('Email address').fill(email)
  await dialog('Invite a member').getByLabel('Role').selectOption(role)
  await button('Invite', dialog('Invite a member')).click()
  return linkIn(dialog(`${email} is invited`))
}

/** Another person's browser, with nothing in it. */
async function stranger(): Promise<Page> {
  const context = await page
    .context()
    .browser()!
    .newContext({ viewport: { width: 1280, height: 800 } })
  const other = await context.newPage()
  other.setDefaultTimeout(patience.timeout)
  return other
}

test('an invited person opens the link, gets a token of their own, and has the chosen role until removed', async () => {
  const email = 'ada@example.com'
  const former = await inviteMember(email, 'Viewer')
  await button(`New invitation for ${email}`).click()
  const link = await linkIn(dialog(`${email} is invited`))
  const other = await stranger()
  await other.goto(former)
  await other.getByRole('alert').getByText('is not valid').waitFor()
  await other.goto('about:blank')
  await other.goto(link)
  await other.getByRole('heading', { name: 'Join Default' }).waitFor()
  await other.getByLabel('Your name').fill('Ada')
  await button('Join', other).click()
  const token = await copyable('token', other)
  expect(await accountOf(token)).toMatchObject({ status: 200, email })
  await button('Go on', other).click()
  await other.getByRole('heading', { name: 'No bot yet' }).waitFor()
  expect(other.url()).not.toContain('inv_')
  await other.context().close()

  const asMember = { authorization: `Bearer ${token}`, 'x-workspace-id': platform.workspaceId }
  const createBot = () => platform.ask('POST', '/v1/admin/bots', { name: `bot of ${email}` }, asMember)
  expect((await createBot()).status).toBe(403)
  await page.reload()
  const stored: (string | null)[] = []
  page.on('request', (request) => request.method() === 'PUT' && stored.push(request.postData()))
  // By keyboard, the roles on the way to another one are chosen too.
  await page.getByLabel('Role of Ada').selectOption('Administrator')
  await page.getByLabel('Role of Ada').selectOption('Developer')
  await button('Save Ada’s role').click()
  await page.getByText('Ada now has the role developer.').waitFor()
  const created = await createBot()
  expect(created.status).toBe(200)
  await platform.ask('DELETE', `/v1/admin/bots/${created.body.bot.id}`)

  expect(stored).toEqual(['{"role":"developer"}'])

  await button('Remove Ada').click()
  await button('Remove', dialog('Remove Ada')).click()
  await page.getByText('Ada is no longer a member.').waitFor()
  expect((await createBot()).status).toBe(401)
})

test('a signed-in person accepts an invitation with the same account, and finds both workspaces', async () => {
  const { authorization, 'x-workspace-id': workspaceId } = await createMember(platform, 'owner')
  const token = authorization.slice('Bearer '.length)
  const link = await inviteMember('grace@example.com', 'Developer')
  const other = await stranger()
  await other.goto(`${platform.url}/console`)
  await other.getByLabel('Personal token').fill(token)
  await button('Sign in', other).click()
  await other.getByRole('heading', { name: 'No bot yet' }).waitFor()
  await other.goto(link)
  await button('Join as owner', other).click()
  await other.getByRole('combobox', { name: 'Workspace' }).getByText('Default').waitFor({ state: 'attached' })
  await other.context().close()
  const asMember = (id: string) => ({ authorization, 'x-workspace-id': id })
  for (const id of [workspaceId, platform.workspaceId]) {
    expect((await platform.ask('GET', '/v1/admin/bots', undefined, asMember(id))).status).toBe(200)
  }
})

test('an invitation may be given where a token is asked for', async () => {
  const link = await inviteMember('joan@example.com', 'Viewer')
  const { authorization } = await createMember(platform, 'viewer')
  const other = await stranger()
  await other.goto(`${platform.url}/console`)
  await other.getByLabel('Personal token').fill(link.split('#')[1]!)
  await button('Sign in', other).click()
  await other.getByText('joan@example.com is invited to this workspace as viewer.').waitFor()
  await other.getByLabel('Personal token').fill(authorization.slice('Bearer '.length))
  await button('Join', other).click()
  await other.getByRole('heading', { name: 'No bot yet' }).waitFor()
  await other.context().close()
  const asMember = { authorization, 'x-workspace-id': platform.workspaceId }
  expect((await platform.ask('GET', '/v1/admin/bots', undefined, asMember)).status).toBe(200)
})

test('a refusal is shown in the dialog, which keeps its input', async () => {
  const email = 'bob@example.com'
  await addMember(
    new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId }),
    email,
    'viewer',
  )
  await open('Members')
  await button('Invite a member').click()
  const adding = dialog('Invite a member')
  await adding.getByLabel('Email address').fill(email)
  await button('Invite', adding).click()
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
  await fill('Hosts that its code may reach', 'https://api.example.com/v1')
  await button('Save', form('Hosts that its code may reach')).click()
  await page.getByText('“https://api.example.com/v1” is not a host. Write it without scheme and path').waitFor()
  await fill('Hosts that its code may reach', 'api.example.com, *.example.org')
  await button('Save', form('Hosts that its code may reach')).click()
  await page.getByText('The bot may now request these hosts.').waitFor()
  await fill('Name of a secret', 'API_KEY')
  await fill('Value', 'only for the code')
  await button('Save', form('Name of a secret')).click()
  await page.getByText('The code reads it as env.SECRET_API_KEY.').waitFor()

  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}`)
  expect(body.bot).toMatchObject({ name: 'keeper', permissions: { net: ['api.example.com', '*.example.org'] } })
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'which key?')
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['only for the code'])
  await page.reload()
  await button('Remove API_KEY').waitFor()
  expect(await page.content()).not.toContain('only for the code')

  await button('Remove API_KEY').click()
  await button('Remove', dialog('Remove API_KEY')).click()
  await page.getByText('API_KEY is removed.').waitFor()
  await chatUser.send(conversationId, 'and now?')
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['only for the code', 'undefined'])
})

test('a bot is deleted only after its name was typed', async () => {
  await button('Delete').click()
  const deleting = dialog('Delete keeper')
  await deleting.getByLabel('Type the bot’s name to delete it').fill('keepe')
  expect(await button('Delete for good', deleting).isDisabled()).toBe(true)
  await deleting.getByLabel('Type the bot’s name to delete it').fill('keeper')
  await button('Delete for good', deleting).click()
  await page.getByRole('heading', { name: 'No bot yet' }).waitFor()
  expect((await platform.ask('GET', '/v1/admin/bots')).body.bots).toEqual([])
})

test('signing out leaves no credentials in the browser', async () => {
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

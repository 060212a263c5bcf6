import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installWebchat } from '../support/webchat.ts'
import { installing, openConsole, patience, reloadAndStay } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot

beforeAll(async () => {
  const opened = await openConsole(parts)
  platform = opened.platform
  const context = await opened.browser.newContext()
  page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  await page.clock.install()
}, installing)
afterAll(() => parts.disposeAsync())

beforeEach(async () => {
  bot = await platform.createBot('export const actions = { first() { return {} } }\n')
})

const field = (label: string) => page.getByLabel(label, { exact: true })
const dialog = () => page.getByRole('dialog', { name: 'Sign in again' })
const readBot = async () => (await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).body.bot
const readWebchat = async () => (await readBot()).integrations.webchat.configuration

interface Person {
  /** A token that stays valid. */
  token: string
  /** Makes the token of the page invalid. */
  loseToken(): Promise<void>
}

/** A new member opens a tab of the bot. */
async function open(path: string): Promise<Person> {
  const headers = await createMember(platform, 'administrator', platform.workspaceId)
  const create = async (): Promise<{ id: string; value: string }> =>
    (await platform.ask('POST', '/v1/admin/account/pats', { note: 'of a test' }, headers)).body.pat
  const [used, kept] = [await create(), await create()]
  await page.goto(`${platform.url}/console`)
  await page.evaluate('sessionStorage.clear()')
  await page.goto(`${platform.url}/console/bots/${bot.id}/${path}`)
  await field('Personal token').fill(used.value)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.account').getByText('administrator').first().waitFor()
  return {
    token: kept.value,
    async loseToken() {
      const { status } = await platform.ask('DELETE', `/v1/admin/account/pats/${used.id}`, undefined, headers)
      expect(status).toBe(200)
    },
  }
}

async function signInAgain(token: string): Promise<void> {
  await dialog().getByLabel('Personal token').fill(token)
  await dialog().getByRole('button', { name: 'Sign in' }).click()
}

test('a member whose session ends in the middle of a form signs in again over it, and saves what was typed', async () => {
  const person = await open('settings')
  await field('Hosts that its code may reach').fill('api.example.com')
  await field('Name of a secret').fill('API_KEY')
  await person.loseToken()
  const form = page.locator('form', { has: field('Hosts that its code may reach') })
  await form.getByRole('button', { name: 'Save' }).click()
  await dialog().getByText('The token is no longer valid').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await signInAgain('a wrong one')
  await dialog().getByText('No account has this token').waitFor()
  await signInAgain(person.token)
  await dialog().waitFor({ state: 'detached' })
  expect(await field('Name of a secret').inputValue()).toBe('API_KEY')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await readBot()).permissions.net, patience).toEqual(['api.example.com'])
})

test('a page that is refreshed signs in again too, and shows what has changed meanwhile', async () => {
  const person = await open('settings')
  await field('Hosts that its code may reach').fill('api.example.com')
  await person.loseToken()
  await page.clock.fastForward('00:20')
  await dialog().waitFor()
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { name: 'renamed' })
  await signInAgain(person.token)
  await page.getByRole('heading', { level: 1, name: 'renamed' }).waitFor()
  expect(await field('Name').inputValue()).toBe('renamed')
  expect(await field('Hosts that its code may reach').inputValue()).toBe('api.example.com')
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('another person who signs in again finds a new page', async () => {
  const person = await open('settings')
  await field('Hosts that its code may reach').fill('api.example.com')
  await page.evaluate('globalThis.isSamePage = true')
  await person.loseToken()
  await page.clock.fastForward('00:20')
  await signInAgain(platform.token)
  await page.getByRole('heading', { name: 'Sign in to Isobot' }).waitFor()
  await expect.poll(() => page.evaluate('globalThis.isSamePage'), patience).toBeUndefined()
})

test('what is typed in the tab Web chat stays while another member changes the bot', async () => {
  await installWebchat(platform, bot.id, { botName: 'Ada', greeting: 'Hello' })
  await open('webchat')
  await field('Line below the name').fill('Answers at once')
  const integrations = { webchat: { configuration: { botName: 'Ben', greeting: 'Hello' } } }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations })
  await page.clock.fastForward('00:20')
  await expect.poll(() => field('Name').inputValue(), patience).toBe('Ben')
  expect(await field('Line below the name').inputValue()).toBe('Answers at once')
  const reading = page.waitForResponse(
    async (answer) => answer.request().method() === 'GET' && (await answer.text()).includes('Answers at once'),
  )
  await page.getByRole('button', { name: 'Save' }).click()
  await reading
  const saved = { botName: 'Ben', greeting: 'Hello', botDescription: 'Answers at once' }
  expect(await readWebchat()).toEqual(saved)
  // A saved field follows the changes of others.
  const later = { webchat: { configuration: { ...saved, botDescription: 'Answers soon' } } }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: later })
  await page.clock.fastForward('00:20')
  await expect.poll(() => field('Line below the name').inputValue(), patience).toBe('Answers soon')
})

test('what is typed in a row of a table stays when the row is loaded anew', async () => {
  const headers = { 'x-bot-id': bot.id }
  const schema = { type: 'object', properties: { name: { type: 'string' }, city: { type: 'string' } } }
  const { body } = await platform.ask('POST', '/v1/tables', { name: 'peopleTable', schema }, headers)
  const rows = `/v1/tables/${body.table.id}/rows`
  await platform.ask('POST', rows, { rows: [{ name: 'Ada', city: 'London' }] }, headers)
  const person = await open(`tables/${body.table.id}/1`)
  await field('name').fill('Ada Lovelace')
  await platform.ask('PUT', rows, { rows: [{ id: 1, city: 'Turin' }] }, headers)
  await person.loseToken()
  await page.clock.fastForward('00:20')
  await signInAgain(person.token)
  await expect.poll(() => field('city').inputValue(), patience).toBe('Turin')
  expect(await field('name').inputValue()).toBe('Ada Lovelace')
})

const tab = (name: string) => page.getByRole('navigation', { name: 'Parts of the bot' }).getByRole('link', { name })

test('what is typed in the tab Web chat outlives another tab, and the browser asks before it loses it', async () => {
  await installWebchat(platform, bot.id, { botName: 'Ada' })
  await open('webchat')
  await field('Line below the name').fill('Answers at once')
  await field('Origins of pages that may show it').fill('https://www.example.com')
  await reloadAndStay(page)
  await tab('Settings').click()
  await page.getByLabel('Name', { exact: true }).waitFor()
  await tab('Web chat').click()
  expect(await field('Line below the name').inputValue()).toBe('Answers at once')
  expect(await field('Origins of pages that may show it').inputValue()).toBe('https://www.example.com')
  await page.getByRole('button', { name: 'Save' }).click()
  const saved = { botName: 'Ada', botDescription: 'Answers at once', allowedOrigins: ['https://www.example.com'] }
  await expect.poll(readWebchat, patience).toEqual(saved)
})

test('what is typed in the tab Settings outlives another tab, and the browser asks before it loses it', async () => {
  await open('settings')
  await field('Hosts that its code may reach').fill('api.example.com')
  await reloadAndStay(page)
  await field('Events and workflows without a conversation, days').fill('30')
  await tab('Versions').click()
  await page.getByRole('list', { name: 'Versions' }).waitFor()
  await tab('Settings').click()
  await expect.poll(() => field('Hosts that its code may reach').inputValue(), patience).toBe('api.example.com')
  expect(await field('Events and workflows without a conversation, days').inputValue()).toBe('30')
})

test('what is typed in a row of a table outlives another row, and the browser asks before it loses it', async () => {
  const headers = { 'x-bot-id': bot.id }
  const schema = { type: 'object', properties: { name: { type: 'string' } } }
  const { body } = await platform.ask('POST', '/v1/tables', { name: 'citiesTable', schema }, headers)
  await platform.ask(
    'POST',
    `/v1/tables/${body.table.id}/rows`,
    { rows: [{ name: 'Rome' }, { name: 'Oslo' }] },
    headers,
  )
  await open(`tables/${body.table.id}/1`)
  await field('name').fill('Roma')
  await page.getByRole('button', { name: 'Undo changes' }).waitFor()
  await reloadAndStay(page)
  await page.getByRole('link', { name: 'Row 2' }).click()
  await page.getByRole('heading', { name: 'Row 2' }).waitFor()
  expect(await field('name').inputValue()).toBe('Oslo')
  await page.getByRole('link', { name: 'Row 1' }).click()
  await page.getByRole('heading', { name: 'Row 1' }).waitFor()
  expect(await field('name').inputValue()).toBe('Roma')
})

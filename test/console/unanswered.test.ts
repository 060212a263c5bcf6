import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot

beforeAll(async () => {
  ;({ platform, page } = await openConsole(parts))
  await page.clock.install()
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

beforeEach(async () => {
  bot = await platform.createBot('export const actions = { first() { return {} } }\n')
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const nameOf = async ({ id }: DeployedBot): Promise<string> =>
  (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.name

/** Keeps requests without an answer: the server accepts them and is silent. @returns how many there were */
async function silence(address: RegExp, method: string): Promise<{ count: number; end(): Promise<void> }> {
  const silent = { count: 0, end: () => page.unroute(address) }
  await page.route(address, (route) => {
    if (route.request().method() !== method) return route.continue()
    silent.count++
  })
  return silent
}

test('a page that gets no answer says so after 30 seconds, and shows its content after another attempt', async () => {
  const silent = await silence(/\/v1\/admin\/account\/pats/, 'GET')
  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor()
  await expect.poll(() => silent.count, patience).toBeGreaterThan(0)
  await page.clock.fastForward('00:31')
  const refusal = page.getByRole('alert').filter({ hasText: 'The server has not answered within 30 seconds.' })
  await refusal.waitFor()
  await silent.end()
  await refusal.getByRole('button', { name: 'Try again' }).click()
  await refusal.waitFor({ state: 'detached' })
  expect(await page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
})

test('a change without an answer is sent once, shows that it goes on, and says in the end that it may have been carried out', async () => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/settings`)
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('renamed')
  const silent = await silence(/\/v1\/admin\/bots\//, 'PUT')
  const form = page.locator('form', { has: name })
  await form.getByRole('button', { name: 'Save' }).dblclick()
  await page.getByText('Waiting for the server …').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  expect(silent.count).toBe(1)
  await page.clock.fastForward('02:30')
  const notice = page.getByText('The server has not answered within 120 seconds. The change may have been carried out')
  await notice.waitFor()
  expect(await page.getByText('Waiting for the server …').count()).toBe(0)
  expect(await name.inputValue()).toBe('renamed')
  await silent.end()
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => nameOf(bot), patience).toBe('renamed')
})

test('a dialog without an answer shows that it goes on', async () => {
  await page.goto(`${platform.url}/console/bots`)
  await button('New bot').first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('late')
  const silent = await silence(/\/v1\/admin\/bots$/, 'POST')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog').getByText('Waiting for the server …').waitFor()
  expect(silent.count).toBe(1)
  await silent.end()
})

test('an upload that stands still is given up', async () => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/files`)
  const silent = await silence(/\/uploads?\/|\/files\/.*upload/, 'PUT')
  await page
    .locator('input[type="file"]')
    .first()
    .setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('some notes'),
    })
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click()
  await expect.poll(() => silent.count, patience).toBe(1)
  await page.clock.fastForward('02:30')
  await page.getByText('“notes.txt” is not uploaded: Nothing was sent or answered for 120 seconds').waitFor()
  await silent.end()
})

test('the name and the role of the member are shown when the server is back', async () => {
  const own = /\/v1\/admin\/workspace-members\/me/
  await page.route(own, (route) => route.abort())
  await page.goto(`${platform.url}/console/queue`)
  await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  const role = page.locator('.account').getByText('owner', { exact: true })
  expect(await role.count()).toBe(0)
  await page.unroute(own)
  await expect.poll(() => role.count(), patience).toBe(1)
})

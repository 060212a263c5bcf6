import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page

beforeAll(async () => {
  ;({ platform, page } = await openConsole(parts))
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const word = 'aWordThatIsLongerThanAnyLineOfAPhone'.repeat(3)

test('on a phone, long names without spaces leave no page wider than the screen', async () => {
  const bot = await platform.createBot('export const actions = { first() { return {} } }\n')
  const headers = { 'x-bot-id': bot.id }
  const ask = async (method: string, path: string, body: object) => {
    const answer = await platform.ask(method, path, body, headers)
    expect(answer.status).toBeLessThan(300)
  }
  await ask('POST', '/v1/admin/account/pats', { note: word })
  await ask('POST', '/v1/admin/workspace-members', { email: `${word.slice(0, 60)}@example.com`, role: 'agent' })
  await ask('PUT', `/v1/admin/bots/${bot.id}`, { name: word, secrets: { [word.slice(0, 60)]: 'secret' } })
  await ask('POST', '/v1/tables', { name: `${word.slice(0, 40)}Table`, schema: { type: 'object', properties: {} } })
  await page.setViewportSize({ width: 360, height: 740 })
  const wide: string[] = []
  const paths = ['tokens', 'members', 'audit', `bots/${bot.id}/settings`, `bots/${bot.id}/tables`]
  for (const path of paths) {
    await page.goto(`${platform.url}/console/${path}`)
    await page.locator('main').getByText(word.slice(0, 40)).last().waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (width > 360) wide.push(path)
  }
  expect(wide).toEqual([])
})

test('the focus returns to the button of a dialog, however it is closed', async () => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${platform.url}/console/tokens`)
  const opener = page.getByRole('button', { name: 'New token' })
  const dialog = page.getByRole('dialog')
  const hasFocus = () => opener.evaluate((button) => button.matches(':focus'))
  for (const close of ['Cancel', 'Close']) {
    await opener.focus()
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: close }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await hasFocus()).toBe(true)
  }
  await page.keyboard.press('Enter')
  await page.keyboard.type('of a test')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await hasFocus()).toBe(true)
})

test('a dialog stays open when a text is selected beyond its edge, and a click outside closes it', async () => {
  await page.goto(`${platform.url}/console/tokens`)
  await page.getByRole('button', { name: 'New token' }).click()
  const field = page.getByRole('dialog').getByRole('textbox')
  await field.fill('of a test')
  const { x, y, height } = (await field.boundingBox())!
  await page.mouse.move(x + 60, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(5, y + height / 2, { steps: 5 })
  await page.mouse.up()
  expect(await field.inputValue()).toBe('of a test')
  await page.mouse.click(5, 5)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('a dialog whose action fails keeps the focus on its button, and is submitted once by a double click', async () => {
  const pats = /\/account\/pats$/
  await page.goto(`${platform.url}/console/tokens`)
  let attempts = 0
  const { promise: hasClicked, resolve: answer } = Promise.withResolvers<void>()
  await page.route(pats, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    attempts++
    await hasClicked
    return route.fulfill({ status: 503, json: { message: 'Not now' } })
  })
  await page.getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('of a test')
  const create = dialog.getByRole('button', { name: 'Create' })
  await create.dblclick()
  answer()
  await dialog.getByRole('alert').getByText('Not now').waitFor()
  const focused = await create.evaluate((button) => button.matches(':focus'))
  expect({ attempts, focused }).toEqual({ attempts: 1, focused: true })
  await page.unroute(pats)
})

test('by keyboard, the focus stays where a form is saved, and returns where the chat is closed', async () => {
  const bot = await platform.createBot('export const actions = { first() { return {} } }\n')
  await page.goto(`${platform.url}/console/bots/${bot.id}/settings`)
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('renamed')
  const save = page.locator('form', { has: name }).getByRole('button', { name: 'Save' })
  await save.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'renamed' }).waitFor()
  expect(await save.isDisabled()).toBe(true)
  expect(await save.evaluate((button) => button.matches(':focus'))).toBe(true)
  let changes = 0
  page.on('request', (request) => {
    if (request.method() === 'PUT') changes++
  })
  await page.keyboard.press('Enter')
  await name.press('Enter')
  const chat = page.getByRole('button', { name: 'Chat', exact: true })
  await chat.click()
  await page.getByRole('button', { name: 'Close the chat' }).click()
  await page.getByRole('button', { name: 'Close the chat' }).waitFor({ state: 'detached' })
  expect(await chat.evaluate((button) => button.matches(':focus'))).toBe(true)
  expect(changes).toBe(0)
})

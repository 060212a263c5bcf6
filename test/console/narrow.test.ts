import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
let page: Page

beforeAll(async () => {
  ;({ platform, browser, page } = await openConsole(parts))
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

/** Whether parts of an entry of a list are wider than their place, and reach into others. */
const hasOverlaps = (list: Locator) =>
  list.evaluate((list) => [...list.querySelectorAll('li > *')].some((part) => part.scrollWidth > part.clientWidth + 1))

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
  await platform.context.db('members').update({ created_at: new Date(Date.now() - 59 * 60_000) })
  await page.setViewportSize({ width: 360, height: 740 })
  const wide: string[] = []
  const paths = ['tokens', 'members', 'audit', `bots/${bot.id}/settings`, `bots/${bot.id}/tables`]
  for (const path of paths) {
    await page.goto(`${platform.url}/console/${path}`)
    await page.locator('main').getByText(word.slice(0, 40)).last().waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    const isOverlapping = path === 'members' && (await hasOverlaps(page.getByRole('list', { name: 'Members' })))
    if (width > 360 || isOverlapping) wide.push(path)
  }
  expect(wide).toEqual([])
})

test('on a phone, what is opened far down a list is seen from its start, and the list is where it was afterwards', async () => {
  const bot = await platform.createBot('export const actions = { first() { return {} } }\n')
  for (let number = 0; number < 9; number++) {
    const user = await createChatUser(bot.chatUrl)
    await user.send(await user.createConversation(), `message ${number}`)
  }
  await page.setViewportSize({ width: 360, height: 400 })
  const position = () => page.evaluate<number>('scrollY')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  for (const path of ['events', 'conversations']) {
    await page.goto(`${platform.url}/console/bots/${bot.id}/${path}`)
    const row = page.getByRole('link', { name: 'message 0' })
    await row.scrollIntoViewIfNeeded()
    const before = await position()
    await row.press('Enter')
    const begin = page.getByRole('link', { name: path === 'events' ? 'Events' : 'Conversations' }).last()
    await begin.waitFor()
    await page.locator('main').getByText('message 0').last().waitFor()
    expect((await begin.boundingBox())!.y).toBeGreaterThan(0)
    expect(before).toBeGreaterThan(100)
    // Twice at once, as by a key that is held down.
    await page.evaluate(`for (const key of ['Escape', 'Escape']) dispatchEvent(new KeyboardEvent('keydown', { key }))`)
    await expect.poll(position, patience).toBe(before)
    expect(page.url()).toContain(`/${path}`)
  }
  expect(await focused()).toContain('message 0')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
  expect(await position()).toBe(0)
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

test('a click outside closes a dialog in which nothing is typed, and a text selected beyond its edge closes none', async () => {
  await page.goto(`${platform.url}/console/tokens`)
  await page.getByRole('button', { name: 'New token' }).click()
  const field = page.getByRole('dialog').getByRole('textbox')
  await field.fill('of a test')
  const { x, y, height } = (await field.boundingBox())!
  await page.mouse.move(x + 60, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(5, y + height / 2, { steps: 5 })
  await page.mouse.up()
  await page.mouse.click(5, 5)
  expect(await field.inputValue()).toBe('of a test')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'New token' }).click()
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

test('a box whose change is refused shows what is stored', async () => {
  const bot = await platform.createBot('export const actions = { first() { return {} } }\n')
  await page.goto(`${platform.url}/console/bots/${bot.id}/settings`)
  const box = page.getByLabel('Keep prompts and answers with the events')
  const changes = /\/admin\/bots\/[^/]+$/
  await page.route(changes, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
  await box.click()
  await page.getByText('The server cannot be reached.').waitFor()
  expect(await box.isChecked()).toBe(false)
  await page.unroute(changes)
  await box.click()
  await page.getByText('Events keep their prompts from now on.').waitFor()
  expect(await box.isChecked()).toBe(true)
})

test('on a phone, fields have letters that Safari does not enlarge the page for, and names of bots are whole', async () => {
  const name = 'A bot whose name has more words than a line of a phone has room for'
  const bot = await platform.createBot('export const actions = { first() { return {} } }\n', { name })
  const context = await browser.newContext({ viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true })
  const phone = await context.newPage()
  const sizes = () =>
    phone.evaluate<
      number[]
    >(`[...document.querySelectorAll('input:not([type=checkbox], [type=file]), select, textarea')]
      .map((field) => parseFloat(getComputedStyle(field).fontSize))`)
  await phone.goto(`${platform.url}/console`)
  await phone.getByLabel('Personal token').fill(platform.token)
  expect(await sizes()).toEqual([16])
  await phone.getByRole('button', { name: 'Sign in' }).click()
  const link = phone.getByRole('link', { name })
  await link.waitFor()
  expect(await link.evaluate((link) => link.scrollWidth <= link.clientWidth)).toBe(true)
  for (const path of ['conversations', 'settings', 'tables']) {
    await phone.goto(`${platform.url}/console/bots/${bot.id}/${path}`)
    await phone.getByRole('heading', { level: 1 }).waitFor()
    await phone.locator('.skeleton').first().waitFor({ state: 'detached' })
    expect((await sizes()).filter((size) => size < 16)).toEqual([])
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(390)
  }
  await context.close()
})

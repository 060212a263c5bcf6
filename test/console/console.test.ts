import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLink } from '../chaos/network.ts'
import { createMember } from '../support/members.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
let page: Page
let complaints: string[]

beforeAll(async () => {
  // The tests are refused twice, as they should: with a wrong token and with wrong code.
  ;({ platform, browser, page, complaints } = await openConsole(parts, /status of 40[01]/))
}, installing)
afterAll(() => parts.disposeAsync())

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const tab = (name: string) => page.getByRole('navigation', { name: 'Parts of the bot' }).getByRole('link', { name })
const chatMessages = () => page.getByRole('complementary', { name: /^Chat/ }).getByRole('listitem')

async function say(text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByLabel('Message', { exact: true }).press('Enter')
}

async function lastMessage(): Promise<string> {
  return (await chatMessages().last().textContent()) ?? ''
}

/** Replaces the code in the editor, as somebody does who pastes it. */
async function write(code: string): Promise<void> {
  await page.locator('.monaco-editor .view-line').first().click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(code)
}

const deployed = () => page.getByText('Deployed: it handles all events from now on.').last()
const marks = (): Locator => page.locator('.squiggly-error')

/** Replies with a word, and logs it. */
const replying = (word: string) => `import type { Hooks } from 'isobot/bot'
export const hooks: Hooks = { async afterIncomingMessage({ event, client, logger }) { logger.info('${word} ' + event.preview); await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: '${word} ' + event.preview } }) } }`

test('an unknown token is refused with a remedy, and a valid one opens its workspace', async () => {
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill('not a token')
  await button('Sign in').click()
  await page.getByText('No account has this token').waitFor()

  await page.getByLabel('Personal token').fill(platform.token)
  await button('Sign in').click()

  await page.getByRole('heading', { name: 'No bot yet' }).waitFor()
  await expect.poll(() => page.getByText('owner', { exact: true }).count()).toBe(1)
})

test('a bot that is made in the browser answers in the chat, and the editor finds nothing wrong with its code', async () => {
  await button('New bot').first().click()
  await page.getByLabel('Name').fill('parrot')
  await button('Create').click()
  await page.getByRole('heading', { name: /^parrot/ }).waitFor()
  // All tabs are in view on the screen of a laptop.
  const tabs = page.getByRole('navigation', { name: 'Parts of the bot' })
  expect(await tabs.evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBe(0)
  await button('Chat').click()
  await say('hello')

  await expect.poll(lastMessage, patience).toBe('Bot: You said: hello')
  await page.locator('.view-line', { hasText: 'isobot/bot' }).waitFor()
  // The marks of what is wrong come some time after the code: first those of something that is.
  await write(`${replying('wrong')}\nhooks.afterNothing\nhooks.afterAll`)
  await expect.poll(() => marks().count(), patience).toBe(2)
  await button('Discard').click()
  await expect.poll(() => marks().count(), patience).toBe(0)
})

test('a hook that is edited is deployed, and its lines of log come as they are written', async () => {
  await write(replying('Edited'))
  await page.keyboard.press('ControlOrMeta+S')
  await deployed().waitFor()
  await tab('Logs').click()
  await page.getByText('Live').waitFor()
  await say('and now?')

  await expect.poll(lastMessage, patience).toBe('Bot: Edited and now?')
  await page.getByRole('log', { name: 'Lines of the log' }).getByText('Edited and now?').waitFor()
})

test('lines of the log that are cleared do not come back with an answer that was on its way', async () => {
  await tab('Logs').click()
  const lines = page.getByRole('log', { name: 'Lines of the log' }).getByRole('listitem')
  await lines.first().waitFor()
  const hasBegun = Promise.withResolvers<void>()
  const isCleared = Promise.withResolvers<void>()
  await page.route('**/logs/new?*', async (route) => {
    const response = await route.fetch()
    hasBegun.resolve()
    await isCleared.promise
    await route.fulfill({ response })
  })
  await hasBegun.promise
  await button('Clear').click()
  await page.getByRole('heading', { name: 'No log lines yet' }).waitFor()
  await say('after the clearing')
  isCleared.resolve()
  await expect.poll(() => lines.allTextContents(), patience).toEqual([expect.stringContaining('after the clearing')])
  await page.unroute('**/logs/new?*')
})

test('code that is refused stays in the editor, with the reason and a mark on its line', async () => {
  await tab('Code').click()
  await page.locator('.view-line', { hasText: 'Edited' }).first().waitFor()
  await write(`${replying('never')}\nthrow new Error('not today')`)
  await button('Deploy').click()

  await page
    .getByRole('alert')
    .getByText(/bot\.ts:3:\d+: .*not today/)
    .waitFor()
  await marks().waitFor()
  await say('still there?')
  await expect.poll(lastMessage, patience).toBe('Bot: Edited still there?')
  await button('Discard').click()
})

test('a rollback asks first, shows what it changes, and deploys the former version', async () => {
  await tab('Versions').click()
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem')
  // On a small screen the difference is below what is shown.
  await page.setViewportSize({ width: 1280, height: 320 })
  await versions.nth(1).getByRole('link').click()
  const difference = page.getByRole('region', { name: 'Difference' })
  const isShown = () => difference.boundingBox().then((box) => box !== null && box.y < 320)
  await expect.poll(isShown, patience).toBe(true)
  await page.setViewportSize({ width: 1280, height: 800 })
  await difference.locator('.line-insert').first().waitFor()
  await difference.locator('.line-delete').first().waitFor()
  await button('Roll back').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()

  await versions.nth(1).getByText('deployed', { exact: true }).waitFor()
  await say('as before')
  await expect.poll(lastMessage, patience).toBe('Bot: You said: as before')
})

test('code without hooks is deployed only after a question that names the hooks which the bot would lose', async () => {
  const [{ id }] = (await platform.ask('GET', '/v1/admin/bots')).body.bots
  const hooks = async () => (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.version.hooks
  await tab('Code').click()
  await page.locator('.view-line', { hasText: 'isobot/bot' }).waitFor()
  await write('export const actions = { greet() { return {} } }')
  await button('Deploy').click()
  const question = page.getByRole('dialog', { name: 'Deploy code without hooks' })
  await question.getByText('The bot would lose the hook afterIncomingMessage.').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('not deployed').waitFor()
  expect(await hooks()).toEqual(['afterIncomingMessage'])

  await button('Deploy').click()
  await question.getByRole('button', { name: 'Deploy without hooks' }).click()
  await expect.poll(hooks, patience).toEqual([])
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
})

async function upload(code: string): Promise<void> {
  const [bot] = (await platform.ask('GET', '/v1/admin/bots')).body.bots
  expect((await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code })).status).toBe(200)
}

const failing = `export const hooks = {\n  afterIncomingMessage({ event }) { throw new Error('no ' + event.preview) },\n}`

test('a failed event is found with its reason, its place and its steps, and is replayed', async () => {
  await upload(failing)
  await say('luck')
  const reason = page.getByRole('log').getByText('The bot failed: afterIncomingMessage: Error: no luck')
  await reason.waitFor()
  expect(await reason.getByRole('link', { name: 'Event' }).getAttribute('href')).toContain('/events/evt_')
  await tab('Errors').click()
  await page.locator('.tab').getByText('Error: no luck').first().waitFor()
  await page.locator('[data-row]').first().click()
  const panel = page.getByRole('complementary', { name: 'Event' })
  await panel.getByRole('link', { name: 'bot.ts:2:43' }).first().waitFor()
  const steps = panel.getByRole('list', { name: 'Steps of attempt 1' })
  await steps.getByText('wait in queue').waitFor()
  await steps.getByText('afterIncomingMessage').waitFor()

  await upload(replying('Mended'))
  await panel.getByRole('button', { name: 'Replay' }).click()

  await panel.getByText('processed').first().waitFor()
  await expect.poll(lastMessage, patience).toBe('Bot: Mended luck')
})

const fetching = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    await fetch('https://prices.example/tea').catch(() => {})
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'No price' } })
  },
}`

test('a request that got no answer is marked as failed among the steps of its event, with the reason', async () => {
  await upload(fetching)
  await say('How much?')
  await expect.poll(lastMessage, patience).toBe('Bot: No price')
  await tab('Events').click()
  await page.getByRole('list', { name: 'Timeline' }).getByRole('link', { name: 'How much?' }).click()
  const steps = page.getByRole('list', { name: 'Steps of attempt 1' }).getByRole('listitem')
  const request = steps.filter({ hasText: 'prices.example' })
  await request.waitFor()
  expect({ text: await request.textContent(), class: await request.getAttribute('class') }).toEqual({
    text: expect.stringContaining('forbidden'),
    class: 'fetch bad',
  })
})

test('all that failed alike is replayed at once, also what is not shown', async () => {
  await upload(failing)
  const numbers = [1, 2, 3, 4, 5, 6]
  for (const number of numbers) await say(`loss ${number}`)
  await tab('Errors').click()
  await button('Replay all 6').waitFor()
  await upload(replying('Found'))
  await button('Replay all 6').click()
  const dialog = page.getByRole('dialog', { name: 'Replay all' })
  await dialog.getByText('afterIncomingMessage: Error: no loss').waitFor()
  await dialog.getByRole('button', { name: 'Replay' }).click()

  await page.getByText('6 events handled again.').waitFor()
  const replies = numbers.map((number) => `Bot: Found loss ${number}`)
  await expect.poll(() => chatMessages().allTextContents(), patience).toEqual(expect.arrayContaining(replies))
})

const offering = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const say = (type, payload) => client.createMessage({ conversationId: event.conversationId, type, payload })
    const { text, value } = event.payload
    const long = 'A large pot of coffee with milk and sugar for everybody who is in the garden'
    const options = [{ label: 'Tea', value: 'tea-1' }, { label: long, value: 'coffee-2' }]
    if (value !== undefined) await say('text', { text: text + ' stands for ' + value })
    else if (text === 'card') {
      await say('card', { title: 'Drinks', actions: [{ action: 'postback', label: 'Milk', value: 'milk-3' }] })
    } else await say(text, { text: 'What may it be?', options })
  },
}`

test.each([
  ['choice', 'Tea', 'tea-1'],
  ['dropdown', 'Tea', 'tea-1'],
  ['card', 'Milk', 'milk-3'],
])('a click in a %s says its label, and tells the bot the value', async (type, label, value) => {
  await upload(offering)
  await say(type)
  const choice = chatMessages().last().getByRole('button', { name: label })
  await choice.waitFor()
  const messages = page.getByRole('log', { name: 'Messages' })
  expect(await messages.evaluate((list) => list.scrollWidth > list.clientWidth)).toBe(false)
  await choice.click()
  await expect.poll(lastMessage, patience).toBe(`Bot: ${label} stands for ${value}`)
  expect((await chatMessages().allTextContents()).at(-2)).toBe(`You: ${label}`)
})

const streaming = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const stream = client.streamMessage(event.conversationId)
    await stream.write('First this')
    await new Promise((resolve) => setTimeout(resolve, 3000))
    await stream.write(', then that')
    await stream.end()
  },
}`

test('a message that is being written is shown as far as it is', async () => {
  await upload(streaming)
  await say('go on')
  await expect.poll(lastMessage, patience).toBe('Bot: First this')
  await expect.poll(lastMessage, patience).toBe('Bot: First this, then that')
  // Only the messages scroll: words for screen readers among them do not make the page longer.
  const outside = `[...document.querySelectorAll('aside.chat span.visually-hidden')].filter(
    ({ offsetParent, parentElement }) => offsetParent !== parentElement,
  ).length`
  expect(await page.evaluate(outside)).toBe(0)
})

test('a chat that loses its connection says so, and has what was said meanwhile when there is one again', async () => {
  await upload(replying('Still'))
  const [botId] = /bot_\w+/.exec(page.url())!
  await using link = await openLink(() => Number(new URL(platform.url).port))
  const another = await browser.newContext()
  const view = await another.newPage()
  await view.goto(`http://127.0.0.1:${link.port}/console/bots/${botId}`)
  await view.getByLabel('Personal token').fill(platform.token)
  await view.getByRole('button', { name: 'Sign in' }).click()
  await view.getByRole('button', { name: 'Chat', exact: true }).click()
  const chat = view.getByRole('complementary', { name: /^Chat/ })
  const write = async (text: string) => {
    await chat.getByLabel('Message', { exact: true }).fill(text)
    await chat.getByLabel('Message', { exact: true }).press('Enter')
  }
  const last = () => chat.getByRole('listitem').last().textContent()
  await write('there?')
  await expect.poll(last, patience).toBe('Bot: Still there?')

  link.cut()
  await chat.getByText('Connection lost; retrying.').waitFor()
  const events = await chat.getByRole('link', { name: 'Its events' }).getAttribute('href')
  const conversationId = new URL(events!, platform.url).searchParams.get('conversationId')
  const message = { conversationId, userId: botId, type: 'text', payload: { text: 'And you?' }, tags: {} }
  expect(await platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': botId })).toMatchObject({ status: 201 })
  link.mend()

  await expect.poll(last, patience).toBe('Bot: And you?')
  await write('here')
  await expect.poll(last, patience).toBe('Bot: Still here')
  expect(await chat.getByText('Connection lost').count()).toBe(0)
  await another.close()
})

test('a page that is opened while the server cannot be reached shows its content when the server is back', async () => {
  await using link = await openLink(() => Number(new URL(platform.url).port))
  const another = await browser.newContext()
  const view = await another.newPage()
  await view.goto(`http://127.0.0.1:${link.port}/console/queue`)
  await view.getByLabel('Personal token').fill(platform.token)
  await view.getByRole('button', { name: 'Sign in' }).click()
  await view.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  link.cut()
  await view.getByRole('link', { name: 'Tokens' }).click()
  const tokens = view.locator('#content')
  await tokens.getByRole('alert').getByText('This page keeps retrying').waitFor()
  link.mend()
  await tokens.getByRole('list', { name: 'Tokens' }).waitFor()
  expect(await tokens.getByRole('alert').count()).toBe(0)
  await another.close()
})

test('the keyboard reaches search and rows, and closes what is open', async () => {
  await tab('Events').click()
  const rows = page.getByRole('list', { name: 'Timeline' }).getByRole('link')
  const focused = page.locator(':focus')
  await rows.first().waitFor()
  await page.locator('h1').click()
  await page.keyboard.press('/')
  expect(await focused.getAttribute('aria-label')).toBe('Search ids, text, reasons')
  await rows.first().focus()
  const first = await focused.getAttribute('href')
  await page.keyboard.press('ArrowDown')
  // Events that come meanwhile stand above the first.
  const all = await rows.evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  expect(await focused.getAttribute('href')).toBe(all[all.indexOf(first!) + 1])
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'Event' }).getByText('Where the time went').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('complementary', { name: 'Event' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Skip to the content' }).press('Enter')
  await expect.poll(() => focused.getAttribute('id')).toBe('content')
})

test('a bot gets a web chat, whose tab shows each change before it is saved', async () => {
  const countUsers = async () => Number((await platform.context.db('users').count())[0]!['count'])
  const users = await countUsers()
  await tab('Web chat').click()
  await page.getByRole('button', { name: 'Install' }).click()
  const copy = page.getByRole('button', { name: 'Copy tag' })
  await copy.waitFor()
  const [, src = ''] = /src="([^"]+)"/.exec((await copy.textContent())!)!
  const preview = page.frameLocator('iframe[title="Preview of the web chat"]')
  await preview.getByText('A message of the visitor.').waitFor()
  const field = (label: string) => page.getByLabel(label, { exact: true })
  await field('Name').fill('Ada of the tea shop')
  await preview.getByRole('heading', { name: 'Ada of the tea shop' }).waitFor()
  await field('Colour').fill('#1f6f54')
  await field('Roundness of corners').fill('0')
  await field('Greeting, in Markdown').fill('Hello, I am **Ada**.')
  await preview.locator('strong', { hasText: 'Ada' }).waitFor()
  const look = () =>
    page
      .frames()
      .find((frame) => frame.url().endsWith('/frame'))!
      .evaluate<string[]>(
        `{
          const { backgroundColor, borderRadius } = getComputedStyle(document.querySelector('.own'));
          [backgroundColor, borderRadius]
        }`,
      )
  await expect.poll(look, patience).toEqual(['rgb(31, 111, 84)', '0px'])
  await field('Language (default: the visitor’s)').fill('de')
  await page.getByText('Texts of the widget').click()
  await field('conversations').fill('Gespräche')
  await preview.getByRole('button', { name: 'Gespräche' }).waitFor()
  await field('Website, address').fill('https://shop.example/')
  await field('Website, title').fill('Our shop')
  await preview.getByRole('link', { name: 'Our shop' }).waitFor()
  await field('Visitors send files').check()
  await preview.getByRole('button', { name: 'Datei anhängen' }).waitFor()
  await field('Types of these files, one per line (default: all)').fill('image/*\napplication/pdf')
  await field('A message beside the bubble invites visitors').check()
  await field('Words of the invitation').fill('May I help?')
  await field('Origins of pages that may show it').fill('https://shop.example')
  // The preview is no visitor, and nobody can write in it.
  expect(await countUsers()).toBe(users)
  expect(await (await fetch(src)).text()).not.toContain('Ada of the tea shop')

  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await fetch(src)).text(), patience).toContain('"botName":"Ada of the tea shop"')
  const frame = await fetch(new URL('frame', src))
  expect(frame.headers.get('content-security-policy')).toContain("frame-ancestors 'self' https://shop.example")
  const { bot_id: botId } = (await platform.context
    .db('installations')
    .where({ integration: 'webchat' })
    .first('bot_id'))!
  const stored = async () =>
    (await platform.ask('GET', `/v1/admin/bots/${botId}`)).body.bot.integrations.webchat.configuration
  expect(await stored()).toEqual({
    allowedOrigins: ['https://shop.example'],
    allowFileUpload: true,
    botName: 'Ada of the tea shop',
    color: '#1f6f54',
    fileTypes: ['image/*', 'application/pdf'],
    greeting: 'Hello, I am **Ada**.',
    locale: 'de',
    proactiveBubbleMessage: 'May I help?',
    proactiveMessageEnabled: true,
    radius: 0,
    texts: { conversations: 'Gespräche' },
    website: { link: 'https://shop.example/', title: 'Our shop' },
  })
})

test('the days after which a bot’s rows are deleted are set in its settings, and taken back', async () => {
  await tab('Settings').click()
  const form = page.locator('form', { hasText: 'Retention' })
  const days = form.getByLabel('Conversations without a new entry, days')
  const save = form.getByRole('button', { name: 'Save' })
  expect(await days.getAttribute('placeholder')).toBe('kept')
  await days.fill('forever')
  expect(await save.isDisabled()).toBe(true)
  await form.getByRole('alert').getByText('at most 3650').waitFor()
  await days.fill('90')
  await save.click()
  await expect
    .poll(() => platform.context.db('bots').select('retention'), patience)
    .toContainEqual({ retention: { conversationDays: 90 } })
  await days.fill('')
  await save.click()
  await expect
    .poll(() => platform.context.db('bots').select('retention'), patience)
    .not.toContainEqual({ retention: { conversationDays: 90 } })
})

test.for([
  'Overview',
  'Conversations',
  'Events',
  'Logs',
  'Errors',
  'Versions',
  'Files',
  'Web chat',
  'Integrations',
  'Settings',
])('on the tab %s everything that one can use has a name, shows the focus, and fits a phone', async (name) => {
  await tab(name).click()
  await expect.poll(() => page.locator('.skeleton').count(), patience).toBe(0)
  expect(await nameless()).toEqual([])
  await page.keyboard.press('Tab')
  expect(await outlineOfFocused()).not.toBe('none')
  await page.setViewportSize({ width: 390, height: 844 })
  // Charts take their new width a moment later.
  await expect.poll(width, patience).toBe(390)
  expect(await cutOffPlaceholders()).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
})

test.for(['Queue', 'Members', 'Tokens', 'Audit log'])('the page %s shows what the workspace has', async (name) => {
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await expect.poll(() => page.locator('.skeleton').count(), patience).toBe(0)
  expect(await page.locator('#content').getByRole('alert').allTextContents()).toEqual([])
  expect(await nameless()).toEqual([])
})

test('an integration that a person has to authorize has a button for it, which opens the page that asks', async () => {
  const created = await platform.ask('POST', '/v1/admin/integrations', {
    name: 'vendor',
    version: '1.0.0',
    code: 'export const register = () => {}',
    configuration: { schema: {}, identifier: { linkTemplateScript: '"https://vendor.example/consent"' } },
  })
  const integrations = { vendor: { integrationId: created.body.integration.id, enabled: true, configuration: {} } }
  const { id } = await platform.createBot()
  await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations })
  await page.goto(`${platform.url}/console/bots/${id}/integrations`)
  const opening = page.waitForEvent('popup')
  await button('Authorize').click()
  const opened = await opening
  await opened.getByText('You continue at vendor.example.').waitFor()
  expect(new URL(opened.url()).pathname).toMatch(/^\/authorize\/aut_/)
  await opened.close()
})

test('an integration is installed, configured by a form from its schema, granted hosts, updated and removed', async () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', title: 'Region', enum: ['eu', 'us'], default: 'eu' },
      apiToken: { type: 'string', title: 'API token', description: 'From the page Account.' },
      retries: { type: 'integer', title: 'Retries', maximum: 5 },
      privateKey: { type: 'string', title: 'Private key' },
      isVerbose: { type: 'boolean', title: 'Verbose' },
      filter: { type: 'object', title: 'Filter', properties: { tags: { type: 'array', items: { type: 'string' } } } },
    },
    required: ['apiToken'],
    additionalProperties: false,
  }
  const ids: string[] = []
  for (const version of ['1.0.0', '1.1.0']) {
    const body = { name: 'crm', version, code: 'export const register = () => {}', configuration: { schema } }
    ids.push((await platform.ask('POST', '/v1/admin/integrations', body)).body.integration.id)
  }
  const { id } = await platform.createBot()
  const stored = async () => (await platform.ask('GET', `/v1/admin/bots/${id}`)).body.bot.integrations['crm-eu']
  const dialog = page.getByRole('dialog')
  await page.goto(`${platform.url}/console/bots/${id}/integrations`)
  await button('Install an integration').click()
  await page.getByLabel('Search integrations').fill('crm')
  await dialog.getByRole('button', { name: /^crm/ }).click()
  await dialog.getByLabel('Name on this bot').fill('crm-eu')
  await dialog.getByLabel('Version').selectOption(ids[0]!)
  await dialog.getByRole('button', { name: 'Install' }).click()
  await dialog.getByText('API token is required').waitFor()
  expect(await dialog.getByLabel('API token').getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByLabel('API token').getAttribute('type')).toBe('password')

  await dialog.getByLabel('API token').fill('t-1')
  await dialog.getByLabel('Retries').fill('7')
  await dialog.getByLabel('Filter').fill('{tags}')
  await dialog.getByRole('button', { name: 'Install' }).click()
  await dialog.getByText('Filter is not JSON').waitFor()
  await dialog.getByLabel('Filter').fill('{"tags":[1]}')
  await dialog.getByLabel('Retries').fill('2')
  await dialog.getByRole('button', { name: 'Install' }).click()
  await dialog
    .getByText('Filter tags.0 must be string')
    .or(dialog.getByText(/^Filter .*must be string/))
    .waitFor()
  await dialog.getByLabel('Filter').fill('{"tags":["vip"]}')
  await dialog.getByLabel('Private key').fill('of two\nlines')
  await dialog.getByLabel('Verbose').selectOption('false')
  await dialog.getByRole('button', { name: 'Install' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await stored()).toMatchObject({
    version: '1.0.0',
    status: 'registered',
    configuration: {
      region: 'eu',
      apiToken: 't-1',
      retries: 2,
      privateKey: 'of two\nlines',
      isVerbose: false,
      filter: { tags: ['vip'] },
    },
  })
  await page.getByRole('button', { name: 'Copy webhook address' }).waitFor()

  await button('Configure crm-eu').click()
  await dialog.getByLabel('Version').selectOption(ids[1]!)
  await dialog.getByLabel('Retries').fill('')
  await dialog.getByLabel('Private key').fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const updated = await stored()
  expect(updated.version).toBe('1.1.0')
  expect(updated.configuration).toEqual({ region: 'eu', apiToken: 't-1', isVerbose: false, filter: { tags: ['vip'] } })

  await page.getByText('crm 1.1.0').waitFor()
  await button('Hosts crm-eu').click()
  await dialog.getByLabel('Hosts that its code may reach').fill('api.crm.example')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const granted = await platform.ask('GET', `/v1/admin/integrations/${ids[1]}`)
  expect(granted.body.integration.permissions.net).toEqual(['api.crm.example'])
  await button('Hosts crm-eu').click()
  await expect.poll(() => dialog.getByLabel('Hosts that its code may reach').inputValue()).toBe('api.crm.example')
  await page.setViewportSize({ width: 320, height: 700 })
  await expect.poll(width, patience).toBe(320)
  await page.setViewportSize({ width: 1280, height: 800 })
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await button('Remove crm-eu').click()
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await stored()).toBeUndefined()
})

test('a field is as high as its text also in a browser without field-sizing', async () => {
  const old = await browser.newPage()
  await old.addInitScript(`{
    const { supports } = CSS
    CSS.supports = (...given) => given[0] !== 'field-sizing' && supports.apply(CSS, given)
  }`)
  await signIn(old, platform)
  await old.getByRole('link', { name: /^parrot/ }).click()
  await old.getByRole('button', { name: 'Chat', exact: true }).click()
  await old.addStyleTag({ content: 'textarea { field-sizing: fixed !important }' })
  const field = old.getByLabel('Message', { exact: true })
  const height = () => field.evaluate((area) => area.clientHeight)
  const hidden = () => field.evaluate((area) => area.scrollHeight - area.clientHeight)
  const empty = await height()
  await field.fill('one\ntwo\nthree')
  expect(await hidden()).toBe(0)
  expect(await height()).toBeGreaterThan(empty)
  await field.fill('')
  expect(await height()).toBe(empty)
  await old.close()
})

test('a browser that lacks what the console needs gets the versions that have it', async () => {
  expect(await page.getByText('this browser is too old for it').count()).toBe(0)
  const old = await browser.newPage()
  await old.addInitScript('delete AbortSignal.any')
  await old.goto(`${platform.url}/console`)
  await old.getByText('this browser is too old for it').waitFor()
  expect(await old.getByLabel('Personal token').count()).toBe(0)
  await old.close()
})

test('a viewer sees the bots’ metrics, and which role the other pages need', async () => {
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const another = await browser.newContext()
  const view = await another.newPage()
  await view.goto(`${platform.url}/console`)
  await view.getByLabel('Personal token').fill(authorization.replace('Bearer ', ''))
  await view.getByRole('button', { name: 'Sign in' }).click()
  await view.getByText('viewer', { exact: true }).last().waitFor()
  await view.getByRole('link', { name: 'parrot' }).click()
  await view.getByRole('heading', { name: 'Events per minute' }).waitFor()
  await view.getByRole('link', { name: 'Code' }).click()
  await view.getByRole('alert').getByText("This operation needs the role 'developer'").waitFor()
  await view.getByRole('link', { name: 'Bots', exact: true }).first().click()
  await view.getByRole('table', { name: 'Bots' }).waitFor()

  expect(await view.getByRole('button', { name: 'New bot' }).count()).toBe(0)
  await another.close()
})

test('after all that, the browser has nothing to complain about', () => {
  expect(complaints).toEqual([])
})

async function outlineOfFocused(): Promise<string> {
  return page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
}

async function width(): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth')
}

/** Controls without an accessible name. */
async function nameless(): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('a, button, input, select, textarea, [tabindex]')]
      .filter(({ ariaLabel, textContent, labels, id }) =>
        ![ariaLabel, textContent, labels?.[0]?.textContent, id].some((words) => words?.trim()))
      .map(({ outerHTML }) => outerHTML)
  `)
}

/** The placeholders of fields that are too narrow for them. */
async function cutOffPlaceholders(): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('input[placeholder]')].filter((input) => {
      const style = getComputedStyle(input)
      const pen = document.createElement('canvas').getContext('2d')
      pen.font = style.font
      const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
      return pen.measureText(input.placeholder).width > room
    }).map(({ placeholder }) => placeholder)
  `)
}

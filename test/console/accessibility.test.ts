import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, NodeResult } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { installCode } from '../support/install-code.ts'
import { createMember } from '../support/members.ts'
import { endedEvents } from '../support/outcomes.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installWebchat } from '../support/webchat.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
let page: Page
let bot: DeployedBot
let fileId: string
let tableId: string
let flowBot: DeployedBot
/** The conversation that waits for a person. */
let handedOver: string
let axe: string

const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const
const appearances = sizes.flatMap((size) => (['light', 'dark'] as const).map((colorScheme) => ({ size, colorScheme })))

beforeAll(async () => {
  ;({ platform, browser, page } = await openConsole(parts))
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  bot = await createUsedBot()
  flowBot = await createWaitingBot()
  handedOver = await handOver()
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Opens an address of the console, and waits until what it shows is loaded. */
async function open(path: string): Promise<void> {
  await page.setViewportSize(sizes[0])
  await page.goto(`${platform.url}/console${path}`)
  await page.locator('h1').waitFor()
  await expect.poll(() => page.locator('.skeleton').count(), patience).toBe(0)
}

/** Ends all that moves and fades, for good: on its way, a colour has less contrast than where it goes. */
const stopMotion = `{
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('*, ::before, ::after { transition: none !important; animation: none !important }')
  document.adoptedStyleSheets = [sheet]
}`

/**
 * Half of the appearances, which has both sizes and both schemes. Successive views take turns, so that the parts that all
 * views have in common are seen in each appearance.
 */
function halfOf(view: number): typeof appearances {
  return appearances.filter((_, index) => (index === 0 || index === 3) === (view % 2 === 0))
}

/** The violations that axe finds in the page as the browser shows it: in both schemes, on a desk and on a phone. */
async function violations(page: Page, shown = appearances): Promise<string[]> {
  const found = new Set<string>()
  await page.evaluate(axe)
  await page.evaluate(stopMotion)
  for (const { size, colorScheme } of shown) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // The page follows the scheme at its next frame, by a listener in the API reference.
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    // Only these: all that axe found in order are megabytes, which take seconds to be sent and read.
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    )
    for (const { id, nodes } of violations) {
      const [{ target, any, all, none }] = nodes as [NodeResult]
      const why = [...any, ...all, ...none][0]?.message
      found.add(`${id}: ${nodes.length} such as ${target.join(' ')}: ${why} (${colorScheme}, ${size.width} px)`)
    }
  }
  return [...found]
}

const code = (word: string) => `export const hooks = {
  async afterIncomingMessage({ event, client, logger }) {
    logger.debug('asked', event.preview)
    logger.info('${word}')
    logger.warn('a line that is longer than a phone is wide, so that it goes on in a second one and in a third one')
    logger.error(new Error('logged'))
    if (event.preview.startsWith('fail')) throw new Error(event.preview)
    const options = [{ label: 'Yes', value: 'yes' }, { label: 'No', value: 'no' }]
    await client.createMessage({ conversationId: event.conversationId, type: 'choice', payload: { text: '${word}', options } })
  },
}
`

const failingToRegister = `export async function register() { throw new Error('not today') }`

/** A bot of which every tab has something to show. */
async function createUsedBot(): Promise<DeployedBot> {
  const bot = await platform.createBot(code('first'))
  await installCode(platform, bot.id, failingToRegister)
  const secrets = { API_KEY: 'secret' }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { name: 'parrot', code: code('second'), secrets })
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const texts = ['hello', 'fail 1', 'fail 2', 'fail 3', 'fail 4', 'fail 5', 'fail 6']
  for (const text of texts) await chatUser.send(conversationId, text)
  await endedEvents(platform, bot.id, texts.length)
  fileId = await createIndexedFile(bot.id)
  tableId = await createFilledTable(bot.id)
  await insertModelUsage(bot.id)
  return bot
}

/** The day in UTC so many days ago. */
function day(ago: number): string {
  return new Date(Date.now() - ago * 24 * 3600 * 1000).toISOString().slice(0, 10)
}

/** Usage of language models by a bot, some failures, a budget, and a call in the timeline of an event. */
async function insertModelUsage(botId: string): Promise<void> {
  const { db } = platform.context
  const usage = { calls: 12, input_tokens: 48_000, output_tokens: 9000, cost: 0.43 }
  for (const [ago, model] of [
    [0, 'openai:gpt-5-mini'],
    [3, 'openai:gpt-5-mini'],
    [40, 'anthropic:claude-haiku-4-5'],
  ] as const) {
    await db('model_usage').insert({ bot_id: botId, day: day(ago), model, ...usage })
  }
  const failure = { kind: 'limited', status: 429, failures: 7 }
  await db('model_failures').insert({ bot_id: botId, day: day(1), model: 'openai:gpt-5-mini', ...failure })
  await platform.ask('PUT', '/v1/admin/models/budget', { botId, budget: { dayTokens: 100_000, monthDollars: 20 } })
}

/** A bot with a flow in which a conversation waits. */
async function createWaitingBot(): Promise<DeployedBot> {
  const ports = { failed: null, cancel: 'other/' }
  const ask = { id: 'ask', type: 'capture', message: 'Your name?', variable: 'user.name', ports }
  const nodes = [
    { id: 'start', cards: [{ id: 'greet', type: 'say', message: 'Hello' }], next: 'name' },
    { id: 'name', cards: [ask], next: 'end' },
    { id: 'end', cards: [{ id: 'over', type: 'end' }] },
  ]
  const other = { id: 'other', start: 'only', nodes: [{ id: 'only', cards: [] }] }
  const created = await platform.createBot('', { flows: [{ id: 'main', start: 'start', nodes }, other] })
  const chatUser = await createChatUser(created.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'hello')
  await endedEvents(platform, created.id, 1)
  return created
}

/** Hands over a conversation in which a user has said something. */
async function handOver(): Promise<string> {
  const chatUser = await createChatUser(bot.chatUrl, { name: 'Ada' })
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'hello')
  const given = { title: 'A broken parcel', description: 'It has a hole. '.repeat(100), expiresInSeconds: 7200 }
  const path = `/v1/chat/conversations/${conversationId}/handover`
  const { body } = await platform.ask('POST', path, given, { 'x-bot-id': bot.id })
  const note = { text: 'The customer has called, too.' }
  await platform.ask('POST', `/v1/admin/bots/${bot.id}/handovers/${body.handover.id}/notes`, note)
  await platform.ask('POST', '/v1/admin/canned-replies', { shortcut: 'hello', text: 'Hello, I read it. '.repeat(20) })
  return conversationId
}

async function createIndexedFile(botId: string): Promise<string> {
  const headers = { 'x-bot-id': botId }
  await platform.ask('POST', '/v1/files/knowledge-bases', { name: 'Handbook' }, headers)
  const properties = { key: 'a/rules.md', size: 0, index: true, tags: { topic: 'travel' }, metadata: { pages: 2 } }
  const { body } = await platform.ask('PUT', '/v1/files', properties, headers)
  await fetch(body.file.uploadUrl, { method: 'PUT', body: '# Journeys\n\nTrains are refunded in full.\n' })
  await vi.waitFor(async () => {
    const found = await platform.ask('GET', `/v1/files/${body.file.id}`, undefined, headers)
    expect(found.body.file.status).toBe('indexing_completed')
  }, patience)
  return body.file.id
}

async function createFilledTable(botId: string): Promise<string> {
  const headers = { 'x-bot-id': botId }
  const names = ['status', 'customer', 'city', 'note', 'channel', 'agent']
  const texts = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const properties = { ...texts, total: { type: 'number' }, paid: { type: 'boolean' }, address: { type: 'object' } }
  const schema = {
    type: 'object',
    properties: { ...properties, name: { type: 'string', 'x-zui': { searchable: true } } },
  }
  const { body } = await platform.ask('POST', '/v1/tables', { name: 'ordersTable', schema, keyColumn: 'name' }, headers)
  const rows = ['A-1', 'A-2', 'A-3'].map((name, index) => ({
    name,
    ...Object.fromEntries(names.map((name) => [name, `${name} ${index}, which goes on`])),
    total: index * 12.5,
    paid: index > 0,
    address: { street: 'High Street', number: index },
  }))
  await platform.ask('POST', `/v1/tables/${body.table.id}/rows`, { rows }, headers)
  await platform.ask('GET', `/v1/tables/${body.table.id}/export?format=csv`, undefined, headers)
  return body.table.id
}

/** The name of the element that has the focus; empty for none. */
const focused = (view: Page) =>
  view.evaluate<string>(`document.activeElement === document.body ? '' : document.activeElement.textContent.trim()`)

test('the first sign-in, and the one over a page whose session has ended: no violations, and the focus stays', async () => {
  const { authorization } = await createMember(platform, 'owner')
  const another = await browser.newContext()
  const view = await another.newPage()
  await view.goto(`${platform.url}/console`)
  await view.getByLabel('Personal token').fill('of nobody')
  await view.getByRole('button', { name: 'Sign in' }).click()
  await view.getByText('No account has this token').waitFor()
  expect(await focused(view)).toBe('Sign in')
  expect(await violations(view)).toEqual([])
  await signIn(view, platform, authorization.replace('Bearer ', ''))
  await view.getByRole('heading', { name: 'No bot yet' }).waitFor()
  expect(await violations(view)).toEqual([])
  const headers = { authorization }
  const { body } = await platform.ask('GET', '/v1/admin/account/pats', undefined, headers)
  await platform.ask('DELETE', `/v1/admin/account/pats/${body.pats[0].id}`, undefined, headers)
  const again = view.getByRole('dialog', { name: 'Sign in again' })
  await again.waitFor()
  expect(await violations(view)).toEqual([])
  await again.getByLabel('Personal token').fill('of nobody')
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.getByText('No account has this token').waitFor()
  expect(await focused(view)).toBe('Sign in')
  expect(await again.getByLabel('Personal token').getAttribute('aria-invalid')).toBe('true')
  expect(await violations(view)).toEqual([])
  await another.close()
})

/** The views of the console: an address below the console's, and the actions there. */
const views: Record<string, { path: () => string; show?: () => Promise<unknown> }> = {
  'the list of bots': { path: () => '' },
  'the menu of a phone': {
    path: () => '',
    async show() {
      await page.setViewportSize(sizes[1])
      await button('Menu').click()
    },
  },
  'the queue': { path: () => '/queue' },
  'the usage of language models': {
    path: () => '/models',
    show: () => page.getByText('Failures by cause').waitFor(),
  },
  'the inbox': { path: () => '/inbox?queue=open', show: () => page.locator('[data-row]').first().waitFor() },
  'a conversation in the inbox': {
    path: () => `/inbox/${bot.id}/${handedOver}?queue=open`,
    async show() {
      await page.getByText('for members only').waitFor()
      await button('Details').click()
    },
  },
  'the canned replies': { path: () => '/inbox/canned-replies', show: () => page.getByText('/hello').waitFor() },
  'the public integrations': { path: () => '/hub', show: () => page.getByText('webchat').first().waitFor() },
  'public plugins, of which there are none': { path: () => '/hub/plugins' },
  'the members': { path: () => '/members' },
  'the tokens': { path: () => '/tokens' },
  'the audit log': { path: () => '/audit' },
  'an address that is no page': { path: () => '/nothing' },
  'a bot’s figures': { path: () => `/bots/${bot.id}`, show: () => page.locator('canvas').nth(1).waitFor() },
  'a bot’s conversations': {
    path: () => `/bots/${bot.id}/conversations?user=&tag=`,
    show: () => page.locator('[data-row]').first().waitFor(),
  },
  'a conversation': {
    path: () => `/bots/${bot.id}/conversations`,
    async show() {
      await page.locator('[data-row]').last().click()
      await page.getByText('The bot failed').first().waitFor()
    },
  },
  'the erasure of a user': {
    path: () => `/bots/${bot.id}/conversations`,
    async show() {
      await page.locator('[data-row]').last().click()
      await button('Erase user').click()
      await page.getByRole('dialog', { name: 'Erase this person' }).waitFor()
    },
  },
  'a conversation that waits for a person': {
    path: () => `/bots/${bot.id}/conversations/${handedOver}`,
    show: () => button('Take over').waitFor(),
  },
  'a conversation in which the member answers': {
    path: () => `/bots/${bot.id}/conversations/${handedOver}`,
    async show() {
      await button('Take over').click()
      await page.getByLabel('File to send').setInputFiles({ name: 'a.md', mimeType: '', buffer: Buffer.from('a') })
      await button('Remove a.md').waitFor()
      await button('Insert a canned reply').click()
      await page.getByRole('option').first().waitFor()
    },
  },
  'a note among the messages': {
    path: () => `/bots/${bot.id}/conversations/${handedOver}`,
    async show() {
      await button('Note').click()
      await page.getByText('for members only').waitFor()
    },
  },
  'a message that the bot is writing': {
    path: () => `/bots/${bot.id}/conversations/${handedOver}`,
    async show() {
      const signal = {
        type: 'delta',
        streamId: 'story',
        createdAt: new Date().toISOString(),
        sequence: 0,
        delta: 'Once',
      }
      const input = { conversationId: handedOver, signal }
      // The lines may begin after the page is there.
      await expect
        .poll(async () => {
          const body = { type: 'chat:publishMessageStream', input }
          await platform.ask('POST', '/v1/chat/actions', body, { 'x-bot-id': bot.id })
          return page.getByText('is writing').count()
        }, patience)
        .toBe(1)
    },
  },
  'a bot’s events': { path: () => `/bots/${bot.id}/events` },
  'events that no filter leaves': { path: () => `/bots/${bot.id}/events?text=nothing-is-like-this` },
  'an event that failed': {
    path: () => `/bots/${bot.id}/events?status=failed`,
    async show() {
      await page.locator('[data-row]').first().click()
      await page.getByText('Where the time went').waitFor()
    },
  },
  'a bot’s log': { path: () => `/bots/${bot.id}/logs`, show: () => page.getByText('logged').first().waitFor() },
  'a bot’s errors': { path: () => `/bots/${bot.id}/errors`, show: () => button('Replay all 6').waitFor() },
  'a bot’s code': { path: () => `/bots/${bot.id}/code`, show: () => page.locator('.view-line').first().waitFor() },
  'a bot’s versions, and what one changed': {
    path: () => `/bots/${bot.id}/versions`,
    async show() {
      await page.getByRole('list', { name: 'Versions' }).getByRole('link').nth(1).click()
      await page.locator('.line-insert').first().waitFor()
    },
  },
  'a bot’s files': {
    path: () => `/bots/${bot.id}/files`,
    show: () => page.getByText('indexing completed').waitFor(),
  },
  'passages that were found': {
    path: () => `/bots/${bot.id}/files?text=trains`,
    show: () => page.locator('.passage').waitFor(),
  },
  'a file and its passages': {
    path: () => `/bots/${bot.id}/files/${fileId}`,
    show: () => page.locator('.passage').waitFor(),
  },
  'a bot’s tables': {
    path: () => `/bots/${bot.id}/tables`,
    show: () => page.getByText('3 rows').waitFor(),
  },
  'the rows of a table, filtered and searched': {
    path: () => `/bots/${bot.id}/tables/${tableId}?filter=%7B%22total%22%3A%7B%22%24gte%22%3A1%7D%7D&text=A-2`,
    async show() {
      await page.getByText('Filter as JSON').click()
      await page.getByLabel('Select row 2').check()
      await button('Download').waitFor()
    },
  },
  'a row of a table': {
    path: () => `/bots/${bot.id}/tables/${tableId}/1`,
    show: () => page.getByLabel('customer', { exact: true }).waitFor(),
  },
  'a bot’s flows': { path: () => `/bots/${flowBot.id}/flows`, show: () => page.getByText('3 nodes').waitFor() },
  'the path of an event in a flow': {
    path: () => `/bots/${flowBot.id}/events`,
    async show() {
      await page.locator('[data-row]').first().click()
      await page.getByRole('link', { name: 'Path in the flow main' }).click()
      await page.locator('.node.visited').first().waitFor()
      await page.locator('.waiting').first().waitFor()
      await page.locator('.picture').getByRole('link', { name: /^name/ }).click()
    },
  },
  'the editor of a flow': {
    path: () => `/bots/${flowBot.id}/flows/main?edit=`,
    show: () => page.locator('.monaco-editor .view-line').first().waitFor(),
  },
  'a bot’s web chat': {
    path: () => `/bots/${bot.id}/webchat`,
    async show() {
      await installWebchat(platform, bot.id, { proactiveMessageEnabled: true, proactiveBubbleMessage: 'May I help?' })
      await page.reload()
      await page.getByText('Texts of the widget').click()
      await page.frameLocator('iframe').getByText('Which tea?').waitFor()
    },
  },
  'a bot’s integrations': { path: () => `/bots/${bot.id}/integrations` },
  'a bot’s settings': { path: () => `/bots/${bot.id}/settings` },
  'a bot that is not there': { path: () => '/bots/bot_nothing' },
  'a chat with buttons': {
    path: () => `/bots/${bot.id}`,
    async show() {
      await button('Chat').click()
      await page.getByLabel('Message', { exact: true }).fill('hello')
      await page.getByLabel('Message', { exact: true }).press('Enter')
      await button('Yes').waitFor()
    },
  },
}

test.for(Object.keys(views))('%s: no violations', async (name) => {
  const { path, show } = views[name]!
  await open(path())
  await show?.()
  expect(await violations(page, halfOf(Object.keys(views).indexOf(name)))).toEqual([])
})

const dialogs: Record<string, { path: () => string; show: () => Promise<unknown> }> = {
  'New bot': { path: () => '', show: () => button('New bot').click() },
  'New token': { path: () => '/tokens', show: () => button('New token').click() },
  'The new token': {
    path: () => '/tokens',
    async show() {
      await button('New token').click()
      await page.getByLabel('Purpose').fill('to be looked at')
      await button('Create').click()
      await page.getByRole('button', { name: 'Copy token' }).waitFor()
    },
  },
  'Invite a member': { path: () => '/members', show: () => button('Invite a member').click() },
  'Upload a file': {
    path: () => `/bots/${bot.id}/files`,
    show: () =>
      page
        .getByLabel('Files to upload')
        .setInputFiles({ name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from('a') }),
  },
  'Assign the conversation': {
    path: () => `/bots/${bot.id}/conversations/${handedOver}`,
    async show() {
      await button('Assign').click()
      await page.getByLabel('Member who answers').waitFor()
    },
  },
  Notifications: { path: () => '/inbox', show: () => button('Notifications').click() },
  Colleagues: {
    path: () => '/inbox',
    async show() {
      await button('Colleagues').click()
      await page.locator('.colleagues').waitFor()
    },
  },
  'Keyboard shortcuts': { path: () => '/inbox', show: () => button('Keyboard shortcuts').click() },
  'New canned reply': { path: () => '/inbox/canned-replies', show: () => button('New canned reply').click() },
  'Install an integration': {
    path: () => `/bots/${bot.id}/integrations`,
    async show() {
      await button('Install an integration').click()
      await page.locator('.available button').first().waitFor()
    },
  },
  'New table': { path: () => `/bots/${bot.id}/tables`, show: () => button('New table').click() },
  'Add a column': { path: () => `/bots/${bot.id}/tables/${tableId}`, show: () => button('Add a column').click() },
  'Roll back': { path: () => `/bots/${bot.id}/versions`, show: () => button('Roll back').click() },
  'Replay all': { path: () => `/bots/${bot.id}/errors`, show: () => button('Replay all 6').click() },
  'Delete parrot': { path: () => `/bots/${bot.id}/settings`, show: () => button('Delete').click() },
}

test.for(Object.keys(dialogs))('the dialog “%s”: no violations', async (name) => {
  const { path, show } = dialogs[name]!
  await open(path())
  await show()
  await page.getByRole('dialog', { name }).waitFor()
  expect(await violations(page, halfOf(Object.keys(dialogs).indexOf(name)))).toEqual([])
})

test('the API reference with an operation of each kind open: no violations', { timeout: 180_000 }, async () => {
  await page.goto(`${platform.url}/docs`)
  // It draws all operations of an interface at once, which takes a busy machine a while.
  await page.locator('.opblock').first().waitFor({ timeout: 60_000 })
  const [, darkDesk, lightPhone] = appearances
  // The interfaces are drawn by the same components: each is looked at in some of the appearances, in which axe takes
  // seconds for the first one.
  for (const [api, names, shown] of [
    ['Chat', ['chatCreateUser'], halfOf(0)],
    ['Runtime', ['runtimeDeleteUser'], [lightPhone!]],
    ['Bots', ['adminGetBot', 'adminUpdateBot'], [darkDesk!]],
  ] as const) {
    const heading = page.locator(`.opblock-tag[data-tag="${api}"]`)
    if ((await heading.getAttribute('data-is-open')) !== 'true') await heading.click()
    for (const name of names) {
      await page.locator(`#operations-${api}-${name} .opblock-summary-control`).press('Enter')
      await page.locator(`#operations-${api}-${name} .responses-wrapper`).waitFor()
    }
    // Operations that are closed look alike but for their method: some are enough. Removed ones would upset the renderer.
    await page.evaluate(
      `[...document.querySelectorAll('.opblock:not(.is-open)')].slice(12).forEach((one) => { one.style.display = 'none' })`,
    )
    expect(await violations(page, [...shown])).toEqual([])
    // An open interface has thousands of elements, which the next look would take in again.
    await heading.click()
  }
})

test('on a phone, the levels of a log’s lines stand below one another, and each line’s words directly below it', async () => {
  await open(`/bots/${bot.id}/logs`)
  await page.setViewportSize(sizes[1])
  await page.locator('.log-lines .words').first().waitFor()
  const [levels, gaps] = await page.evaluate<[number[], number[]]>(`[
    [...document.querySelectorAll('.log-lines .level')].map((level) => level.getBoundingClientRect().left),
    [...document.querySelectorAll('.log-lines li')].map((line) =>
      line.querySelector('.words').getBoundingClientRect().top - line.querySelector('time').getBoundingClientRect().bottom),
  ]`)
  expect(new Set(levels).size).toBe(1)
  expect(Math.max(...gaps)).toBeLessThan(4)
})

test('charts have their colours also where motion is reduced', async () => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await open(`/bots/${bot.id}`)
  const colours = () =>
    page.evaluate<string[]>(`(() => {
      const canvas = document.querySelector('canvas')
      if (!canvas) return []
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const seen = new Set()
      for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(data.slice(at, at + 3).join())
      return [...seen]
    })()`)
  // The bars of what was handled, and of what failed: --chart-accent and --chart-bad.
  await expect.poll(colours, patience).toEqual(expect.arrayContaining(['21,148,132', '216,71,76']))
})

import { readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import { SignJWT } from 'jose'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outputDirectory } from '../../api/console/output.ts'
import { launchChromium } from '../browser/chromium.ts'
import { serveSite, type Site } from '../browser/serve-site.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { openLink } from '../chaos/network.ts'
import { followInbox } from '../support/follow-inbox.ts'
import { createMember } from '../support/members.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { startProcess } from '../support/processes.ts'
import { installWebchat } from '../support/webchat.ts'
import { buildConsole } from './built.ts'
import { installing } from './open-console.ts'

const code = `export const hooks = {
  async afterIncomingEvent({ event, client }) {
    const { conversationId } = event
    if (event.type === 'webchat:trigger') {
      return client.createMessage({ conversationId, type: 'text', payload: { text: 'Page: ' + event.payload.payload.page } })
    }
    if (event.type !== 'webchat:conversationStarted') return
    const options = [{ label: 'Green tea', value: 'green' }, { label: 'Black tea', value: 'black' }]
    await client.createMessage({ conversationId, type: 'choice', payload: { text: 'Welcome! Which tea?', options } })
  },
  async afterIncomingMessage({ event, client }) {
    const { conversationId, payload } = event
    const say = (type, payload) => client.createMessage({ conversationId, type, payload })
    if (payload.type === 'file') {
      const content = await (await fetch(payload.fileUrl)).text()
      await say('text', { text: 'It has ' + content.length + ' bytes' })
    } else if (payload.value) await say('text', { text: 'You chose ' + payload.value })
    else if (payload.text.startsWith('[')) {
      for (const [type, fields] of JSON.parse(payload.text)) await say(type, fields)
      await say('text', { text: 'That was everything' })
    } else if (payload.text === 'write slowly') {
      const stream = client.streamMessage(conversationId)
      for (const word of ['one ', 'two ', '**three**']) await stream.write(word)
      await stream.end()
    } else await say('text', { text: 'You said ' + payload.text })
  },
}`

const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const card = {
  title: 'Sencha',
  subtitle: 'from Uji',
  imageUrl: picture,
  actions: [
    { action: 'postback', label: 'Order', value: 'order' },
    { action: 'url', label: 'Read more', value: 'https://example.com/sencha' },
  ],
}
const everything = [
  [
    'text',
    {
      text: 'A **bold** word, a [link](https://example.com/tea), `code`\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    },
  ],
  ['markdown', { markdown: '> quoted' }],
  ['image', { imageUrl: picture, title: 'A leaf' }],
  ['audio', { audioUrl: 'data:audio/wav;base64,' }],
  ['video', { videoUrl: 'data:video/mp4;base64,' }],
  ['file', { fileUrl: 'https://example.com/menu.pdf', title: 'The menu' }],
  ['location', { latitude: 48.2, longitude: 16.37, title: 'The shop', address: 'Teegasse 1' }],
  ['card', card],
  ['carousel', { items: [card, { ...card, title: 'Gyokuro' }] }],
  [
    'bloc',
    {
      items: [
        { type: 'text', payload: { text: 'part of a bloc' } },
        { type: 'image', payload: { imageUrl: picture } },
      ],
    },
  ],
  [
    'dropdown',
    {
      text: 'How many?',
      options: [
        { label: 'One', value: '1' },
        { label: 'Two', value: '2' },
      ],
    },
  ],
  [
    'choice',
    {
      text: 'And how?',
      options: [
        { label: 'Hot', value: 'hot' },
        { label: 'Cold', value: 'cold' },
      ],
    },
  ],
] as const

const patience = { timeout: 10_000 }
const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
let site: Site
let url: string
let axe: string
beforeAll(async () => {
  await buildConsole()
  browser = parts.adopt(await launchChromium(), (open) => open.close())
  platform = parts.use(await openPlatform())
  site = parts.use(await serveSite(platform.url))
  const { id } = await platform.createBot(code)
  url = await installWebchat(platform, id, {
    allowedOrigins: [site.origin, site.foreignOrigin],
    botName: 'Ada',
    botDescription: 'Your tea expert',
    feedbackEnabled: true,
    color: '#1f6f54',
    greeting: 'Hello, I am **Ada**.',
    allowFileUpload: true,
    fileTypes: ['text/plain'],
  })
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
}, installing)
afterAll(() => parts.disposeAsync())

interface Visit {
  page: Page
  /** The chat in its frame. */
  chat: FrameLocator
  /** Errors of the browser, breaches of the site's and the frame's policies among them. */
  complaints: string[]
}

async function visit(
  { at = url, origin = site.origin, ...query }: Record<string, string> = {},
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Visit> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  const complaints: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' || /policy/i.test(line.text())) complaints.push(line.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  await page.goto(`${origin}/?${new URLSearchParams({ script: `${at}/inject.js`, ...query }).toString()}`)
  return { page, chat: page.frameLocator('[data-isobot] iframe'), complaints }
}

const bubble = (page: Page) => page.getByRole('button', { name: /^Open the chat/ })
const countVisitors = async () =>
  Number((await platform.context.db('users').whereNotNull('installation_id').count())[0]!['count'])

async function say(chat: FrameLocator, text: string): Promise<void> {
  await chat.getByRole('textbox').fill(text)
  await chat.getByRole('textbox').press('Enter')
}

/** The texts of the conversation, without the labels of their authors. */
async function transcript(chat: FrameLocator): Promise<string[]> {
  const texts = await chat.locator('.message > p').allTextContents()
  return texts.filter((text) => /^(You said|message) /.test(text))
}

/** The name of what has the focus, in the frame or in the shadow root of the page. */
const focused = (within: Page | ReturnType<Page['frames']>[number]) =>
  within.evaluate<string>(`{
    const element = document.activeElement.shadowRoot?.activeElement ?? document.activeElement
    element.getAttribute('aria-label') ?? element.textContent
  }`)

async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  const frame = page.frames()[1]!
  for (let presses = 0; presses < 30; presses++) {
    if ((await focused(frame)) === name) return
    await page.keyboard.press(key)
  }
  throw new Error(`no focus on ${name}`)
}

test('a visitor of a site with a strict policy holds a conversation by keyboard alone', async () => {
  const visitors = await countVisitors()
  const { page, chat, complaints } = await visit()
  await bubble(page).waitFor()
  expect(page.frames()).toHaveLength(1)
  expect(await countVisitors()).toBe(visitors)

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await chat.getByText('Welcome! Which tea?').waitFor()
  await chat.getByText('Hello, I am Ada.').waitFor()
  expect(await countVisitors()).toBe(visitors + 1)
  const frame = page.frames()[1]!
  await expect.poll(() => focused(frame), patience).toBe('Write a message …')
  await tabTo(page, 'Green tea', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await chat.getByText('You chose green').waitFor()
  // The option is gone, and the focus is near.
  await expect.poll(() => focused(frame), patience).toBe('Messages')
  await tabTo(page, 'Write a message …')
  await page.keyboard.type('write slowly')
  await page.keyboard.press('Enter')
  await chat.locator('strong', { hasText: 'three' }).waitFor()
  await expect.poll(() => chat.locator('[aria-busy=true]').count(), patience).toBe(0)
  expect(await chat.getByText('one two three').count()).toBe(1)

  // The last thumb of the conversation is that of the newest message.
  const rated = page.waitForResponse((response) => response.url().endsWith('/feedback'))
  await tabTo(page, 'Not helpful', 'Shift+Tab')
  await page.keyboard.press('Enter')
  expect((await rated).status()).toBe(200)
  await frame.evaluate('document.activeElement.blur()')
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page), patience).toBe('Open the chat')
  const stored = await frame.evaluate<Record<string, string>>('({ ...localStorage })')
  const conversationId = Object.entries(stored).find(([name]) => name.endsWith('-conversation'))?.[1] ?? ''
  const conversation = await platform.context.db('conversations').where({ id: conversationId }).first()
  const botId = conversation!.bot_id
  const answer = { conversationId, type: 'text', payload: { text: 'Still there?' }, userId: botId, tags: {} }
  await platform.ask('POST', '/v1/chat/messages', answer, { 'x-bot-id': botId })
  await page.getByRole('button', { name: 'Open the chat. Unread messages: 1' }).press('Enter')
  await chat.getByText('Still there?').waitFor()

  // A visitor who comes back sees the conversation, and what has come since.
  await page.reload()
  await bubble(page).click()
  await chat.getByText('Still there?').waitFor()
  expect(await chat.getByText('Welcome! Which tea?').count()).toBe(1)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: 'New conversation' }).click()
  await chat.getByRole('button', { name: 'Black tea' }).waitFor()
  expect(await chat.getByText('Still there?').count()).toBe(0)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: /^Still there\?/ }).click()
  await chat.locator('.message', { hasText: 'Still there?' }).waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

/** The violations of WCAG 2.2 AA in the site with the open chat. */
async function violations(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const frame of page.frames()) {
    await frame.evaluate(axe)
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    const options = JSON.stringify({ runOnly: tags, iframes: false, resultTypes: ['violations'] })
    const violations = await frame.evaluate<AxeResults['violations']>(
      `axe.run(${options}).then(({ violations }) => violations)`,
    )
    found.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))
  }
  return found
}

test('messages of every type are shown, without a violation of WCAG in light, dark, from right to left, and at 320 px', async () => {
  const { page, chat, complaints } = await visit({}, { reducedMotion: 'reduce' })
  expect(await violations(page)).toEqual([])
  await bubble(page).click()
  await chat.getByText('Welcome!').waitFor()
  await say(chat, JSON.stringify(everything))
  await chat.getByText('That was everything').waitFor()
  const shown = {
    'a[href="https://example.com/tea"][rel~=noopener]': 1,
    'ol > li': 2,
    td: 2,
    blockquote: 1,
    'img[alt="A leaf"]': 1,
    'audio[aria-label=Audio]': 1,
    'video[aria-label=Video]': 1,
    'a[href="https://example.com/menu.pdf"]': 1,
    'a[href^="https://www.openstreetmap.org/"]': 1,
    'article.card': 3,
    'article.card a[href="https://example.com/sencha"]': 3,
    'select option': 3,
  }
  for (const [selector, count] of Object.entries(shown)) {
    expect({ [selector]: await chat.locator(selector).count() }).toEqual({ [selector]: count })
  }
  await chat.getByText('part of a bloc', { exact: true }).waitFor()
  await page.setViewportSize({ width: 320, height: 640 })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await violations(page)).toEqual([])
  }
  // All of it fits the width of a phone, and only the messages scroll.
  const root = page.frames()[1]!
  expect(await root.evaluate('document.documentElement.scrollWidth')).toBe(320)
  expect(await root.evaluate('document.documentElement.scrollHeight')).toBe(640)
  await page.evaluate(`botpress.config({ configuration: { locale: 'ar', texts: { close: 'أغلق' } } })`)
  await chat.locator('html[dir=rtl]').waitFor()
  expect(await violations(page)).toEqual([])
  await page.evaluate(`botpress.config({ configuration: { locale: 'de', texts: undefined } })`)
  await chat.getByRole('combobox', { name: 'How many?' }).selectOption({ label: 'Two' })
  await chat.getByRole('button', { name: 'Senden' }).first().click()
  await chat.getByText('You chose 2').waitFor()
  await chat.getByRole('button', { name: 'Unterhaltungen' }).click()
  await chat.getByRole('button', { name: 'Neue Unterhaltung' }).waitFor()
  expect(await violations(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a message of the visitor is announced once', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome!').waitFor()
  const frame = page.frames()[1]!
  await frame.evaluate(`{
    globalThis.added = []
    const note = (changes) => {
      for (const { addedNodes } of changes) added.push(...[...addedNodes].map(({ textContent }) => textContent))
    }
    new MutationObserver(note).observe(document.querySelector('[role=log]'), { childList: true, subtree: true })
  }`)
  await say(chat, 'good morning')
  await chat.getByText('You said good morning').waitFor()
  await expect.poll(() => chat.locator('.waiting').count(), patience).toBe(0)
  const added = await frame.evaluate<string[]>('added')
  expect(added.filter((text) => text.startsWith('Yougood morning'))).toHaveLength(1)
  await page.context().close()
})

test('messages of the past are not announced, and one that has been read in another tab is not unread', async () => {
  const { page, chat } = await visit()
  const live = () => chat.getByRole('log').getAttribute('aria-live')
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  expect(await live()).toBe('polite')
  await page.evaluate('botpress.close()')
  const other = await page.context().newPage()
  await other.goto(page.url())
  await bubble(other).click()
  const log = other.frameLocator('[data-isobot] iframe').getByRole('log')
  await log.and(other.frameLocator('[data-isobot] iframe').locator('[aria-live=off]')).waitFor()
  await expect.poll(() => log.getAttribute('aria-live'), patience).toBe('polite')
  await other.evaluate('botpress.close()')
  await other.evaluate(`botpress.sendMessage('write slowly')`)
  for (const each of [page, other])
    await each.getByRole('button', { name: 'Open the chat. Unread messages: 1' }).waitFor()
  await bubble(other).click()
  await page.getByRole('button', { name: 'Open the chat', exact: true }).waitFor()
  await page.context().close()
})

test('a page that isolates itself, and hides empty elements, has the chat', async () => {
  const { page, chat } = await visit({ isolated: '1' })
  await page.evaluate(`{
    const sheet = new CSSStyleSheet()
    sheet.replaceSync('div:empty { display: none }')
    document.adoptedStyleSheets = [sheet]
  }`)
  await bubble(page).click()
  await expect.poll(() => chat.getByText('Welcome!').isVisible(), patience).toBe(true)
  await page.context().close()
})

test('where a device forces its colours, the bubble and messages have borders', async () => {
  const { page, chat } = await visit({}, { forcedColors: 'active' })
  const bubbleBorder = `getComputedStyle(document.querySelector('[data-isobot]').shadowRoot.querySelector('.bubble')).borderTopStyle`
  await bubble(page).waitFor()
  expect(await page.evaluate<string>(bubbleBorder)).toBe('solid')
  await bubble(page).click()
  await chat.getByText('Welcome!').waitFor()
  const messageBorder = `getComputedStyle(document.querySelector('.message')).borderTopStyle`
  expect(await page.frames()[1]!.evaluate<string>(messageBorder)).toBe('solid')
  await page.context().close()
})

test('the direction of a message follows from its text, and not from the name of its author', async () => {
  const { id } = await platform.createBot(code)
  const { page, chat } = await visit({ at: await installWebchat(platform, id, { botName: 'متجر الشاي' }) })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await say(chat, 'שלום?')
  await chat.getByText('You said שלום?').waitFor()
  const directions = await page
    .frames()[1]!
    .evaluate<string[][]>(
      `[...document.querySelectorAll('.message > p')].map((one) => [one.textContent, getComputedStyle(one).direction])`,
    )
  expect(directions).toEqual([
    ['Welcome! Which tea?', 'ltr'],
    ['שלום?', 'rtl'],
    ['You said שלום?', 'ltr'],
  ])
  await page.context().close()
})

test('scripts in texts, markdown, titles, addresses and appearance are neither run nor links', async () => {
  const attack = '<img src=x onerror="top.postMessage(1)"><script>alert(1)</script>'
  const links = [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:x',
  ]
  const actions = links.map((value) => ({ action: 'url', label: attack, value }))
  const messages = [
    ['text', { text: `${attack} ${links.map((link) => `[a](<${link}>) ![b](<${link}>) <${link}>`).join(' ')}` }],
    ['text', { text: '[x]: javascript:alert(1)\n\n[x] <a href="javascript:alert(1)">y</a> &lt;script&gt;' }],
    ['markdown', { markdown: `| ${attack} |\n|---|\n| [a](javascript&colon;alert(1)) |` }],
    ['image', { imageUrl: links[0], title: attack }],
    ['image', { imageUrl: 'data:image/svg+xml,<svg onload="alert(1)"/>' }],
    ['audio', { audioUrl: links[2], title: attack }],
    ['video', { videoUrl: links[0] }],
    ['file', { fileUrl: links[1], title: attack }],
    ['location', { latitude: 1, longitude: 2, title: attack, address: attack }],
    ['card', { title: attack, subtitle: attack, imageUrl: links[2], actions }],
    ['choice', { text: attack, options: [{ label: attack, value: attack }] }],
    ['dropdown', { text: attack, options: [{ label: attack, value: attack }] }],
    ['text', { text: '>'.repeat(5000) }],
    ['text', { text: '['.repeat(19_000) }],
    ['text', { text: '*a '.repeat(6000) }],
    ['text', { text: 'the last one' }],
  ]
  const attacking = `export const hooks = {
    async afterIncomingMessage({ event: { conversationId }, client }) {
      const person = ${JSON.stringify({ name: attack, pictureUrl: links[0] })}
      const input = { ...person, user: { id: 'eve', conversationId } }
      const { output: { userId } } = await client.callAction({ type: 'webchat:getOrCreateUser', input })
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'from Eve', userId } })
      for (const [type, payload] of ${JSON.stringify(messages)}) await client.createMessage({ conversationId, type, payload })
    }
  }`
  const { id } = await platform.createBot(attacking)
  const hostile = await installWebchat(platform, id, { botName: attack, greeting: attack, texts: { log: attack } })
  const { page, chat, complaints } = await visit({ at: hostile })
  await page.evaluate(`window.addEventListener('message', () => { window.isAttacked = true })`)
  await bubble(page).click()
  await say(chat, attack)
  await chat.getByText('the last one').waitFor()
  expect(await chat.locator('.person').allTextContents()).toEqual([attack])
  expect(await chat.locator('.turn').textContent()).toBe(`${attack} joined`)
  const addresses = await chat.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')!))
  expect(addresses.filter((address) => !address.startsWith('https://www.openstreetmap.org/'))).toEqual([])
  expect(await chat.locator('script, [onerror], [onload], iframe').count()).toBe(1)
  expect(await chat.locator('img').count()).toBe(0)
  expect(await page.evaluate('window.isAttacked')).toBeUndefined()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('each message is shown once and in order after an interruption, a restart of the api, and from two tabs', async () => {
  await using processes = new AsyncDisposableStack()
  const port = String(await freePort())
  const start = async () => {
    const started = await startProcess(platform, 'api', { PORT: port })
    const isReady = () =>
      fetch(`http://localhost:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await expect.poll(isReady, { timeout: 40_000 }).toBe(true)
    return started
  }
  let api = await start()
  processes.defer(async () => void (await api.stop()))
  await using network = await openLink(() => Number(port))
  const front = `http://localhost:${network.port}`
  await using own = await serveSite(front)
  const { id } = await platform.createBot(code)
  const free = await installWebchat(platform, id)
  const at = free.replace(platform.url, front)
  const { page, chat } = await visit({ at, origin: own.origin })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const tab = await page.context().newPage()
  await tab.goto(page.url())
  await bubble(tab).click()
  const second = tab.frameLocator('[data-isobot] iframe')
  await second.getByText('Welcome! Which tea?').waitFor()
  await say(chat, 'message 1')
  await chat.getByText('You said message 1').waitFor()

  network.cut()
  await chat.getByText('The connection is lost').waitFor()
  for (const text of ['message 2', 'message 3']) await say(chat, text)
  network.mend()
  await chat.getByText('You said message 3').waitFor({ timeout: 20_000 })
  await api.stop()
  for (const text of ['message 4', 'message 5']) await say(chat, text)
  api = await start()
  // Unsent messages survive the document.
  await page.reload()
  await bubble(page).click()
  await chat.getByText('You said message 5').waitFor({ timeout: 30_000 })
  await say(second, 'message 6')
  await chat.getByText('You said message 6').waitFor({ timeout: 30_000 })
  const all = [1, 2, 3, 4, 5, 6].map((number) => `message ${number}`)
  const expected = all.flatMap((text) => [text, `You said ${text}`]).toSorted()
  for (const one of [chat, second]) {
    await expect.poll(async () => (await transcript(one)).toSorted(), { timeout: 30_000 }).toEqual(expected)
    const shown = await transcript(one)
    expect(shown.filter((text) => text.startsWith('message'))).toEqual(all)
    expect(shown.filter((text) => text.startsWith('You said'))).toEqual(all.map((text) => `You said ${text}`))
  }
  await page.context().close()
})

test('a lost connection is tried again within seconds of a visible page, at once when the visitor or the network returns, and not in a hidden tab', async () => {
  await using network = await openLink(() => Number(new URL(platform.url).port))
  const front = `http://localhost:${network.port}`
  await using own = await serveSite(front)
  const { id } = await platform.createBot(code)
  const at = (await installWebchat(platform, id)).replace(platform.url, front)
  const { page, chat } = await visit({ at, origin: own.origin })
  await page.clock.install()
  await page.reload()
  let seconds = 0
  const attempts: number[] = []
  page.on('request', (request) => {
    if (request.url().includes('/initialize')) attempts.push(seconds)
  })
  const pass = async (count: number) => {
    for (const end = seconds + count; seconds < end; seconds++) await page.clock.fastForward(1000)
  }
  const show = async (state: 'visible' | 'hidden') => {
    for (const frame of page.frames()) {
      await frame.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`,
      )
    }
  }
  const remind = async (text: string) => {
    const { id: conversationId } = (await platform.context.db('conversations').where({ bot_id: id }).first('id'))!
    const message = { conversationId, type: 'text', payload: { text }, userId: id, tags: {} }
    await platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': id })
  }
  const returnOnline = () => page.frames()[1]!.evaluate(`void dispatchEvent(new Event('online'))`)
  const lost = chat.getByText('The connection is lost')
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()

  network.cut()
  await lost.waitFor()
  await say(chat, 'from the dark')
  await remind('meanwhile')
  await pass(90)
  expect(attempts.length).toBeGreaterThan(9)
  const gaps = attempts.slice(1).map((attempt, index) => attempt - attempts[index]!)
  expect(Math.max(...gaps)).toBeLessThan(14)

  await show('hidden')
  await pass(64)
  network.mend()
  const before = attempts.length
  await returnOnline()
  await pass(40)
  expect(attempts.length).toBe(before)
  await show('visible')
  await lost.waitFor({ state: 'hidden' })
  expect(attempts.length).toBe(before + 1)
  await chat.getByText('You said from the dark').waitFor()
  const words = await chat.locator('.message > p').allTextContents()
  expect(words.filter((text) => /dark|meanwhile/.test(text)).toSorted()).toEqual([
    'You said from the dark',
    'from the dark',
    'meanwhile',
  ])

  // An attempt on a connection that is gone ends with no error.
  let isGone = true
  await page.route('**/initialize*', async (route) => {
    if (!isGone) await route.continue()
  })
  network.cut()
  await lost.waitFor()
  network.mend()
  await expect.poll(() => attempts.length).toBe(before + 2)
  isGone = false
  await returnOnline()
  await lost.waitFor({ state: 'hidden' })

  network.cut()
  await lost.waitFor()
  await show('hidden')
  await expect
    .poll(
      async () => {
        await pass(1)
        return seconds - attempts.at(-1)!
      },
      { interval: 20 },
    )
    .toBeGreaterThan(4)
  network.mend()
  await page.clock.pauseAt(await page.frames()[1]!.evaluate<number>('Date.now() + 100'))
  await show('visible')
  await lost.waitFor({ state: 'hidden' })
  await page.context().close()
})

test('a visitor sees that the network is gone, and how much of a long text is taken', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await page.context().setOffline(true)
  await chat.getByText('The connection is lost').waitFor()
  await page.context().setOffline(false)
  await chat.getByText('The connection is lost').waitFor({ state: 'hidden' })
  await chat.getByRole('textbox').focus()
  await page.keyboard.insertText('x'.repeat(10_500))
  await chat.getByText('10000 / 10000').waitFor()
  expect(await violations(page)).toEqual([])
  await chat.getByRole('textbox').fill('short')
  await expect.poll(() => chat.getByText('10000 / 10000').count(), patience).toBe(0)
  await say(chat, 'here again')
  await chat.getByText('You said here again').waitFor()
  await page.context().close()
})

test('a message whose answer is lost is sent again after 10 s, at once when the network returns, and stored once', async () => {
  const { page, chat } = await visit()
  await page.clock.install()
  await page.reload()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const frame = page.frames()[1]!
  const lose = (count: number) =>
    page.route(
      '**/messages',
      async (route) => {
        // The platform gets it, and its answer never arrives.
        await route.fetch()
      },
      { times: count },
    )
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/messages')) sent++
  })
  const replies = () => chat.getByText(/^You said /).allTextContents()
  await lose(1)
  await say(chat, 'one')
  await chat.getByText('You said one').waitFor()
  expect(sent).toBe(1)
  await say(chat, 'two')
  // It waits behind the first, so that their order stays.
  await chat.getByText('two', { exact: true }).waitFor()
  expect(sent).toBe(1)
  await page.clock.fastForward(11_000)
  await expect
    .poll(async () => {
      await page.clock.fastForward(1000)
      return replies()
    }, patience)
    .toEqual(['You said one', 'You said two'])

  await lose(1)
  await say(chat, 'three')
  await chat.getByText('You said three').waitFor()
  await say(chat, 'four')
  await page.clock.fastForward(3000)
  await frame.evaluate(`void dispatchEvent(new Event('online'))`)
  await expect.poll(replies, patience).toEqual(['one', 'two', 'three', 'four'].map((text) => `You said ${text}`))
  // The stream has confirmed those whose answers were lost.
  expect(sent).toBe(4)
  await page.reload()
  await bubble(page).click()
  await chat.getByText('You said four').waitFor()
  expect(await chat.locator('.own').count()).toBe(4)
  await page.context().close()
})

test('a message that the platform refuses stays with the reason, and is sent again or discarded', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await page.evaluate(`botpress.sendMessage('x'.repeat(1_100_000))`)
  const failed = chat.locator('.failed')
  await failed.getByText('Not sent: ').waitFor()
  await page.route(
    '**/messages',
    (route) => route.fulfill({ status: 403, json: { code: 403, type: 'Forbidden', message: 'not today' } }),
    { times: 1 },
  )
  await say(chat, 'hello')
  await chat.getByText('Not sent: not today').waitFor()
  expect(await failed.count()).toBe(2)
  expect(await violations(page)).toEqual([])
  await failed.first().getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => failed.count(), patience).toBe(1)
  await chat.getByRole('button', { name: 'Try again' }).click()
  await chat.getByText('You said hello').waitFor()
  expect(await failed.count()).toBe(0)
  await page.context().close()
})

test('on a phone the chat fills the screen, and says where it is not available', async () => {
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, { encryptionKey: 'the site’s own secret' })
  const { page, chat } = await visit({ at }, { viewport: { width: 390, height: 760 } })
  await bubble(page).click()
  await chat.getByText('The chat is not available on this page.').waitFor()
  // The panel moves as it appears.
  const screen = { x: 0, y: 0, width: 390, height: 760 }
  await expect.poll(() => page.locator('[data-isobot] iframe').boundingBox(), patience).toEqual(screen)
  expect(await violations(page)).toEqual([])
  await chat.getByRole('button', { name: 'Close the chat' }).click()
  await page.getByRole('button', { name: 'Open the chat' }).waitFor()
  await page.context().close()
})

test('a chat that is opened while the platform is unavailable appears afterwards, with the messages of the page', async () => {
  const { page, chat } = await visit()
  await page.route('**/frame', (route) => route.abort(), { times: 1 })
  await page.evaluate(`void botpress.sendMessage('Is anybody there?')`)
  await bubble(page).click()
  await page.getByText('The chat is not available on this page.').waitFor()
  await chat.getByText('You said Is anybody there?').waitFor({ timeout: 30_000 })
  expect(await page.getByText('The chat is not available on this page.').count()).toBe(0)
  expect(await chat.getByText('Is anybody there?', { exact: true }).count()).toBe(1)
  await page.context().close()
})

test('a frame that never loads, as Firefox and Safari report no failure of one, is replaced too', async () => {
  const { page, chat } = await visit()
  await page.clock.install()
  await page.reload()
  await page.route('**/frame', () => {}, { times: 1 })
  await bubble(page).click()
  await page.locator('[data-isobot] iframe').waitFor()
  await page.clock.fastForward(15_000)
  await page.getByText('The chat is not available on this page.').waitFor()
  await page.clock.fastForward(5000)
  await chat.getByText('Welcome! Which tea?').waitFor()
  expect(await page.getByText('The chat is not available on this page.').count()).toBe(0)
  await page.context().close()
})

test('an invitation for visitors who do nothing waits for that, and does not come back in a tab that dismissed it', async () => {
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, {
    proactiveMessageEnabled: true,
    proactiveBubbleMessage: 'May I help?',
    proactiveBubbleTriggerType: 'userIdle',
    proactiveBubbleDelayTime: 30,
  })
  const { page } = await visit({ at })
  await page.clock.install()
  const invitation = page.getByRole('button', { name: 'May I help?' })
  const view = async () => {
    await page.reload()
    await bubble(page).waitFor()
  }
  await view()
  for (let gesture = 0; gesture < 3; gesture++) {
    await page.clock.fastForward(20_000)
    await page.mouse.move(gesture * 50, 100)
  }
  expect(await invitation.count()).toBe(0)
  await page.clock.fastForward(31_000)
  await invitation.waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await view()
  await page.clock.fastForward(31_000)
  expect(await invitation.count()).toBe(0)
  await page.context().close()
})

test('a conversation with more messages than the first frame is whole after an interruption, and to its begin on request', async () => {
  await using network = await openLink(() => Number(new URL(platform.url).port))
  const front = `http://localhost:${network.port}`
  await using own = await serveSite(front)
  const { id } = await platform.createBot(code)
  const direct = await installWebchat(platform, id, { greeting: 'Hello, I am **Ada**.' })
  const { page, chat } = await visit({ at: direct.replace(platform.url, front), origin: own.origin })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const stored = await page.frames()[1]!.evaluate<Record<string, string>>('({ ...localStorage })')
  const conversationId = Object.entries(stored).find(([name]) => name.endsWith('-conversation'))?.[1] ?? ''
  const remind = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) {
      const message = { conversationId, type: 'text', payload: { text: `message ${number}` }, userId: id, tags: {} }
      await platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': id })
    }
  }
  await remind(1, 1)
  await chat.getByText('message 1', { exact: true }).waitFor()

  network.cut()
  await chat.getByText('The connection is lost').waitFor()
  await remind(2, 230)
  network.mend()
  const all = Array.from({ length: 230 }, (_, index) => `message ${index + 1}`)
  await expect.poll(() => transcript(chat), { timeout: 20_000 }).toEqual(all)
  expect(await chat.getByRole('button', { name: 'Earlier messages' }).count()).toBe(0)

  await page.reload()
  await bubble(page).click()
  const earlier = chat.getByRole('button', { name: 'Earlier messages' })
  await earlier.waitFor()
  expect(await transcript(chat)).toEqual(all.slice(-100))
  expect(await chat.getByText('Hello, I am Ada.').count()).toBe(0)
  await earlier.click()
  await expect.poll(() => transcript(chat), patience).toEqual(all.slice(-200))
  await earlier.press('Enter')
  await expect.poll(() => transcript(chat), patience).toEqual(all)
  await chat.getByText('Hello, I am Ada.').waitFor()
  expect(await earlier.count()).toBe(0)
  await page.context().close()
})

/** Deletes the newest message with a text, as its bot. */
async function remove(text: string): Promise<void> {
  const message = await platform.context
    .db('messages')
    .whereRaw(`payload ->> 'text' = ?`, [text])
    .orderBy('created_at', 'desc')
    .first('id', 'bot_id')
  const headers = { 'x-bot-id': message!.bot_id }
  const { status } = await platform.ask('DELETE', `/v1/chat/messages/${message!.id}`, undefined, headers)
  expect(status).toBe(200)
}

test('a message that is deleted disappears, also when that happened while the connection was lost', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  for (const text of ['one', 'two', 'three']) {
    await say(chat, text)
    await chat.getByText(`You said ${text}`).waitFor()
  }
  await remove('You said one')
  await chat.getByText('You said one').waitFor({ state: 'detached' })
  await page.context().setOffline(true)
  await remove('You said two')
  await page.context().setOffline(false)
  await chat.getByText('You said two').waitFor({ state: 'detached' })
  expect(await transcript(chat)).toEqual(['You said three'])
  await page.context().close()
})

test('a visitor sees who answers, and when the bot is back: live, after an interruption, and after a reload', async () => {
  await using network = await openLink(() => Number(new URL(platform.url).port))
  const front = `http://localhost:${network.port}`
  await using own = await serveSite(front)
  const { id } = await platform.createBot(code)
  const at = (await installWebchat(platform, id, { botName: 'Ada', feedbackEnabled: true })).replace(
    platform.url,
    front,
  )
  const { page, chat, complaints } = await visit({ at, origin: own.origin })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const { id: conversationId } = (await platform.context.db('conversations').where({ bot_id: id }).first('id'))!
  const anna = await createMember(platform, 'agent', platform.workspaceId)
  const account = (await platform.ask('GET', '/v1/admin/account/me', undefined, anna)).body.account.id
  await platform.context.db('accounts').where({ id: account }).update({ name: 'Anna <b>', picture_url: picture })
  const handOver = () =>
    platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': id })
  const asAnna = (path: string, body = {}) => platform.ask('POST', `/v1/admin/bots/${id}/${path}`, body, anna)
  const take = async (): Promise<string> => (await asAnna(`conversations/${conversationId}/handover`)).body.handover.id
  const reply = (text: string) =>
    asAnna(`conversations/${conversationId}/messages`, { type: 'text', payload: { text } })
  /** The entries of the log, in order: lines of who answers, and messages with their authors. */
  const seen = () =>
    chat.locator('.log > .turn, .log > .message').evaluateAll((all) => all.map((one) => one.textContent!.trim()))
  const lines = () => chat.locator('.turn').allTextContents()

  const inbox = await followInbox(platform, anna)
  const typed = () =>
    inbox
      .lines()
      .flatMap(({ type, conversationId: of, isTyping }) =>
        type === 'typing' && of === conversationId ? [isTyping] : [],
      )
  const told: string[] = []
  page.on('request', (request) => request.url().endsWith('/typing') && told.push(request.url()))
  await chat.getByRole('textbox').fill('A bot is not told')
  await handOver()
  const first = await take()
  await chat.getByText('Anna <b> joined').waitFor()
  expect(told).toEqual([])
  await chat.getByRole('textbox').fill('I wri')
  await expect.poll(typed, patience).toEqual([true])
  await chat.getByRole('textbox').fill('I write')
  await chat.getByRole('textbox').fill('')
  await expect.poll(typed, patience).toEqual([true, false])
  await inbox.close()
  await page.evaluate(`{ window.typing = []; botpress.on('isTyping', ({ isTyping }) => typing.push(isTyping)) }`)
  await asAnna(`conversations/${conversationId}/typing`)
  await chat.getByText('Anna <b> is writing').waitFor()
  expect(await violations(page)).toEqual([])
  for (const text of ['I am a person', 'and I stay']) await reply(text)
  await chat.getByText('and I stay').waitFor()
  expect(await chat.locator('.typing').count()).toBe(0)
  await expect.poll(() => page.evaluate('typing'), patience).toEqual([true, false])
  expect(await chat.locator('.person').allTextContents()).toEqual(['Anna <b>'])
  expect(await chat.locator('.person img').getAttribute('src')).toBe(picture)
  await asAnna(`handovers/${first}/resolve`)
  await chat.getByText('The assistant is back').waitFor()
  await say(chat, 'hello')
  await chat.getByText('You said hello').waitFor()
  expect(await violations(page)).toEqual([])

  network.cut()
  await chat.getByText('The connection is lost').waitFor()
  expect(await violations(page)).toEqual([])
  await handOver()
  const second = await take()
  await reply('again')
  network.mend()
  await chat.getByText('again', { exact: true }).waitFor()
  await expect.poll(lines, patience).toEqual(['Anna <b> joined', 'The assistant is back', 'Anna <b> joined'])
  const whole = await seen()
  expect(whole.slice(1)).toEqual([
    'Anna <b> joined',
    'Anna <b>I am a person',
    'Anna <b>and I stay',
    'The assistant is back',
    'Youhello',
    'AdaYou said hello',
    'Anna <b> joined',
    'Anna <b>again',
  ])
  await page.reload()
  await bubble(page).click()
  await expect.poll(seen, patience).toEqual(whole)
  await asAnna(`handovers/${second}/resolve`)
  await page.evaluate(`botpress.config({ configuration: { locale: 'de' } })`)
  await expect
    .poll(async () => (await lines()).slice(2), patience)
    .toEqual(['Anna <b> ist jetzt im Chat', 'Der Assistent ist wieder da'])
  expect(complaints.filter((line) => !line.includes('ERR_'))).toEqual([])
  await page.context().close()
})

test('a choice that takes no other answer locks the field and leaves it the focus, unless a person answers', async () => {
  const { id } = await platform.createBot(`export const hooks = {
    async afterIncomingEvent({ event, client }) {
      const { type, conversationId } = event
      const payload = { text: 'Hot or cold?', options: [{ label: 'Hot', value: 'hot' }], disableFreeText: true }
      if (type === 'webchat:trigger') await client.createMessage({ conversationId, type: 'choice', payload })
    },
  }`)
  const { page, chat } = await visit({ at: await installWebchat(platform, id) })
  await bubble(page).click()
  await chat.getByRole('textbox').fill('I have')
  await page.evaluate('botpress.sendEvent({ page: "orders" })')
  await chat.getByRole('button', { name: 'Hot' }).waitFor()
  await expect.poll(() => chat.getByRole('textbox').isEditable(), patience).toBe(false)
  await chat.getByRole('textbox').press('Enter')
  expect(await focused(page.frames()[1]!)).toBe('Write a message …')
  const { id: conversationId } = (await platform.context.db('conversations').where({ bot_id: id }).first('id'))!
  await platform.ask('POST', `/v1/admin/bots/${id}/conversations/${conversationId}/handover`, {})
  await expect.poll(() => chat.getByRole('textbox').isEditable(), patience).toBe(true)
  await chat.getByRole('textbox').press('Enter')
  await chat.locator('.own', { hasText: 'I have' }).waitFor()
  expect(await chat.locator('.own').count()).toBe(1)
  await page.context().close()
})

test('two tabs that a new visitor opens at once are one visitor with one conversation', async () => {
  const visitors = await countVisitors()
  const { page, chat } = await visit()
  const tab = await page.context().newPage()
  await tab.goto(page.url())
  const second = tab.frameLocator('[data-isobot] iframe')
  await Promise.all([page.evaluate('botpress.open()'), tab.evaluate('botpress.open()')])
  for (const one of [chat, second]) await one.getByText('Welcome! Which tea?').waitFor()
  expect(await countVisitors()).toBe(visitors + 1)
  await say(chat, 'from one tab')
  await second.getByText('You said from one tab').waitFor()
  await page.context().close()
})

test('a tab that sees late what another has stored is no second visitor', async () => {
  const visitors = await countVisitors()
  const { page, chat } = await visit()
  await page.evaluate('botpress.open()')
  await chat.getByText('Welcome! Which tea?').waitFor()
  const tab = await page.context().newPage()
  // As on a busy machine: browsers order the writes to a storage neither with locks nor with the tabs' requests.
  await tab.addInitScript(`{
    const { getItem } = Storage.prototype
    let first
    Storage.prototype.getItem = function (name) {
      first ??= performance.now()
      return performance.now() - first < 1000 ? null : getItem.call(this, name)
    }
  }`)
  await tab.goto(page.url())
  await tab.evaluate('botpress.open()')
  await tab.frameLocator('[data-isobot] iframe').getByText('Welcome! Which tea?').waitFor()
  expect(await countVisitors()).toBe(visitors + 1)
  await page.context().close()
})

test('corners, fonts, footer and links are those of the configuration, and links that could run code are texts', async () => {
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, {
    radius: 0,
    fontFamily: 'Georgia, serif',
    footer: 'Answers by a *machine*, [more](javascript:alert(1))',
    website: { title: 'Our shop', link: 'https://example.com/' },
    email: { link: 'mailto:help@example.com' },
    phone: { title: 'Call', link: 'tel:+431234567' },
    privacyPolicy: { title: 'Privacy', link: 'https://example.com/privacy' },
  })
  const { page, chat, complaints } = await visit({ at })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const links = await chat.locator('footer a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  expect(links).toEqual([
    'https://example.com/',
    'mailto:help@example.com',
    'tel:+431234567',
    'https://example.com/privacy',
  ])
  await chat.getByText('help@example.com').waitFor()
  await chat.locator('footer em', { hasText: 'machine' }).waitFor()
  const look = await page.frames()[1]!.evaluate<string[]>(`{
    const { borderRadius, fontFamily } = getComputedStyle(document.querySelector('.message'));
    [borderRadius, fontFamily.slice(0, 14)]
  }`)
  expect(look).toEqual(['0px', 'Georgia, serif'])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await violations(page)).toEqual([])
  await page.evaluate(`botpress.config({ configuration: { website: { title: 'Shop', link: 'javascript:alert(1)' } } })`)
  await chat.getByText('Shop', { exact: true }).waitFor()
  expect(await chat.locator('footer a').count()).toBe(3)
  expect(complaints).toEqual([])
  await page.context().close()
  for (const wrong of [
    { website: { link: 'javascript:alert(1)' } },
    { fontFamily: 'x; background: url(//evil)' },
    { radius: 9 },
  ]) {
    await expect(installWebchat(platform, id, wrong)).rejects.toThrow('installing')
  }
})

test('a bot shows, hides, toggles and configures the chat; the page gets the events, and nothing of the page moves', async () => {
  const acting = `export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, preview } = event
      const [type, config] = preview.split(' ')
      await client.callAction({ type: 'webchat:' + type, input: { conversationId, ...(config && { config }) } })
      await client.createMessage({ conversationId, type: 'text', payload: { text: 'Did ' + type } })
    },
  }`
  const { id } = await platform.createBot(acting)
  const at = await installWebchat(platform, id, {
    botName: 'Ada',
    soundEnabled: true,
    proactiveMessageEnabled: true,
    proactiveBubbleMessage: 'May I help?',
    proactiveBubbleDelayTime: 0,
  })
  const calls = `
    window.received = []
    window.shifts = 0
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shifts += value
    }).observe({ type: 'layout-shift', buffered: true })
    window.botpress = ['webchatVisibility', 'webchatConfig', 'webchat:opened', 'webchat:closed'].map((name) => [
      'on', name, (data) => received.push(data?.visibility ?? data?.botName ?? name)
    ])`
  const { page, chat, complaints } = await visit({ at, calls })
  await page.evaluate('document.body.getBoundingClientRect()')
  await page.getByRole('button', { name: 'May I help?' }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'May I help?' }).click()
  await chat.getByRole('textbox').waitFor()
  const frame = page.frames()[1]!
  await frame.evaluate(`{
    const start = OscillatorNode.prototype.start
    window.tones = 0
    OscillatorNode.prototype.start = function (...when) { window.tones++; return start.apply(this, when) }
  }`)
  await say(chat, 'configWebchat {"botName":"Grace"}')
  await chat.getByRole('heading', { name: 'Grace' }).waitFor()
  await chat.getByText('Did configWebchat').waitFor()
  await say(chat, 'hideWebchat')
  await page.getByRole('button', { name: /^Open the chat/ }).waitFor()
  await page.evaluate(`botpress.sendMessage('showWebchat')`)
  await chat.getByText('Did showWebchat').waitFor()
  await say(chat, 'toggleWebchat')
  await page.getByRole('button', { name: /^Open the chat/ }).waitFor()
  await expect
    .poll(() => page.evaluate<string[]>('received'), patience)
    .toEqual([
      'webchat:opened',
      'Grace',
      'hide',
      'webchat:closed',
      'show',
      'webchat:opened',
      'toggle',
      'webchat:closed',
    ])
  await expect.poll(() => frame.evaluate('tones'), patience).toBe(4)
  expect(await page.getByRole('button', { name: 'May I help?' }).count()).toBe(0)
  expect(await page.evaluate('shifts')).toBe(0)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('French and Spanish visitors read their languages, in the list of conversations too', async () => {
  const { id } = await platform.createBot(`export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const payload = { latitude: 48.2, longitude: 16.37 }
      await client.createMessage({ conversationId: event.conversationId, type: 'location', payload })
    },
  }`)
  const at = await installWebchat(platform, id)
  for (const [locale, open, field, location] of [
    ['fr-CA', 'Ouvrir le chat', 'Écrire un message…', 'Lieu'],
    ['es', 'Abrir el chat', 'Escribe un mensaje…', 'Lugar'],
  ] as const) {
    const { page, chat } = await visit({ at }, { locale })
    await page.getByRole('button', { name: open }).click()
    await chat.getByRole('textbox', { name: field }).waitFor()
    expect(await chat.locator('html').getAttribute('lang')).toBe(locale)
    await say(chat, 'where?')
    await chat.getByText('48.2, 16.37').waitFor()
    await chat.locator('header button').first().click()
    await chat.locator('.conversations li').getByText(location).waitFor()
    await page.context().close()
  }
})

test('a chat in an element of the page stores nothing before the visitor turns to it, also where storage is refused', async () => {
  const visitors = await countVisitors()
  const { page, chat, complaints } = await visit({ origin: site.foreignOrigin, attributes: 'data-selector="#chat"' })
  await chat.getByText('Hello, I am Ada.').waitFor()
  expect(await bubble(page).count()).toBe(0)
  expect(await countVisitors()).toBe(visitors)
  expect(await violations(page)).toEqual([])
  await chat.getByRole('textbox').click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await say(chat, 'hello')
  await chat.getByText('You said hello').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('the chat goes on where a site moves it, loads its frame anew, or replaces the body or the element around it', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await say(chat, 'before')
  await chat.getByText('You said before').waitFor()
  const moves = {
    moved: `document.querySelector('main').append(document.querySelector('[data-isobot]'))`,
    loaded: `botpress.close()`,
    replaced: `{
      const body = document.createElement('body')
      body.append(document.querySelector('main'))
      document.body.replaceWith(body)
    }`,
  }
  for (const [name, move] of Object.entries(moves)) {
    await page.evaluate(move)
    if (name === 'loaded') {
      await page
        .frames()[1]!
        .evaluate('location.reload()')
        .catch(() => {})
      await page.evaluate('botpress.open()')
    }
    await chat.getByText('You said before').waitFor()
    await say(chat, name)
    await chat.getByText(`You said ${name}`).waitFor()
  }
  await page.evaluate(`document.querySelector('[data-isobot]').remove()`)
  await page.evaluate(`document.body.replaceWith(document.createElement('body'))`)
  expect(await page.locator('[data-isobot]').count()).toBe(0)
  await page.context().close()

  const embedded = await visit({ attributes: 'data-selector="#chat"' })
  await embedded.chat.getByRole('textbox').click()
  await embedded.chat.getByText('Welcome! Which tea?').waitFor()
  await embedded.page.evaluate(`{
    const element = document.querySelector('#chat')
    element.replaceWith(element.cloneNode())
    botpress.init({ selector: '#chat' })
  }`)
  await embedded.page.locator('#chat iframe').waitFor()
  await embedded.chat.getByText('Welcome! Which tea?').waitFor()
  // As libraries that change pages do it: a new body, with the script in it.
  await embedded.page.evaluate(`{
    const script = document.createElement('script')
    const policy = trustedTypes.createPolicy('site', { createScriptURL: (url) => url })
    script.src = policy.createScriptURL('${url}/inject.js')
    script.dataset.selector = '#chat'
    const chat = document.createElement('section')
    chat.id = 'chat'
    const body = document.createElement('body')
    body.append(chat, script)
    document.body.replaceWith(body)
  }`)
  await embedded.page.locator('#chat iframe').waitFor()
  await embedded.chat.getByText('Welcome! Which tea?').waitFor()
  await embedded.page.context().close()
})

test('a call that the frame has not answered is ended when the page moves the chat', async () => {
  const { page, chat } = await visit()
  await page.route('**/initialize*', () => {})
  await bubble(page).click()
  await chat.getByText('Connecting …').waitFor()
  const calling = page.evaluate('botpress.getUser().catch(({ message }) => message)')
  await page.evaluate(`document.querySelector('main').append(document.querySelector('[data-isobot]'))`)
  expect(await calling).toBe('The chat was loaded anew before it has answered')
  await page.context().close()
})

test('a text that is not sent outlives the list of conversations and a reload, and is none of another visitor', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const field = chat.getByRole('textbox')
  await field.fill('Half a question')
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: 'Back to the chat' }).click()
  expect(await field.inputValue()).toBe('Half a question')
  await page.reload()
  await bubble(page).click()
  await field.waitFor()
  expect(await field.inputValue()).toBe('Half a question')
  await field.press('Enter')
  await chat.getByText('You said Half a question').waitFor()
  await page.reload()
  await bubble(page).click()
  await chat.getByText('You said Half a question').waitFor()
  expect(await field.inputValue()).toBe('')
  await page.context().close()
})

test('keys of an input method neither send the text nor close the chat', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await chat.getByRole('textbox').fill('おちゃ')
  // The last one is that of Safari, after the end of the composition.
  const taken = await page.frames()[1]!.evaluate(`[
    { key: 'Enter', isComposing: true },
    { key: 'Escape', isComposing: true },
    { key: 'Enter', keyCode: 229 },
  ].map((press) => {
    const event = new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...press })
    return document.querySelector('textarea').dispatchEvent(event)
  })`)
  // Events that no script has prevented are left to the browser and the input method.
  expect(taken).toEqual([true, true, true])
  await say(chat, 'お茶')
  await chat.getByText('You said お茶').waitFor()
  expect(await page.evaluate('botpress.state')).toBe('opened')
  expect(await chat.locator('.own').count()).toBe(1)
  await page.context().close()
})

test('a site that signs keys renews them, and its visitor is the same everywhere', async () => {
  const encryptionKey = 'the site’s own secret'
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, { encryptionKey })
  const sign = (seconds: number) =>
    new SignJWT({ id: 'ann' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(new TextEncoder().encode(encryptionKey))
  const calls = `window.botpress = [['init', {
    user: { userKey: '${await sign(-60)}' },
    getUserKey: async () => '${await sign(600)}',
  }]]`
  for (const shown of ['Welcome! Which tea?', 'You said hello']) {
    const { page, chat, complaints } = await visit({ at, calls, attributes: 'data-init="manual"' })
    await bubble(page).click()
    await chat.getByText(shown).waitFor()
    await say(chat, 'hello')
    await chat.getByText('You said hello').last().waitFor()
    // The frame that is loaded anew has the key that was renewed, and not the first one.
    const refused: number[] = []
    page.on('response', (response) => refused.push(...(response.status() === 401 ? [401] : [])))
    await page.evaluate(`document.querySelector('main').append(document.querySelector('[data-isobot]'))`)
    await chat.getByText('You said hello').last().waitFor()
    expect(refused).toEqual([])
    // The browser logs the refusal of the key, and that the visitor is new.
    expect(complaints.filter((line) => !/status of 40[14]/.test(line))).toEqual([])
    await page.context().close()
  }
})

test('visitors whom the site names share a browser, and neither messages nor names', async () => {
  const encryptionKey = 'the site’s own secret'
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, { encryptionKey })
  const sign = (id: string) =>
    new SignJWT({ id })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('10 min')
      .sign(new TextEncoder().encode(encryptionKey))
  const calls = `window.botpress = [['init', { user: { userKey: '${await sign('ann')}', name: 'Ann' } }]]`
  const { page, chat } = await visit({ at, calls, attributes: 'data-init="manual"' })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await page.route('**/messages', (route) => route.abort())
  await say(chat, 'a secret of Ann')
  await chat.getByText('a secret of Ann').waitFor()
  const user = await page.evaluate(
    async (userKey) => {
      // oxlint-disable-next-line typescript/no-explicit-any
      const { botpress } = globalThis as any
      await botpress.updateUser({ userKey })
      return botpress.getUser()
    },
    await sign('ben'),
  )
  expect(user).toMatchObject({ id: 'ben' })
  expect(user).not.toMatchObject({ name: 'Ann' })
  await chat.getByText('Welcome! Which tea?').waitFor()
  expect(await chat.getByText('a secret of Ann').count()).toBe(0)
  await page.unroute('**/messages')
  await say(chat, 'from Ben')
  await chat.getByText('You said from Ben').waitFor()
  await page.evaluate(`botpress.updateUser({ userKey: '${await sign('ann')}' })`)
  await chat.getByText('You said a secret of Ann').waitFor()
  expect(await chat.getByText('from Ben').count()).toBe(0)
  await page.context().close()
})

test('a visitor attaches files, which the bot reads at their address, and sees why another is refused', async () => {
  const { page, chat, complaints } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (name: string) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    await (await choosing).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') })
  }
  await attach('notes.txt')
  await chat.getByRole('link', { name: 'notes.txt' }).waitFor()
  await chat.getByText('It has 9 bytes').waitFor()
  await attach('<b>page.html')
  await chat.getByText('<b>page.html: Not sent: key: the file is of the type text/html').waitFor()
  expect(await violations(page)).toEqual([])
  // A name that shows a program as a picture, and one that is longer than the platform takes.
  await attach('cat\u202Egnp.txt')
  await chat.getByRole('link', { name: 'catgnp.txt' }).waitFor()
  await attach(`${'long'.repeat(60)}.txt`)
  await chat.getByRole('link', { name: /^(long){49}\.txt$/ }).waitFor()
  await page.route('**/files', () => {})
  await attach('large.txt')
  await chat.getByText('Sending: large.txt').waitFor()
  expect(await violations(page)).toEqual([])
  expect(complaints.filter((line) => !line.includes('status of 400'))).toEqual([])
  await page.context().close()
})

test('files chosen while another is on its way lose neither it nor a refusal, and all of a choice are sent', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (...names: string[]) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    const files = names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') }))
    await (await choosing).setFiles(files)
  }
  const released = Promise.withResolvers<void>()
  await page.route('**/files', async (route) => {
    if (route.request().postData()?.includes('slow.txt')) await released.promise
    await route.continue()
  })
  await attach('slow.txt')
  await chat.getByText('Sending: slow.txt').waitFor()
  await attach('page.html')
  const refusal = chat.getByText('page.html: Not sent: key: the file is of the type text/html')
  await refusal.waitFor()
  expect(await chat.getByText('Sending: slow.txt').count()).toBe(1)
  released.resolve()
  await chat.getByRole('link', { name: 'slow.txt' }).waitFor()
  await expect.poll(() => chat.getByText('Sending: slow.txt').count(), patience).toBe(0)
  expect(await refusal.count()).toBe(1)

  const names = Array.from({ length: 9 }, (_, index) => `note-${index}.txt`)
  await attach(...names)
  const links = chat.getByRole('link', { name: /^note-/ })
  await expect.poll(() => links.count(), patience).toBe(9)

  // Without the network, a file that is chosen is shown and waits.
  await page.context().setOffline(true)
  await attach('later.txt')
  await chat.getByText('Sending: later.txt').waitFor()
  await page.context().setOffline(false)
  await chat.getByRole('link', { name: 'later.txt' }).waitFor()

  // Many refusals leave room for the messages, until the visitor goes on.
  await attach(...Array.from({ length: 30 }, (_, index) => `page-${index}.html`))
  await chat.getByText('page-29.html: Not sent').waitFor()
  const { height } = (await chat.getByRole('log').boundingBox())!
  expect(height).toBeGreaterThan(200)
  expect(await violations(page)).toEqual([])
  await say(chat, 'well then')
  await expect.poll(() => chat.getByText(': Not sent').count(), patience).toBe(0)
  await page.context().close()
})

test('a file is sent once although connections break and answers are lost, also to a conversation that is left', async () => {
  const notes = (await platform.context.db('files').whereLike('key', '%/notes.txt')).length
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const creations: string[] = []
  await page.route('**/files', async (route) => {
    creations.push(route.request().postData()!)
    if (creations.length === 1) return route.abort('connectionreset')
    const response = await route.fetch()
    await (creations.length === 2 ? route.abort('connectionreset') : route.fulfill({ response }))
  })
  let uploads = 0
  const isLeft = Promise.withResolvers<void>()
  await page.route('**/files/upload/*', async (route) => {
    uploads++
    if (uploads === 1) return route.abort('connectionreset')
    await isLeft.promise
    // The second one arrives, and its answer does not.
    const response = await route.fetch()
    await (uploads === 2 ? route.abort('connectionreset') : route.fulfill({ response }))
  })
  const choosing = page.waitForEvent('filechooser')
  await chat.getByRole('button', { name: 'Attach a file' }).click()
  await (await choosing).setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('two words') })
  await expect.poll(() => uploads, patience).toBe(2)
  expect(await chat.getByText('Not sent').count()).toBe(0)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: 'New conversation' }).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  isLeft.resolve()
  await expect.poll(() => chat.getByText('Sending: notes.txt').count(), patience).toBe(0)
  expect(await chat.getByRole('link', { name: 'notes.txt' }).count()).toBe(0)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: /^It has 9 bytes/ }).click()
  await chat.getByText('It has 9 bytes').waitFor()
  expect(await chat.getByRole('link', { name: 'notes.txt' }).count()).toBe(1)
  expect(await platform.context.db('files').whereLike('key', '%/notes.txt')).toHaveLength(notes + 1)
  await page.context().close()
})

test('a file that the platform fails to take, or a proxy refuses, is given up with the reason', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (name: string) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    await (await choosing).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') })
  }
  await page.route('**/files/upload/*', (route) => route.fulfill({ status: 413, body: '<h1>Too large</h1>' }))
  await attach('large.txt')
  await chat.getByText('large.txt: Not sent: The answer has the status 413').waitFor()
  const failure = { id: 'err_1', code: 503, type: 'Unavailable', message: 'The store is full' }
  await page.route('**/files/upload/*', (route) => route.fulfill({ status: 503, json: failure }))
  await attach('small.txt')
  await chat.getByText('small.txt: Not sent: The store is full').waitFor({ timeout: 20_000 })
  expect(await chat.getByText('Sending:').count()).toBe(0)
  await page.context().close()
})

test('text that is pasted with a picture of it stays text; a picture alone is a file, and so is what is dropped', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  /** @returns whether the browser inserts what was pasted */
  const paste = async (texts: Record<string, string>) =>
    page.frames()[1]!.evaluate<boolean>(`{
      const clipboardData = new DataTransfer()
      for (const [type, text] of Object.entries(${JSON.stringify(texts)})) clipboardData.setData(type, text)
      clipboardData.items.add(new File(['pixels'], 'pasted.png', { type: 'image/png' }))
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.querySelector('textarea').dispatchEvent(paste)
    }`)
  expect(await paste({ 'text/plain': 'Tea\t3', 'text/html': '<table><tr><td>Tea<td>3</table>' })).toBe(true)
  expect(await paste({ 'text/html': '<img src="pasted.png">' })).toBe(false)
  // This web chat takes only texts as files: its answer shows that the picture was given to it as a file.
  await chat.getByText('pasted.png: Not sent: key: the file is of the type image/png').waitFor()
  // A file that is dropped on the chat is given to it too, where the browser would leave the page for it.
  const isLeft = await page.frames()[1]!.evaluate<boolean>(`{
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['two words'], 'dropped.txt', { type: 'text/plain' }))
    const drop = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
    document.querySelector('header').dispatchEvent(drop('dragover')) || document.querySelector('header').dispatchEvent(drop('drop'))
  }`)
  expect(isLeft).toBe(false)
  await chat.getByText('It has 9 bytes').waitFor()
  await page.context().close()
})

test('a page of its own has the chat, without a site around it', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 760 } })
  await page.goto(`${url}/chat`)
  await page.getByText('Welcome! Which tea?').waitFor()
  expect(await page.title()).toBe('Ada')
  expect(await page.getByRole('button', { name: 'Close the chat' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  expect(await page.getByText('this browser is too old for it').count()).toBe(0)
  // As where the browser cannot read the script.
  await page.route('**/webchat/assets/*.js', (route) => route.abort())
  await page.reload()
  await page.getByText('this browser is too old for it').waitFor()
  await page.close()
})

test('the script of pages has at most 8 KB, and all of the widget 60 KB, compressed', async () => {
  const directory = join(outputDirectory, 'widget')
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
  const sizes = new Map(
    await Promise.all(names.map(async (name) => [name, (await stat(join(directory, name))).size] as const)),
  )
  expect(sizes.get('inject.js.gz')).toBeLessThan(8 * 1024)
  expect(sizes.size).toBe(3)
  expect([...sizes.values()].reduce((sum, size) => sum + size)).toBeLessThan(60 * 1024)
})

test('a site of an origin that is not allowed gets no chat, and an explanation', async () => {
  await using stranger = await serveSite(platform.url)
  const visitors = await countVisitors()
  const { page, chat, complaints } = await visit({ origin: stranger.origin })
  await bubble(page).click()
  await expect.poll(() => complaints.join(), patience).toContain('frame-ancestors')
  expect(await chat.getByRole('textbox').count()).toBe(0)
  expect(await countVisitors()).toBe(visitors)
  const policy = (await fetch(`${url}/frame`)).headers.get('content-security-policy')
  expect(policy).toContain(`frame-ancestors 'self' ${site.origin}`)
  expect(policy).not.toContain('unsafe')
  await page.context().close()
})

test('a visitor on a phone reads that a site has no chat, and closes it, also before that is known', async () => {
  await using stranger = await serveSite(platform.url)
  const { page } = await visit({ origin: stranger.origin }, { locale: 'fr-FR', viewport: { width: 360, height: 640 } })
  const open = page.getByRole('button', { name: 'Ouvrir le chat' })
  const close = page.getByRole('button', { name: 'Fermer le chat' })
  await open.click()
  await close.click()
  await open.click()
  await page.getByText('Le chat n’est pas disponible sur cette page.').waitFor()
  expect(await violations(page)).toEqual([])
  await close.click()
  await open.waitFor()
  await page.context().close()
})

test('a page opens, writes and listens by window.botpress, before the script has arrived too', async () => {
  const calls = `
    window.received = []
    window.botpress = [
      ['on', '*', ({ type }) => received.push(type)],
      ['updateUser', { name: 'Ann', data: { plan: 'free' } }],
      ['sendMessage', 'from the page'],
      ['sendEvent', { page: 'orders' }],
    ]`
  const { page, chat, complaints } = await visit({ calls, lang: 'en' })
  await bubble(page).waitFor()
  const bubbleText = page.getByRole('button', { name: /Unread messages: \d/ })
  await bubbleText.click()
  await chat.getByText('You said from the page').waitFor()
  await chat.getByText('Page: orders').waitFor()
  const user = await page.evaluate('botpress.getUser()')
  expect(user).toMatchObject({ name: 'Ann', userData: { plan: 'free' } })
  await page.evaluate('botpress.close()')
  await expect.poll(() => page.evaluate('botpress.state'), patience).toBe('closed')
  await page.evaluate('botpress.setUnreadMessageCount(7)')
  await page.getByRole('button', { name: 'Open the chat. Unread messages: 7' }).waitFor()
  await page.evaluate(`botpress.init({ botId: 'bot_of_the_page' })`)
  expect(await page.evaluate('[botpress.botId, typeof botpress.version]')).toEqual(['bot_of_the_page', 'string'])
  const received = await page.evaluate<string[]>('received')
  for (const type of [
    'webchat:initialized',
    'webchat:ready',
    'webchat:opened',
    'webchat:closed',
    'conversation',
    'message',
    'messageSent',
    'user',
  ]) {
    expect(received).toContain(type)
  }
  // Neither the key nor the conversation is within reach of the page.
  expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toMatch(/eyJ|conv_/)
  expect(complaints).toEqual([])
  await page.context().close()
})

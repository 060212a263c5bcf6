import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../../cli/postgres/free-port.ts'
import { launchChromium } from '../../../browser/chromium.ts'
import { servePage, type ServedPage } from '../../../browser/serve-page.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { startProcess } from '../../../support/processes.ts'
import { installWebchat } from '../../../support/webchat.ts'

const code = `export const hooks = {
  async afterIncomingEvent({ event, client }) {
    if (event.type !== 'webchat:conversationStarted') return
    const { conversationId } = event
    const options = [{ label: 'Green tea', value: 'green' }, { label: 'Black tea', value: 'black' }]
    await client.createMessage({ conversationId, type: 'choice', payload: { text: 'Welcome! Which tea?', options } })
  },
  async afterIncomingMessage({ event, client }) {
    const { conversationId, payload } = event
    const say = (type, payload) => client.createMessage({ conversationId, type, payload })
    if (payload.value) await say('text', { text: 'You chose ' + payload.value })
    else if (payload.fileUrl) {
      const content = await (await fetch(payload.fileUrl)).text()
      await say('text', { text: payload.title + ' says ' + content })
    }
    else if (payload.text === 'write slowly') {
      const stream = client.streamMessage(conversationId)
      for (const word of ['one ', 'two ', 'three']) await stream.write(word)
      await stream.end()
    } else if (payload.text.startsWith('webchat:')) {
      const [type, config] = payload.text.split(' ')
      await client.callAction({ type, input: { conversationId, ...(config && { config }) } })
      await say('text', { text: 'Did ' + type })
    } else if (payload.text === 'everything') {
      const card = { title: 'A card', subtitle: 'below', actions: [{ action: 'postback', label: 'Press', value: 'p' }] }
      await say('markdown', { markdown: 'some **bold** words' })
      await say('image', { imageUrl: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' })
      await say('audio', { audioUrl: 'data:audio/wav;base64,' })
      await say('video', { videoUrl: 'data:video/mp4;base64,' })
      await say('file', { fileUrl: 'data:text/plain,x', title: 'A file' })
      await say('location', { latitude: 48.2, longitude: 16.37, title: 'A place' })
      await say('card', card)
      await say('carousel', { items: [card, { ...card, title: 'Another card' }] })
      await say('dropdown', { text: 'Pick one', options: [{ label: 'This', value: 'this' }] })
      await say('bloc', { items: [{ type: 'text', payload: { text: 'part of a bloc' } }] })
      const element = 'React.createElement("p", null, "A component about " + tea)'
      const component = 'data:text/javascript,export default ({ tea }) => ' + element
      await say('custom', { url: component, name: 'tea', data: { tea: 'Sencha' } })
      await say('text', { text: 'That was everything' })
    } else await say('text', { text: 'You said ' + payload.text })
  },
}`

/** Time enough to download a browser. */
const installing = 600_000
const patience = { timeout: 8000 }

const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
let served: ServedPage
let address: string
beforeAll(async () => {
  browser = parts.adopt(await launchChromium(), (open) => open.close())
  served = parts.use(await servePage('webchat-page.js'))
  platform = parts.use(await openPlatform())
  const { id } = await platform.createBot(code)
  const url = await installWebchat(platform, id, { allowedOrigins: [served.origin] })
  const apiUrl = url.slice(0, url.lastIndexOf('/'))
  address = `${served.origin}/?${new URLSearchParams({ apiUrl, clientId: url.slice(apiUrl.length + 1) }).toString()}`
}, installing)
afterAll(() => parts.disposeAsync())

const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor(patience)

async function say(page: Page, text: string): Promise<void> {
  const field = page.getByLabel('Message Input')
  await field.fill(text)
  await field.press('Enter')
}

test('the published web chat, unmodified, holds conversations from a page of another origin', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(platform.url) && response.status() >= 400) {
      refused.push(`${response.status()} ${response.request().method()} ${response.url()}`)
    }
  })
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  await page.goto(address)

  // The welcome comes once the web chat is open, and a choice is sent with its value.
  await shows(page, 'Welcome! Which tea?')
  await page.getByText('Green tea', { exact: true }).click()
  await shows(page, 'You chose green')
  await say(page, 'hello')
  await shows(page, 'You said hello')
  await shows(page, 'Delivered')
  await say(page, 'write slowly')
  await shows(page, 'one two three')
  expect(await page.getByText('one two three').count()).toBe(1)
  await say(page, 'everything')
  for (const text of ['A file', 'Another card', 'part of a bloc', 'A component about Sencha', 'That was everything']) {
    await shows(page, text)
  }
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('buy tea') }
  await page.locator('input[type=file]').first().setInputFiles(notes)
  await page.locator('.bpComposerFileRemoveIcon').waitFor(patience)
  await page.locator('.bpComposerSendButton').click()
  await shows(page, 'notes says buy tea')
  if (process.env['WEBCHAT_SCREENSHOT']) await page.screenshot({ path: process.env['WEBCHAT_SCREENSHOT'] })

  // Feedback, the list of conversations, a new one and the way back.
  const feedback = page.waitForResponse(
    (response) => response.url().endsWith('/feedback') && response.request().method() === 'PUT',
  )
  await page.locator('.bpMessageBlocksBubbleFeedbackContainer').last().locator('svg').first().click()
  expect((await feedback).status()).toBe(200)
  await page.locator('.bpHeaderConversationHistoryButton').click()
  await page.locator('.bpConversationHistoryNewConversationButton').click()
  await expect.poll(() => page.getByText('That was everything').count(), patience).toBe(0)
  await shows(page, 'Welcome! Which tea?')
  await page.locator('.bpHeaderConversationHistoryButton').click()
  await page.locator('.bpConversationHistoryConversationContainer').nth(1).click()
  await shows(page, 'That was everything')

  // A reload keeps the conversation, with messages of every type and without another welcome.
  await page.reload()
  await shows(page, 'That was everything')
  expect(await page.getByText('Welcome! Which tea?').count()).toBe(1)

  // A key that is no longer valid makes a new visitor.
  await page.evaluate(() => {
    const name = Object.keys(localStorage).find((key) => key.endsWith('-client'))!
    const stored = JSON.parse(localStorage.getItem(name)!)
    stored.state.user.userToken = 'outdated'
    localStorage.setItem(name, JSON.stringify(stored))
  })
  await page.reload()
  await shows(page, 'Welcome! Which tea?')
  expect(await page.getByText('That was everything').count()).toBe(0)
  await say(page, 'again')
  await shows(page, 'You said again')
  expect({ refused, problems }).toEqual({ refused: [], problems: [] })
  await context.close()
}, 90_000)

test('the published web chat is shown, hidden and configured by the bot, and has the name of a member who answers', async () => {
  await using context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  await page.goto(`${address}&guided=`)
  await shows(page, 'Welcome! Which tea?')
  const { id: conversationId, bot_id: botId } = (await platform.context
    .db('conversations')
    .orderBy('created_at', 'desc')
    .first('id', 'bot_id'))!
  const tell = (action: string, input = {}) =>
    platform.ask(
      'POST',
      '/v1/chat/actions',
      { type: action, input: { conversationId, ...input } },
      { 'x-bot-id': botId },
    )
  await say(page, 'webchat:hideWebchat')
  await shows(page, 'The chat is hidden')
  await tell('webchat:showWebchat')
  await shows(page, 'Did webchat:hideWebchat')
  await say(page, 'webchat:toggleWebchat')
  await shows(page, 'The chat is hidden')
  await tell('webchat:toggleWebchat')
  await shows(page, 'Did webchat:toggleWebchat')
  await say(page, 'webchat:configWebchat {"botName":"Grace"}')
  await shows(page, 'Grace')

  const member = await createMember(platform, 'agent', platform.workspaceId)
  const account = (await platform.ask('GET', '/v1/admin/account/me', undefined, member)).body.account.id
  const portrait =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  await platform.context.db('accounts').where({ id: account }).update({ name: 'Anna', picture_url: portrait })
  const here = `/v1/chat/conversations/${conversationId}/handover`
  await platform.ask('POST', here, {}, { 'x-bot-id': botId })
  const asAnna = (path: string, body: object) =>
    platform.ask('POST', `/v1/admin/bots/${botId}/conversations/${conversationId}/${path}`, body, member)
  await asAnna('handover', {})
  await asAnna('messages', { type: 'text', payload: { text: 'I am a person' } })
  await shows(page, 'I am a person')
  await expect.poll(() => page.locator(`img[src="${portrait}"]`).count(), patience).toBeGreaterThan(0)
})

test('the published web chat goes on in its conversation after a restart of the api', async () => {
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
  await using processes = new AsyncDisposableStack()
  processes.defer(async () => void (await api.stop()))
  await using context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  const own = new URL(address)
  own.searchParams.set('apiUrl', own.searchParams.get('apiUrl')!.replace(platform.url, `http://localhost:${port}`))
  await page.goto(own.href)
  await shows(page, 'Welcome! Which tea?')
  await say(page, 'before')
  await shows(page, 'You said before')
  await api.stop()
  api = await start()
  const resumed = (text: string) => page.getByText(text, { exact: true }).first().waitFor({ timeout: 40_000 })
  await say(page, 'after')
  await resumed('You said after')
  for (const text of ['Welcome! Which tea?', 'You said before', 'You said after']) {
    expect(await page.getByText(text, { exact: true }).count()).toBe(1)
  }
}, 90_000)

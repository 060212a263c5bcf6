import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { launchChromium } from '../../browser/chromium.ts'
import { serveSite, type Site } from '../../browser/serve-site.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { installWebchat } from '../../support/webchat.ts'
import { buildConsole } from '../built.ts'

/** The bot of the web chat: it offers teas, repeats texts, and sends the messages that a text lists as JSON. */
export const code = `export const hooks = {
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

export const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const patience = { timeout: 10_000 }

export interface Visit {
  page: Page
  /** The chat in its frame. */
  chat: FrameLocator
  /** Errors of the browser, breaches of the site's and the frame's policies among them. */
  complaints: string[]
}

/** A site with a web chat, and a browser. */
export interface Widget {
  platform: Platform
  browser: Browser
  site: Site
  /** The address of the web chat. */
  url: string
  /** Opens the page of a site in a new context of the browser. `query` is the page's. */
  visit(query?: Record<string, string>, options?: Parameters<Browser['newContext']>[0]): Promise<Visit>
  countVisitors(): Promise<number>
}

/** @param parts ends them */
export async function openWidget(parts: AsyncDisposableStack): Promise<Widget> {
  await buildConsole()
  const browser = parts.adopt(await launchChromium(), (open) => open.close())
  const platform = parts.use(await openPlatform())
  const site = parts.use(await serveSite(platform.url))
  const { id } = await platform.createBot(code)
  const url = await installWebchat(platform, id, {
    allowedOrigins: [site.origin, site.foreignOrigin],
    botName: 'Ada',
    botDescription: 'Your tea expert',
    feedbackEnabled: true,
    color: '#1f6f54',
    greeting: 'Hello, I am **Ada**.',
    allowFileUpload: true,
    fileTypes: ['text/plain'],
  })
  return {
    platform,
    browser,
    site,
    url,
    async visit({ at = url, origin = site.origin, ...query } = {}, options = {}) {
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
    },
    countVisitors: async () =>
      Number((await platform.context.db('users').whereNotNull('installation_id').count())[0]!['count']),
  }
}

export const bubble = (page: Page) => page.getByRole('button', { name: /^Open the chat/ })

export async function say(chat: FrameLocator, text: string): Promise<void> {
  await chat.getByRole('textbox').fill(text)
  await chat.getByRole('textbox').press('Enter')
}

/** The texts of the conversation, without the labels of their authors. */
export async function transcript(chat: FrameLocator): Promise<string[]> {
  const texts = await chat.locator('.message > p').allTextContents()
  return texts.filter((text) => /^(You said|message) /.test(text))
}

/** The name of what has the focus, in the frame or in the shadow root of the page. */
export const focused = (within: Page | ReturnType<Page['frames']>[number]) =>
  within.evaluate<string>(`{
    const element = document.activeElement.shadowRoot?.activeElement ?? document.activeElement
    element.getAttribute('aria-label') ?? element.textContent
  }`)

export async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  const frame = page.frames()[1]!
  for (let presses = 0; presses < 30; presses++) {
    if ((await focused(frame)) === name) return
    await page.keyboard.press(key)
  }
  throw new Error(`no focus on ${name}`)
}

let axe: string | undefined

/** The violations of WCAG 2.2 AA in the site with the open chat. */
export async function violations(page: Page): Promise<string[]> {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
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

import { setTimeout as delay } from 'node:timers/promises'
import type { Link } from '../../chaos/network.ts'
import type { OwnPlatform } from '../../support/own-platform.ts'
import { send } from '../../support/platform.ts'
import type { Site } from '../serve-site.ts'
import type { VisitedPage, Where } from './visited-page.ts'

const enter = '\uE007'
/** Longer than a browser lets a click begin a sound. */
const forgottenMilliseconds = 7000
const patienceMilliseconds = 25_000

const code = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, preview } = event
    const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
    for (let line = 0; preview === 'much' && line < 30; line++) await say('line ' + line)
    await say('You said ' + preview)
  },
}`

/** Notes the contexts of the tones that a page plays. */
const noteTones = `(() => {
  globalThis.played = []
  const { start } = OscillatorNode.prototype
  OscillatorNode.prototype.start = function (...when) {
    played.push(this.context)
    return start.apply(this, when)
  }
})()`

/** The walks by their titles. Each fails with the expectation that did not come true. */
export async function openWalks(
  platform: OwnPlatform,
  link: Link,
  site: Site,
): Promise<Record<string, (page: VisitedPage) => Promise<void>>> {
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId }
    const answer = await send(method, platform.url + path, body, headers)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { bot } = await ask('POST', '/v1/admin/bots', { name: 'walked', code })
  const { integration } = await ask('GET', '/v1/admin/hub/integrations/webchat/0.3.0')
  // The frame asks at the address of the link, which is not the platform's own.
  const allowedOrigins = [site.origin, `http://localhost:${link.port}`]
  const configuration = { allowedOrigins, greeting: 'Hello', soundEnabled: true }
  const webchat = { integrationId: integration.id, enabled: true, configuration }
  const installed = await ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { webchat } })
  const { pathname } = new URL(installed.bot.integrations.webchat.webhookUrl)
  const script = `http://localhost:${link.port}${pathname}/inject.js`
  const shop = `${site.origin}/?${new URLSearchParams({ script }).toString()}`
  const chat = new URL(bot.integrations.chat.webhookUrl).pathname

  const bubble = `document.querySelector('[data-isobot]')?.shadowRoot.querySelector('.bubble')`
  const panel = `document.querySelector('[data-isobot]').shadowRoot.querySelector('.panel').textContent`

  async function openChat(page: VisitedPage): Promise<void> {
    await page.open(shop)
    await until(page, `Boolean(${bubble})`)
    await page.click(bubble)
    await reads(page, 'Hello', 'frame')
  }

  async function signIn(page: VisitedPage): Promise<void> {
    await page.open(`${platform.url}/console/bots/${bot.id}`)
    await until(page, `Boolean(document.querySelector('input'))`)
    await page.click(`document.querySelector('input')`)
    await page.press(platform.token + enter)
    await reads(page, 'Overview')
  }

  return {
    async 'a visitor opens the chat, gets an answer, and finds it again after a reload'(page) {
      await openChat(page)
      await say(page, 'hello')
      await openChat(page)
      await reads(page, 'You said hello', 'frame')
    },
    async 'in a long conversation only the messages scroll'(page) {
      await openChat(page)
      await say(page, 'much')
      await until(page, 'document.documentElement.scrollHeight === innerHeight', 'frame')
    },
    async 'a chat that cannot be loaded says so, and is there when the platform is'(page) {
      await page.open(shop)
      // The frame of a visitor who has opened the chat before is loaded with the page.
      await page.value('localStorage.clear()')
      await page.open(shop)
      await until(page, `Boolean(${bubble})`)
      link.cut()
      await page.click(bubble)
      await until(page, `/not available/.test(${panel})`)
      link.mend()
      await until(page, `!/not available/.test(${panel})`)
      await reads(page, 'Hello', 'frame')
    },
    async 'a message sounds minutes after the last click'(page) {
      await openChat(page)
      await page.value(noteTones, 'frame')
      await say(page, 'listen')
      await delay(forgottenMilliseconds)
      const stored = `Object.entries(localStorage).find(([name]) => name.endsWith('-conversation'))[1]`
      const conversationId = await page.value<string>(stored, 'frame')
      await page.value('void (played.length = 0)', 'frame')
      const message = { conversationId, userId: bot.id, type: 'text', payload: { text: 'Still there?' }, tags: {} }
      const headers = { authorization: `Bearer ${platform.token}`, 'x-bot-id': bot.id }
      await send('POST', `${platform.url}/v1/chat/messages`, message, headers)
      await until(page, `played.some(({ state, currentTime }) => state === 'running' || currentTime > 0.2)`, 'frame')
    },
    async 'a stream of the Chat API is open as soon as the platform has accepted it'(page) {
      await page.open(`${platform.url}/console`)
      const opened = `(async () => {
        const ask = async (path, key) => (await fetch('${chat}' + path, {
          method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...(key && { 'x-user-key': key }) },
        })).json()
        const { key } = await ask('/users')
        const { conversation } = await ask('/conversations', key)
        const listening = fetch('${chat}/conversations/' + conversation.id + '/listen', { headers: { 'x-user-key': key } })
        return Promise.race([listening.then(({ ok }) => ok), new Promise((resolve) => setTimeout(resolve, 5000, false))])
      })()`
      if (!(await page.value<boolean>(opened))) throw new Error('the answer has no begin after 5 s')
    },
    async 'a member signs in, sees charts, talks to the bot in a field that grows, and sees the code in the editor'(
      page,
    ) {
      await signIn(page)
      await until(page, `document.querySelectorAll('.chart-figure canvas').length === 2`)
      await page.click(
        `[...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === 'Chat')`,
      )
      const field = `document.querySelector('.composer textarea')`
      await until(page, `Boolean(${field})`)
      await page.click(field)
      await page.press('one '.repeat(40))
      await until(page, `${field}.scrollHeight === ${field}.clientHeight`)
      await page.press(enter)
      await reads(page, 'You said one one')
      await page.open(`${platform.url}/console/bots/${bot.id}/code`)
      await until(page, `/afterIncomingMessage/.test(document.querySelector('.view-lines')?.textContent)`)
    },
  }
}

/** Writes to the bot in the open chat, and waits for its answer. */
async function say(page: VisitedPage, text: string): Promise<void> {
  await page.click(`document.querySelector('textarea')`, 'frame')
  await until(page, `document.activeElement.tagName === 'TEXTAREA'`, 'frame')
  await page.press(text)
  await until(page, `document.querySelector('textarea').value === ${JSON.stringify(text)}`, 'frame')
  await page.press(enter)
  await reads(page, `You said ${text}`, 'frame')
}

/** Waits until the text of the page, or of the frame, has these words. */
async function reads(page: VisitedPage, words: string, where?: Where): Promise<void> {
  await until(page, `document.body.innerText.includes(${JSON.stringify(words)})`, where)
}

/** @throws Error with the expression when it does not come true in time */
async function until(page: VisitedPage, expression: string, where?: Where): Promise<void> {
  const end = Date.now() + patienceMilliseconds
  for (;;) {
    // A frame that is being loaded has no value yet.
    const isTrue = await page.value<unknown>(expression, where).catch(() => false)
    if (isTrue === true) return
    if (Date.now() > end) throw new Error(`not true in time: ${expression}`)
    await delay(50)
  }
}

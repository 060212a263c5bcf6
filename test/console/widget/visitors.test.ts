import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveSite } from '../../browser/serve-site.ts'
import { openLink } from '../../chaos/network.ts'
import { followInbox } from '../../support/follow-inbox.ts'
import { createMember } from '../../support/members.ts'
import { installWebchat } from '../../support/webchat.ts'
import { installing } from '../open-console.ts'
import { bubble, code, openWidget, patience, picture, say, violations, type Widget } from './open-widget.ts'

const parts = new AsyncDisposableStack()
let platform: Widget['platform']
let visit: Widget['visit']
let countVisitors: Widget['countVisitors']
beforeAll(async () => {
  ;({ platform, visit, countVisitors } = await openWidget(parts))
}, installing)
afterAll(() => parts.disposeAsync())

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

test('a message after the end of a key is sent once with the next one, while the stream is still open', async () => {
  const encryptionKey = 'the secret of a site with short keys'
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, { encryptionKey })
  const sign = (seconds: number) =>
    new SignJWT({ id: 'ann' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(new TextEncoder().encode(encryptionKey))
  const userKey = await sign(5)
  const calls = `window.botpress = [['init', { user: { userKey: '${userKey}' }, getUserKey: async () => '${await sign(600)}' }]]`
  const { page, chat } = await visit({ at, calls, attributes: 'data-init="manual"' })
  const statuses: number[] = []
  page.on('response', (response) => {
    if (response.request().method() === 'POST' && response.url().endsWith('/messages')) statuses.push(response.status())
  })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const asked = async () => (await fetch(`${at}/conversations`, { headers: { 'x-user-key': userKey } })).status
  await expect.poll(asked, patience).toBe(401)
  await say(chat, 'hello')
  await chat.getByText('You said hello').waitFor()
  expect(statuses).toContain(201)
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(2)
  await page.context().close()
})

test('a page whose visitor has no key where keys are needed gets an error that names them', async () => {
  const { id } = await platform.createBot(code)
  const at = await installWebchat(platform, id, { encryptionKey: 'a secret' })
  const calls = `window.errors = []; window.botpress = [['on', 'error', ({ message }) => errors.push(message)]]`
  const { page, chat } = await visit({ at, calls })
  await bubble(page).click()
  await chat.getByText('The chat is not available on this page.').waitFor()
  await expect
    .poll(() => page.evaluate('errors'), patience)
    .toEqual([expect.stringMatching(/x-user-key .* encryption key/)])
  await page.context().close()
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

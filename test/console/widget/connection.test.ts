import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveSite } from '../../browser/serve-site.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { openLink } from '../../chaos/network.ts'
import { startProcess } from '../../support/processes.ts'
import { installWebchat } from '../../support/webchat.ts'
import { installing } from '../open-console.ts'
import { bubble, code, openWidget, patience, say, transcript, violations, type Widget } from './open-widget.ts'

const parts = new AsyncDisposableStack()
let platform: Widget['platform']
let visit: Widget['visit']
beforeAll(async () => {
  ;({ platform, visit } = await openWidget(parts))
}, installing)
afterAll(() => parts.disposeAsync())

/** The newest message with a text. */
async function newestWith(text: string) {
  const messages = platform.context.db('messages').whereRaw(`payload ->> 'text' = ?`, [text])
  return (await messages.orderBy('created_at', 'desc').first('id', 'bot_id', 'conversation_id'))!
}

/** Deletes the newest message with a text, as its bot. */
async function remove(text: string): Promise<void> {
  const { id, bot_id: botId } = await newestWith(text)
  const { status } = await platform.ask('DELETE', `/v1/chat/messages/${id}`, undefined, { 'x-bot-id': botId })
  expect(status).toBe(200)
}

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

test('a conversation with more messages than the first frame is whole after an interruption, and to its start on request', async () => {
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

test('a message that is sent after its conversation was deleted begins another one, without a reload', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await say(chat, 'to the first')
  await chat.getByText('You said to the first').waitFor()
  const row = await newestWith('You said to the first')
  const path = `/v1/chat/conversations/${row.conversation_id}`
  expect((await platform.ask('DELETE', path, undefined, { 'x-bot-id': row.bot_id })).status).toBe(200)
  await say(chat, 'to the second')
  await chat.getByText('You said to the second').waitFor()
  await chat.getByText('Welcome! Which tea?').waitFor()
  expect(await transcript(chat)).toEqual(['You said to the second'])
  expect(await chat.getByRole('alert').count()).toBe(0)
  await page.context().close()
})

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

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { replies } from '../support/outcomes.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]
let bot: DeployedBot
/** Another member of the workspace. */
let eve: Record<string, string>

/** Answers each message with its text; `help` hands the conversation over. */
const code = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, payload } = event
    if (payload.text !== 'help') {
      return client.createMessage({ conversationId, type: 'text', payload: { text: 'bot: ' + payload.text } })
    }
    const description = 'The parcel of order 17 is broken, and the customer wants the money back.'
    await client.handover({ conversationId, title: 'A broken parcel', description, expiresInSeconds: 7200 })
  },
}`

beforeAll(async () => {
  // Members who are too late are refused, and connections break on purpose.
  ;({ platform, page, complaints } = await openConsole(parts, /status of 40[49]|ERR_FAILED/))
  bot = await platform.createBot(code)
  eve = await createMember(platform, 'developer', platform.workspaceId)
  await platform.context.db('accounts').where({ name: 'developer' }).update({ name: 'Eve' })
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const button = (name: string) => page.getByRole('button', { name, exact: true })
const log = () => page.getByRole('log', { name: 'Messages' })
const reply = () => page.getByRole('textbox', { name: 'Reply' })
const state = () => page.locator('.handover').getByRole('status')

interface Scene {
  user: ChatUser
  conversationId: string
  asEve(method: string, path: string, body?: object): ReturnType<Platform['ask']>
}

/** A conversation that the bot has handed over, and its page. */
async function open(name = 'Ada'): Promise<Scene> {
  const user = await createChatUser(bot.chatUrl, { name })
  const conversationId = await user.createConversation()
  await user.send(conversationId, 'help')
  const { db } = platform.context
  await expect.poll(() => db('handovers').where({ conversation_id: conversationId }), patience).toHaveLength(1)
  await page.goto(`${platform.url}/console/bots/${bot.id}/conversations/${conversationId}`)
  await log().getByText('help').waitFor()
  return {
    user,
    conversationId,
    asEve: (method, path, body = {}) => platform.ask(method, `/v1/admin/bots/${bot.id}${path}`, body, eve),
  }
}

/** The name of the element that has the focus. */
const focused = () =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()`,
  )

/** Waits until a field has the focus. The button that shows it has the same name. */
const fieldWithFocus = (name: string) => page.getByRole('textbox', { name }).and(page.locator(':focus')).waitFor()

/** Presses Tab until an element has the focus. */
async function tabTo(name: string): Promise<void> {
  for (let presses = 0; presses < 60 && (await focused()) !== name; presses++) await page.keyboard.press('Tab')
  expect(await focused()).toBe(name)
}

test('by keyboard alone, a member takes a conversation over, answers in lines, and hands it back', async () => {
  const { user, conversationId } = await open()
  await state().getByText('Waiting for a person').waitFor()
  const bar = page.locator('.handover')
  await bar.getByText('A broken parcel').waitFor()
  await bar.getByText(/The bot asked .*the bot goes on in 1 h/).waitFor()
  await tabTo('Take over')
  await page.keyboard.press('Enter')
  await state().getByText('You answer').waitFor()
  await fieldWithFocus('Reply')
  await page.keyboard.type('Hello Ada')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('I am a person')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(platform, conversationId), patience).toEqual(['Hello Ada\nI am a person'])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320)
  await page.setViewportSize({ width: 1280, height: 800 })
  await log().getByRole('listitem').filter({ hasText: 'member' }).getByText('I am a person').waitFor()
  expect(await reply().inputValue()).toBe('')
  await user.send(conversationId, 'A real one?')
  await log().getByText('A real one?').waitFor()
  await page.keyboard.press('Escape')
  await tabTo('Hand back')
  await page.keyboard.press('Enter')
  await state().getByText('The bot answers').waitFor()
  expect(await reply().count()).toBe(0)
  await user.send(conversationId, 'and now?')
  await log().getByText('bot: and now?').waitFor()
})

test('a double click sends once, and a text whose sending broke is kept and sent once when it is tried again', async () => {
  const { conversationId } = await open()
  await button('Take over').click()
  await reply().fill('only one')
  await button('Send').dblclick()
  await expect.poll(() => reply().inputValue(), patience).toBe('')
  expect(await replies(platform, conversationId)).toEqual(['only one'])

  // The message reaches the platform, and its answer does not reach the page.
  const messages = `**/conversations/${conversationId}/messages`
  await page.route(messages, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })
  await reply().fill('kept')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Not sent. The server cannot be reached').waitFor()
  await page.unroute(messages)
  expect(await reply().inputValue()).toBe('kept')
  await page.getByRole('link', { name: 'Conversations', exact: true }).first().click()
  await page.goBack()
  await expect.poll(() => reply().inputValue(), patience).toBe('kept')
  await reply().press('Enter')
  await expect.poll(() => reply().inputValue(), patience).toBe('')
  expect(await replies(platform, conversationId)).toEqual(['only one', 'kept'])
})

test('the page follows other members, and says in words when one of them was first', async () => {
  const { conversationId, asEve } = await open()
  await button('Take over').waitFor()
  // The page does not know yet that another member has it.
  const path = `/conversations/${conversationId}/handover`
  const about = `**/conversations/${conversationId}?*`
  await page.route(about, (route) => route.abort())
  expect((await asEve('POST', path)).status).toBe(200)
  await button('Take over').click()
  await page
    .getByText('Member ‘Eve’ answers')
    .or(page.getByText(`Member 'Eve' answers in this conversation.`))
    .waitFor()
  await page.unroute(about)
  await state().getByText('Eve answers').waitFor()
  expect(await reply().count()).toBe(0)

  await button('Assign').click()
  const dialog = page.getByRole('dialog', { name: 'Assign the conversation' })
  const self = (await dialog.locator('option', { hasText: '(you)' }).textContent())!
  await dialog.getByLabel('Member who answers').selectOption(self)
  await dialog.getByRole('button', { name: 'Assign' }).click()
  await state().getByText('You answer').waitFor()
  await reply().fill('a long answer')
  const [handover] = await platform.context.db('handovers').where({ conversation_id: conversationId })
  expect((await asEve('POST', `/handovers/${handover!.id}/resolve`)).status).toBe(200)
  await state().getByText('The bot answers').waitFor()
  await reply().press('Enter')
  await page.getByText('Not sent. The conversation has been handed back to the bot meanwhile.').waitFor()
  expect(await replies(platform, conversationId)).toEqual([])
  await button('Take over').click()
  await expect.poll(() => reply().inputValue(), patience).toBe('a long answer')
})

test('files go both ways: the user gets an address with the content, and the member a link', async () => {
  const { user, conversationId } = await open()
  await button('Take over').click()
  const buffer = Buffer.from('return label')
  await page.getByLabel('File to send').setInputFiles({ name: 'label.txt', mimeType: 'text/plain', buffer })
  await button('Remove label.txt').waitFor()
  await button('Send').click()
  await expect.poll(() => button('Remove label.txt').count(), patience).toBe(0)
  const { body } = await user.ask('GET', `/conversations/${conversationId}/messages`)
  const [message] = body.messages
  expect(message.payload).toMatchObject({ type: 'file', title: 'label.txt' })
  expect(await (await fetch(message.payload.fileUrl)).text()).toBe('return label')
  for (const [type, transferred] of [
    ['paste', 'clipboardData'],
    ['drop', 'dataTransfer'],
  ]) {
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['given'], '${type}.txt', { type: 'text/plain' }))
      const Given = '${type}' === 'paste' ? ClipboardEvent : DragEvent
      const event = new Given('${type}', { ${transferred}: data, bubbles: true, cancelable: true })
      document.querySelector('.compose textarea').dispatchEvent(event)
    }`)
    await button(`Remove ${type}.txt`).click()
  }
  // All files that are dropped together are sent, and a sound plays in the transcript.
  await page.evaluate(`{
    const data = new DataTransfer()
    const header = Uint8Array.fromBase64('UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==')
    data.items.add(new File(['one'], 'one.txt', { type: 'text/plain' }))
    data.items.add(new File(['two'], 'two.txt', { type: 'text/plain' }))
    data.items.add(new File([header], 'voice.wav', { type: 'audio/wav' }))
    document.querySelector('.compose').dispatchEvent(
      new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
    )
  }`)
  await button('Remove one.txt').click()
  await button('Send').click()
  await expect.poll(() => page.locator('.compose .chip').count(), patience).toBe(0)
  const titles = async () => {
    const { messages } = (await user.ask('GET', `/conversations/${conversationId}/messages`)).body
    return (messages as { payload: { title?: string } }[]).map(({ payload }) => payload.title).toReversed()
  }
  expect((await titles()).slice(-2)).toEqual(['two.txt', 'voice.wav'])
  const seconds = 'document.querySelector(".messages audio")?.duration'
  await expect.poll(() => page.evaluate(seconds), patience).toBeGreaterThan(0)
  const fileUrl = 'https://example.com/photo.pdf'
  await user.ask('POST', '/messages', { conversationId, payload: { type: 'file', fileUrl, title: 'My photo' } })
  expect(await log().getByRole('link', { name: 'My photo' }).getAttribute('href')).toBe(fileUrl)

  // A picture that grows as it is loaded moves the newest message out of view unless the transcript follows.
  for (let line = 0; line < 20; line++) await user.send(conversationId, `line ${line}`)
  const picture = await readFile(join(import.meta.dirname, '../../docs/images/web-chat-phone.png'))
  const loaded = Promise.withResolvers<void>()
  await page.route('**/files/*/leaf.png', async (route) => {
    await loaded.promise
    await route.continue()
  })
  await page.getByLabel('File to send').setInputFiles({ name: 'leaf.png', mimeType: 'image/png', buffer: picture })
  await button('Send').click()
  await expect.poll(() => button('Remove leaf.png').count(), patience).toBe(0)
  await user.send(conversationId, 'A nice leaf')
  await log().getByText('A nice leaf').waitFor()
  loaded.resolve()
  await expect
    .poll(() => page.evaluate('document.querySelector(".messages li > img").naturalHeight'), patience)
    .toBe(760)
  const below = () =>
    page.evaluate(`{
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.messages')
      scrollHeight - scrollTop - clientHeight
    }`)
  await expect.poll(below, patience).toBeLessThan(2)
})

test('notes stand apart from messages, for members only; whoever wrote one deletes it', async () => {
  const { user, conversationId, asEve } = await open('Nia')
  const { db } = platform.context
  const [handover] = await db('handovers').where({ conversation_id: conversationId })
  const markup = '<img src=x onerror="document.title=1">'
  expect((await asEve('POST', `/handovers/${handover!.id}/notes`, { text: markup })).status).toBe(201)
  const notes = log().getByRole('listitem').filter({ hasText: 'for members only' })
  await notes.getByText(markup).waitFor()
  expect(await notes.getByText('Eve').count()).toBe(1)

  // Nobody answers yet, and a note needs no handover to oneself.
  const note = page.getByRole('textbox', { name: 'Note' })
  await button('Write a note').click()
  await note.fill('She has called, too')
  await note.press('Enter')
  await notes.getByText('She has called, too').waitFor()
  await button('Take over').click()
  await fieldWithFocus('Reply')
  await reply().fill('I am here')
  await button('Note').click()
  await fieldWithFocus('Note')
  await page.keyboard.type('A second one')
  await page.keyboard.press('Enter')
  await notes.getByText('A second one').waitFor()
  await button('Reply').click()
  expect(await reply().inputValue()).toBe('I am here')

  await notes
    .filter({ hasText: 'A second one' })
    .getByRole('button', { name: /^Delete the note/ })
    .click()
  await page.getByRole('dialog', { name: 'Delete the note' }).getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => notes.allTextContents(), patience).toHaveLength(2)
  const { body } = await user.ask('GET', `/conversations/${conversationId}/messages`)
  expect(JSON.stringify(body)).not.toContain('called')
  await user.send(conversationId, 'Anyone?')
  const said = log().getByRole('listitem').filter({ hasText: 'Anyone?' })
  await said.waitFor()
  const events = () => db('events').where({ conversation_id: conversationId, status: 'ignored' })
  await expect.poll(events, patience).toHaveLength(1)
  await said.getByRole('link', { name: 'Event of the message' }).waitFor()
  await expect.poll(() => said.textContent(), patience).not.toMatch(/ignored|pending/)

  // The page still has the notes when people have handed the conversation back, and when they take it again.
  await button('Hand back').click()
  await log().getByText('Handed back: the bot answers').waitFor()
  await expect.poll(() => notes.allTextContents(), patience).toHaveLength(2)
  await button('Take over').click()
  await fieldWithFocus('Reply')
  await expect.poll(() => notes.allTextContents(), patience).toHaveLength(2)
  expect(await log().getByText('Handed over to people: A broken parcel').count()).toBe(1)
})

test('by keyboard alone, a member writes a canned reply, finds it with a slash, changes and deletes it', async () => {
  // An attempt before may have left some.
  await platform.context.db('canned_replies').delete()
  await page.goto(`${platform.url}/console/inbox/canned-replies`)
  await page.getByRole('heading', { name: 'No canned reply yet' }).waitFor()
  const replyList = page.getByRole('list', { name: 'Canned replies' })
  for (const [shortcut, text] of [
    ['return', 'You can send it back for free.'],
    ['refund', 'The money is on its way.'],
    ['hello', 'Hello, I have read what you wrote.'],
  ] as const) {
    await tabTo('New canned reply')
    await page.keyboard.press('Enter')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(`/${shortcut}`)
    await page.keyboard.press('Tab')
    await page.keyboard.type(text)
    await tabTo('Create')
    await page.keyboard.press('Enter')
    await replyList.getByText(`/${shortcut}`, { exact: true }).waitFor()
  }
  await tabTo('Edit /hello')
  await page.keyboard.press('Enter')
  await page.getByLabel('Shortcut').fill('refund')
  await tabTo('Save')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText(`has a canned reply 'refund' already`).waitFor()
  await page.keyboard.press('Escape')
  await tabTo('Delete /hello')
  await page.keyboard.press('Enter')
  await tabTo('Delete')
  await page.keyboard.press('Enter')
  await expect.poll(() => replyList.getByText('/hello').count(), patience).toBe(0)

  const { conversationId } = await open()
  await button('Take over').click()
  await fieldWithFocus('Reply')
  const options = page.getByRole('listbox', { name: 'Canned replies' }).getByRole('option')
  await page.keyboard.type('Hello Ada. /')
  await expect.poll(() => options.allTextContents(), patience).toHaveLength(2)
  await page.keyboard.type('ret')
  await expect.poll(() => options.allTextContents(), patience).toEqual([expect.stringContaining('/return')])
  // The texts are searched too.
  await page.keyboard.press('Backspace')
  await expect.poll(() => options.allTextContents(), patience).toHaveLength(2)
  await page.keyboard.type('t')
  await expect.poll(() => options.allTextContents(), patience).toHaveLength(1)
  // A fast writer selects before the page is painted with the replies that are found.
  await page.evaluate(`(async () => {
    document.execCommand('delete')
    await new Promise((resolve) => setTimeout(resolve))
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }))
  })()`)
  await page.keyboard.press('Enter')
  await expect.poll(() => reply().inputValue(), patience).toBe('Hello Ada. You can send it back for free.')
  await page.keyboard.type(' and/or /none-of-them')
  await page.getByText('No canned reply matches.').waitFor()
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('Reply')
  await page.keyboard.press('Enter')
  const text = 'Hello Ada. You can send it back for free. and/or /none-of-them'
  await expect.poll(() => replies(platform, conversationId), patience).toEqual([text])
})

// The complaints of an attempt that fails, and is repeated, belong to its failure: they are printed with it.
afterEach(({ task }) => {
  if (task.result?.state !== 'fail' || task.name.startsWith('after all that')) return
  for (const complaint of complaints.splice(0)) process.stderr.write(`${task.name}: ${complaint}\n`)
})

test('after all that, the browser has nothing to complain about', () => {
  expect(complaints).toEqual([])
})

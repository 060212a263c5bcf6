import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { endedEvents } from '../support/outcomes.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]
let bot: DeployedBot
let ada: ChatUser
let conversationId: string

const markup = '<img src=x onerror="document.title=1">'

const code = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, userId } = event
    if (event.preview === 'break') throw new Error('no answer ${markup.replaceAll('"', '\\"')}')
    await client.setState({ type: 'user', id: userId, name: 'basket', payload: { note: ${JSON.stringify(markup)} } })
    const options = [{ label: 'Yes', value: 'yes' }, { label: 'No', value: 'no' }]
    await client.createMessage({ conversationId, type: 'choice', payload: { text: 'Shall I send it?', options } })
  },
}`

beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts))
  bot = await platform.createBot(code)
  ada = await createChatUser(bot.chatUrl, { name: `Ada ${markup}`, pictureUrl: 'https://tracker.example/ada.png' })
  conversationId = await ada.createConversation()
  await ada.send(conversationId, 'Where is my order?')
  await endedEvents(platform, bot.id, 1)
  await ada.send(conversationId, 'break')
  await endedEvents(platform, bot.id, 2)
  const asBot = { 'x-bot-id': bot.id }
  await platform.ask('PUT', `/v1/chat/conversations/${conversationId}`, { tags: { team: markup } }, asBot)
  const ben = await createChatUser(bot.chatUrl, { name: 'Ben' })
  await ben.send(await ben.createConversation(), 'My parcel is broken')
  await endedEvents(platform, bot.id, 3)
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const rows = () => page.locator('[data-row]')
const log = () => page.getByRole('log', { name: 'Messages' })
/** The texts of the messages, oldest first. */
const lines = () => log().getByRole('listitem').locator('p:nth-child(2)').allTextContents()
const open = (path = '') => page.goto(`${platform.url}/console/bots/${bot.id}/conversations${path}`)

test('conversations are found by texts, users and tags, and opened and left by keyboard', async () => {
  await open()
  await expect.poll(() => rows().count(), patience).toBe(2)
  expect(await rows().first().textContent()).toContain('Ben')
  await page.keyboard.press('/')
  await page.keyboard.type('my ORDER')
  await expect.poll(() => rows().count(), patience).toBe(1)
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.poll(() => rows().count(), patience).toBe(2)
  await page.getByLabel('User: name or id').fill('ben')
  await page.keyboard.press('Enter')
  await expect.poll(() => rows().count(), patience).toBe(1)
  await page.getByLabel('Tag: key=value').fill('team')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No conversation matches' }).waitFor()
  await page.getByLabel('User: name or id').fill('')
  await page.getByLabel('Tag: key=value').fill(`team=${markup}`)
  await page.keyboard.press('Enter')
  await expect.poll(() => rows().allTextContents(), patience).toEqual([expect.stringContaining(markup)])

  await rows().first().focus()
  await page.keyboard.press('Enter')
  await log().getByText('Where is my order?').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => rows().count(), patience).toBe(1)
})

test('a filter that is being typed stays while the list is refreshed', async () => {
  await open()
  await expect.poll(() => rows().count(), patience).toBe(2)
  const field = page.getByLabel('User: name or id')
  await field.fill('be')
  // The page has drawn the first of two answers when the second one comes.
  for (let refresh = 0; refresh < 2; refresh++)
    await page.waitForResponse((response) => response.url().includes('/conversations?'))
  expect(await field.inputValue()).toBe('be')
})

test('a transcript has both sides, follows new messages, and leads to the events; the audit log has one reading', async () => {
  await page.goto(`${platform.url}/console`)
  const begun = new Date()
  await open(`/${conversationId}`)
  await log().getByText('Shall I send it?').waitFor()
  expect(await log().getByRole('button').count()).toBe(0)
  await log().getByText('The bot failed: ').waitFor()
  await ada.send(conversationId, 'Yes, please')
  await log().getByText('Yes, please').waitFor()
  await expect.poll(() => log().getByText('Shall I send it?').count(), patience).toBe(2)

  const readings = await platform.context
    .db('audit_records')
    .where('created_at', '>=', begun)
    .where({ resource_id: conversationId })
  expect(readings.map(({ operation }) => operation)).toEqual(['getBotConversation'])
  await log().getByRole('listitem').filter({ hasText: 'break' }).getByRole('link').click()
  await page
    .getByRole('complementary', { name: 'Event' })
    .getByText('Why it failed')
    .or(page.getByText('Error'))
    .first()
    .waitFor()
  await page.goto(`${platform.url}/console/audit`)
  await page.getByText('getBotConversation').first().waitFor()
})

test('a message that the bot is writing grows in the transcript, and becomes the message, or disappears', async () => {
  const id = await ada.createConversation()
  await ada.send(id, 'Tell me a story')
  await endedEvents(platform, bot.id, 5)
  const asked: string[] = []
  const note = (request: { url(): string }) => asked.push(request.url())
  await open(`/${id}`)
  await log().getByText('Shall I send it?').waitFor()
  const writing = () => log().getByRole('list', { name: 'Being written' }).locator('p:last-child').allTextContents()
  const asBot = (path: string, body: object) => platform.ask('POST', `/v1/chat${path}`, body, { 'x-bot-id': bot.id })
  const stream = (streamId: string, signal: object) => {
    const given = { streamId, createdAt: new Date().toISOString(), ...signal }
    return asBot('/actions', { type: 'chat:publishMessageStream', input: { conversationId: id, signal: given } })
  }
  // The lines may begin after the page is there.
  await expect
    .poll(async () => {
      await stream('probe', { type: 'delta', sequence: 0, delta: 'probe' })
      return writing()
    }, patience)
    .not.toEqual([])
  await stream('probe', { type: 'abort' })
  await expect.poll(writing, patience).toEqual([])

  page.on('request', note)
  await stream('story', { type: 'delta', sequence: 0, delta: 'Once upon ' })
  await expect.poll(writing, patience).toEqual(['Once upon '])
  await stream('story', { type: 'delta', sequence: 1, delta: markup })
  await expect.poll(writing, patience).toEqual([`Once upon ${markup}`])
  await stream('story', { type: 'delta', sequence: 3, delta: 'the end' })
  await expect.poll(writing, patience).toEqual([`Once upon ${markup} … the end`])
  page.off('request', note)
  // Parts cause no request; those in the time of this test are of the slow look.
  expect(asked.filter((url) => url.includes('/messages')).length).toBeLessThanOrEqual(1)
  const payload = { text: `Once upon ${markup} a time, the end`, metadata: { streamId: 'story' } }
  await asBot('/messages', { conversationId: id, userId: bot.id, type: 'text', payload, tags: {} })
  await log().getByText('a time, the end').waitFor()
  await expect.poll(writing, patience).toEqual([])
  expect(await log().getByText('the end').count()).toBe(1)
})

test('names, tags, states and payloads of strangers are text, and no address of theirs is loaded', async () => {
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  const at = Date.now() + 60_000
  const hostile: [string, object][] = [
    ['image', { imageUrl: 'https://tracker.example/pixel.png' }],
    ['file', { fileUrl: 'javascript:alert(1)', title: 'a file' }],
    ['choice', { text: markup, options: { length: 1e9 } }],
    ['carousel', { items: [null, 7, { title: { toString: 1 }, actions: 'none' }] }],
    ['bloc', { items: [{ type: 'bloc', payload: { items: [] } }] }],
    ['text', { text: { nested: markup } }],
    [markup, { '<b>': markup }],
  ]
  // In the inbox a plugin sends what a user has written.
  const bothWays = (['incoming', 'outgoing'] as const).flatMap((direction) =>
    hostile.map(([type, payload]) => ({ direction, type, payload })),
  )
  const rowsToInsert = bothWays.map(({ direction, type, payload }, index) => ({
    id: newId('msg'),
    bot_id: bot.id,
    conversation_id: conversationId,
    user_id: ada.userId,
    type,
    payload: payload as Record<string, unknown>,
    tags: { [markup]: markup },
    direction,
    created_at: new Date(at + index),
    updated_at: new Date(at + index),
  }))
  await platform.context.db('messages').insert(rowsToInsert)
  await open(`/${conversationId}`)
  await expect.poll(() => log().getByText('image: https://tracker.example/pixel.png').count(), patience).toBe(2)
  await expect.poll(() => log().getByRole('listitem').count(), patience).toBeGreaterThan(bothWays.length)
  const about = page.getByRole('complementary', { name: 'About the conversation' })
  await about.getByText('basket').click()
  await about.getByText('onerror').last().waitFor()
  expect(await page.locator('.conversation').locator('img, b').count()).toBe(0)
  expect(await log().locator('a[href^="javascript:"]').count()).toBe(0)
  expect(requested.filter((url) => url.includes('tracker.example'))).toEqual([])
  for (const size of [
    { width: 390, height: 844 },
    { width: 1280, height: 800 },
  ]) {
    await page.setViewportSize(size)
    await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth'), patience).toBe(size.width)
  }
  expect(complaints).toEqual([])
})

test('older messages are loaded above the newer ones', async () => {
  const other = await createChatUser(bot.chatUrl, { name: 'Cleo' })
  const id = await other.createConversation()
  await platform.context.db.raw(
    `insert into messages (id, bot_id, conversation_id, user_id, type, payload, direction, created_at, updated_at)
     select 'msg_old' || n, ?, ?, ?, 'text', jsonb_build_object('text', 'line ' || n), 'incoming', at, at
     from generate_series(1, 120) n, lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at) moment`,
    [bot.id, id, other.userId],
  )
  await open(`/${id}`)
  await expect.poll(async () => (await lines()).length, patience).toBe(50)
  const older = page.getByRole('button', { name: 'Show older messages' })
  for (const [count, first] of [
    [100, 'line 71'],
    [120, 'line 21'],
  ] as const) {
    await older.scrollIntoViewIfNeeded()
    await older.press('Enter')
    await expect.poll(async () => (await lines()).length, patience).toBe(count)
    // The messages that were in view are still there.
    const { y } = (await log().boundingBox())!
    const distance = async () => (await log().getByText(first, { exact: true }).boundingBox())!.y - y
    await expect.poll(distance, patience).toBeGreaterThan(0)
    expect(await distance()).toBeLessThan(200)
  }
  // The button is gone, and the focus is near.
  await expect.poll(() => page.evaluate('document.activeElement.role'), patience).toBe('log')
  expect(await lines()).toEqual(Array.from({ length: 120 }, (_, index) => `line ${index + 1}`))
  await open('/conv_none')
  await page.getByRole('heading', { name: 'Conversation not found' }).waitFor()
})

test('a viewer learns which role reads conversations', async () => {
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const context = parts.adopt(await page.context().browser()!.newContext(), (open) => open.close())
  const view = await context.newPage()
  await signIn(view, platform, authorization.replace('Bearer ', ''))
  await view.goto(`${platform.url}/console/bots/${bot.id}/conversations`)
  await view.getByRole('heading', { name: 'Conversations are for developers' }).waitFor()
  expect(await view.locator('[data-row]').count()).toBe(0)
})

test('an administrator exports a user to a file, and erases the user and the rows that name the person after a confirmation', async () => {
  const user = await createChatUser(bot.chatUrl, { name: 'Dora' })
  const id = await user.createConversation()
  await user.send(id, 'It is dora@example.org')
  const cleo = await createChatUser(bot.chatUrl, { name: 'Cleo' })
  const theirs = await cleo.createConversation()
  await cleo.send(theirs, 'Write to dora@example.org')
  const messages = async () => {
    const rows = await platform.context
      .db('messages')
      .where({ direction: 'incoming', bot_id: bot.id })
      .select('payload')
    return rows.map(({ payload }) => String(payload['text'])).filter((text) => text.includes('dora'))
  }
  await expect
    .poll(() => platform.context.db('events').where({ bot_id: bot.id, status: 'pending' }), patience)
    .toEqual([])
  await open(`/${id}`)
  const about = page.getByRole('complementary', { name: 'About the conversation' })
  const downloading = page.waitForEvent('download')
  await about.getByRole('button', { name: 'Export user' }).click()
  const saved = await downloading
  expect(saved.suggestedFilename()).toBe(`${user.userId}.ndjson`)
  const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\n')
  expect(JSON.parse(lines.at(-1)!)).toEqual({ kind: 'end', rows: lines.length - 1 })
  expect(lines.join()).toContain('It is dora@example.org')

  await about.getByRole('button', { name: 'Erase user' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this person' })
  const submit = dialog.getByRole('button', { name: 'Erase for good' })
  expect(await submit.isDisabled()).toBe(true)
  await dialog.getByLabel(/^Addresses, telephone numbers/).fill('dora@example.org')
  await dialog.getByLabel(/^Type/).fill('erase')
  await submit.click()
  await dialog.getByText('The person is erased.').waitFor({ timeout: 60_000 })
  expect(await messages()).toEqual(['Write to dora@example.org'])
  await dialog.getByText(/other rows? names? the person/).waitFor()
  await dialog.getByRole('button', { name: 'Erase these rows too' }).click()
  await expect.poll(messages, patience).toEqual([])
  await dialog.getByText('The person is erased.').waitFor({ timeout: 60_000 })
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect.poll(() => new URL(page.url()).pathname, patience).toBe(`/console/bots/${bot.id}/conversations`)
  expect(await platform.context.db('users').where({ id: user.userId })).toEqual([])
  // The page looks for the conversation that is gone.
  expect(complaints.filter((line) => !line.includes('status of 404'))).toEqual([])
}, 120_000)

import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { listen } from '../support/event-stream.ts'
import { createMember } from '../support/members.ts'
import { replies } from '../support/outcomes.ts'
import type { Platform } from '../support/platform.ts'
import { installing, openConsole, patience, reloadAndStay } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]
/** The member who is signed in. */
let agent: Record<string, string>

beforeAll(async () => {
  // Tests take pages offline for a moment. Notifications need a whole Chromium.
  ;({ platform, page, complaints } = await openConsole(parts, /ERR_INTERNET_DISCONNECTED|ERR_FAILED/, true))
  agent = await createMember(platform, 'agent', platform.workspaceId)
  await signIn(page)
}, installing)
afterAll(() => parts.disposeAsync())

async function signIn(page: Page): Promise<void> {
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill(agent['authorization']!.slice('Bearer '.length))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
}

const queue = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
const list = (name: string) => page.getByRole('region', { name, exact: true })
const rows = (name: string) => list(name).getByRole('link')
const names = (name: string) => list(name).locator('.who').allTextContents()
const log = () => page.getByRole('log', { name: 'Messages' })
const search = () => page.getByRole('searchbox', { name: 'Search handovers' })

/** The name of the element that has the focus, empty for none: of a row, the name of the user. */
const focused = () =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement
    if (element === document.body) return ''
    return element.querySelector('.who')?.textContent ?? element.getAttribute('aria-label') ?? element.textContent.trim()
  })()`)

/** Waits until a field has the focus. The button that shows it has the same name. */
const fieldWithFocus = (name: string) => page.getByRole('textbox', { name }).and(page.locator(':focus')).waitFor()

/** Presses Tab until an element has the focus. */
async function tabTo(name: string): Promise<void> {
  for (let presses = 0; presses < 40 && (await focused()) !== name; presses++) await page.keyboard.press('Tab')
  expect(await focused()).toBe(name)
}

/** A conversation of a bot that waits for a person. */
async function handOver(name: string, title: string) {
  const bot = await platform.createBot('export const hooks = {}', { name: `bot of ${name}` })
  const user = await createChatUser(bot.chatUrl, { name })
  const id = await user.createConversation()
  await user.send(id, 'Is anyone there?')
  const path = `/v1/chat/conversations/${id}/handover`
  const { body } = await platform.ask('POST', path, { title }, { 'x-bot-id': bot.id })
  return { id, user, botId: bot.id, chatUrl: bot.chatUrl, handoverId: body.handover.id as string }
}

/** Gives a conversation to another member. */
async function assign(botId: string, handoverId: string, member: Record<string, string>): Promise<void> {
  const { body } = await platform.ask('GET', '/v1/admin/workspace-members/me', undefined, member)
  const path = `/v1/admin/bots/${botId}/handovers/${handoverId}/member`
  expect((await platform.ask('PUT', path, { memberId: body.id })).status).toBe(200)
}

/** The open handovers, with what the agent has not read. */
const asAgent = async () => (await platform.ask('GET', '/v1/admin/handovers', undefined, agent)).body.handovers

/** Hands the conversations back that are still open and forgets settings, so that the next test begins with an empty inbox. */
async function handAllBack(): Promise<void> {
  const { body } = await platform.ask('GET', '/v1/admin/handovers?pageSize=100')
  for (const { bot, handover } of body.handovers) {
    await platform.ask('POST', `/v1/admin/bots/${bot.id}/handovers/${handover.id}/resolve`, {})
  }
  await page.evaluate(
    'for (const name of ["inbox.sound", "inbox.notifications", "single-keys-off"]) localStorage.removeItem(`isobot.${name}`)',
  )
  await page.goto(`${platform.url}/console`)
  await page.getByText('No conversation waits for a person.').waitFor()
}

// An attempt that fails leaves nothing to the next one.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  await page.unrouteAll()
  await handAllBack()
})

test('an agent finds the conversations of all bots that wait, the longest first, and answers one beside the list', async () => {
  await page.getByText('No conversation waits for a person.').waitFor()
  const first = await handOver('Ada', 'A broken parcel')
  const second = await handOver('Bob', 'A refund')
  await expect.poll(() => names('Waiting'), patience).toEqual(['Ada', 'Bob'])
  await list('Waiting').getByText('A broken parcel').waitFor()
  await list('Waiting').getByText('bot of Ada, chat').waitFor()
  await rows('Waiting').filter({ hasText: 'Bob' }).click()
  await log().getByText('Is anyone there?').waitFor()
  expect(await names('Waiting')).toEqual(['Ada', 'Bob'])
  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByRole('textbox', { name: 'Reply' }).fill('Yes, I am')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(platform, second.id), patience).toEqual(['Yes, I am'])
  await expect.poll(() => names('Waiting'), patience).toEqual(['Ada'])
  const failure = { status: 'failed', failure_reason: 'The address does not exist' } as const
  await platform.context.db('events').where({ conversation_id: second.id }).update(failure)
  await log().getByText('The bot failed: The address does not exist').waitFor()
  expect(await log().getByRole('link').count()).toBe(0)

  await queue('Mine')
  await rows('Mine').getByText('You answer').waitFor()
  await rows('Mine').getByText('You: Yes, I am').waitFor()
  await queue('All open')
  await expect.poll(() => names('All open'), patience).toEqual(['Ada', 'Bob'])
  await platform.ask('POST', `/v1/admin/bots/${first.botId}/handovers/${first.handoverId}/resolve`, {})
  await expect.poll(() => names('All open'), patience).toEqual(['Bob'])
  await queue('Resolved')
  await expect.poll(() => names('Resolved'), patience).toEqual(['Ada'])
  await handAllBack()
})

test('while the platform is not reached, the newest message and the unsent text stay in view, and the browser asks before it loses the text', async () => {
  const { id, user } = await handOver('Noa', 'A long conversation')
  for (let number = 1; number <= 15; number++) await user.send(id, `Message ${number}`)
  await user.send(id, 'שלום?')
  await rows('Waiting').filter({ hasText: 'Noa' }).click()
  await page.getByRole('button', { name: 'Take over' }).click()
  const reply = page.getByRole('textbox', { name: 'Reply' })
  await reply.fill('כן?')
  const newest = log().getByText('שלום?')
  const fromRightToLeft = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.transcript [dir=auto]:dir(rtl)')].map((one) => one.value ?? one.textContent)`,
  )
  expect(fromRightToLeft).toEqual(['שלום?', 'כן?'])
  await page.route('**/v1/admin/bots/*/conversations/**', (route) => route.abort())
  await page.locator('.inbox-conversation').getByText('The server cannot be reached').waitFor()
  for (const shown of [newest, reply]) {
    const { y, height } = (await shown.boundingBox())!
    expect(y).toBeGreaterThan(0)
    expect(y + height).toBeLessThan(800)
  }
  await page.unroute('**/v1/admin/bots/*/conversations/**')
  await reloadAndStay(page)
  expect(await reply.inputValue()).toBe('כן?')
  await reply.press('Enter')
  await expect.poll(() => replies(platform, id), patience).toEqual(['כן?'])
  await handAllBack()
})

test('messages that the member has not read are counted, until their conversation is open', async () => {
  const { id, user, handoverId } = await handOver('Cy', 'A question')
  const other = await handOver('Dee', 'Another question')
  await expect.poll(() => names('Waiting'), patience).toEqual(['Cy', 'Dee'])
  await user.send(id, 'Hello?')
  await user.send(id, 'Hello??')
  const unread = rows('Waiting').locator('.count')
  await expect.poll(() => unread.allTextContents(), patience).toEqual(['2 unread'])
  await rows('Waiting').first().click()
  await log().getByText('Hello??').waitFor()
  await expect.poll(() => unread.count(), patience).toBe(0)
  await rows('Waiting').last().click()
  const reads = () => platform.context.db('handover_reads').whereIn('handover_id', [handoverId, other.handoverId])
  await expect.poll(reads, patience).toHaveLength(2)
  await page.reload()
  await expect.poll(() => names('Waiting'), patience).toEqual(['Cy', 'Dee'])
  expect(await unread.count()).toBe(0)
  await handAllBack()
})

test('a search finds handovers by user, title and id, in every queue', async () => {
  await handOver('Ed', 'A parcel')
  const { id, botId, handoverId } = await handOver('Flo', 'An invoice')
  await expect.poll(() => names('Waiting'), patience).toEqual(['Ed', 'Flo'])
  await search().fill('INVOICE')
  await expect.poll(() => names('Waiting'), patience).toEqual(['Flo'])
  await search().fill(id)
  await expect.poll(() => names('Waiting'), patience).toEqual(['Flo'])
  await platform.ask('POST', `/v1/admin/bots/${botId}/handovers/${handoverId}/resolve`, {})
  await page.getByRole('heading', { name: 'No handover matches' }).waitFor()
  await queue('Resolved')
  await expect.poll(() => names('Resolved'), patience).toEqual(['Flo'])
  await rows('Resolved').click()
  await log().getByText('Handed back: the bot answers').waitFor()
  await handAllBack()
})

test('the shortcuts are there also while nothing has the focus, and letters act on nothing then', async () => {
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('t')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Hand back to the bot').waitFor()
  await page.keyboard.press('Escape')
  await handOver('Joe', 'A question')
  await rows('Waiting').click()
  await log().getByText('Is anyone there?').waitFor()
  const take = page.getByRole('button', { name: 'Take over' })
  await take.waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('t')
  await fieldWithFocus('Reply')
  expect(await take.count()).toBe(0)
  await handAllBack()
})

test('single characters are no shortcuts once a member has turned them off, also after a reload', async () => {
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.getByRole('checkbox', { name: 'Use shortcuts of a single character' }).uncheck()
  await page.keyboard.press('Escape')
  await handOver('Kim', 'A question')
  await page.reload()
  await rows('Waiting').click()
  const take = page.getByRole('button', { name: 'Take over' })
  await take.waitFor()
  await page.evaluate('document.activeElement.blur()')
  for (const key of ['/', '?', 'i', 't']) await page.keyboard.press(key)
  expect(await focused()).toBe('')
  expect(await dialog.count()).toBe(0)
  expect(await page.getByRole('complementary', { name: 'About the conversation' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await dialog.getByRole('checkbox', { name: 'Use shortcuts of a single character' }).check()
  await page.keyboard.press('Escape')
  await page.evaluate('document.activeElement.blur()')
  expect(await take.count()).toBe(1)
  await page.keyboard.press('t')
  await fieldWithFocus('Reply')
  await handAllBack()
})

test('by keyboard alone, an agent works from the list: opens, takes over, answers, notes, hands back, and goes on', async () => {
  const first = await handOver('Gil', 'The first')
  await handOver('Hal', 'The second')
  await handOver('Ida', 'The third')
  await expect.poll(() => names('Waiting'), patience).toEqual(['Gil', 'Hal', 'Ida'])
  await tabTo('Gil')
  // One row is in the order of the Tab key; the arrows move between them.
  for (const [key, name] of [
    ['ArrowDown', 'Hal'],
    ['End', 'Ida'],
    ['Home', 'Gil'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await focused()).toBe(name)
  }
  await page.keyboard.press('Enter')
  await log().getByText('Is anyone there?').waitFor()
  await expect.poll(() => page.evaluate(`document.activeElement.closest('.inbox-open') !== null`), patience).toBe(true)
  await page.keyboard.press('Escape')
  await expect.poll(focused, patience).toBe('Gil')

  // The key acts on the row that has the focus, and the conversation opens.
  await page.keyboard.press('t')
  await fieldWithFocus('Reply')
  await page.keyboard.type('Hello, no shortcut: tnae')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(platform, first.id), patience).toEqual(['Hello, no shortcut: tnae'])
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  // At once: a fast writer's next letter is text, and no shortcut.
  await page.keyboard.type('eat: she is satisfied')
  await page.keyboard.press('Enter')
  await log().getByText('eat: she is satisfied').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('i')
  await page.getByRole('complementary', { name: 'About the conversation' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Hand back to the bot').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  await page.getByText('The bot answers', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  // The row has left the queue.
  await expect.poll(focused, patience).toBe('Hal')
  const { body } = await platform.ask('GET', '/v1/admin/handovers?status=pending')
  const [hal] = body.handovers
  await platform.ask('POST', `/v1/admin/bots/${hal.bot.id}/handovers/${hal.handover.id}/resolve`, {})
  await expect.poll(focused, patience).toBe('Ida')
  await page.keyboard.press('/')
  expect(await focused()).toBe('Search handovers')
  await handAllBack()
})

test('the title has the number of new handovers; sound and notifications of the browser are off until they are chosen', async () => {
  await page.context().grantPermissions(['notifications'])
  await page.addInitScript(`
    window.announced = []
    const { start } = OscillatorNode.prototype
    OscillatorNode.prototype.start = function (...given) { announced.push('tone'); return start.apply(this, given) }
    const Shown = Notification
    window.Notification = class extends Shown {
      constructor(title, options) { super(title, options); announced.push(title + ': ' + options.body) }
    }`)
  await page.reload()
  await page.getByText('No conversation waits for a person.').waitFor()
  const announced = () => page.evaluate<string[]>('announced.splice(0)')
  const { id, user } = await handOver('Lea', 'A question')
  await expect.poll(() => page.title(), patience).toBe('(1) Inbox · Isobot')
  expect(await announced()).toEqual([])
  await page.getByRole('button', { name: 'Notifications' }).click()
  await page.getByLabel('Play a sound').check()
  await page.getByLabel('Show notifications of the browser').check()
  await page.keyboard.press('Escape')
  expect(await announced()).toEqual(['tone', 'tone'])

  await rows('Waiting').click()
  await page.getByRole('button', { name: 'Take over' }).click()
  await expect.poll(() => page.title(), patience).toBe('Inbox · Isobot')
  await user.send(id, 'This one is seen')
  await log().getByText('This one is seen').waitFor()
  await expect.poll(asAgent, patience).toMatchObject([{ handover: { unreadCount: 0 } }])
  // As in another tab of the browser.
  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`)
  await user.send(id, 'This one is not')
  await expect.poll(() => page.title(), patience).toBe('(1) Inbox · Isobot')
  expect(await announced()).toEqual(['tone', 'tone', 'Lea has written: A question · bot of Lea'])
  await handOver('Max', 'Another question')
  await expect.poll(() => page.title(), patience).toBe('(2) Inbox · Isobot')
  expect(await announced()).toEqual(['tone', 'tone', 'Max waits for a person: Another question · bot of Max'])
  await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`)
  await expect.poll(() => page.title(), patience).toBe('(1) Inbox · Isobot')
  await handAllBack()
})

test('of more conversations than a page has, those of all loaded pages are followed, and one that moves up is no news', async () => {
  const colleague = await createMember(platform, 'agent', platform.workspaceId)
  const bot = await platform.createBot('export const hooks = {}', { name: 'busy' })
  const user = await createChatUser(bot.chatUrl, { name: 'Kim' })
  const wait = async (title: string) => {
    const path = `/v1/chat/conversations/${await user.createConversation()}/handover`
    const { body } = await platform.ask('POST', path, { title }, { 'x-bot-id': bot.id })
    return body.handover.id as string
  }
  const take = async (handoverId: string) => {
    const path = `/v1/admin/bots/${bot.id}/handovers/${handoverId}/member`
    const { body } = await platform.ask('GET', '/v1/admin/workspace-members/me', undefined, colleague)
    expect((await platform.ask('PUT', path, { memberId: body.id }, colleague)).status).toBe(200)
  }
  const ids: string[] = []
  for (let number = 0; number < 102; number++) ids.push(await wait(`Question ${number}`))
  await page.evaluate(`localStorage.setItem('isobot.inbox.sound', 'on')`)
  await page.reload()
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => rows('Waiting').count(), patience).toBe(102)
  await take(ids[101]!)
  await expect.poll(() => rows('Waiting').count(), patience).toBe(101)
  await wait('The newest question')
  await rows('Waiting').filter({ hasText: 'The newest question' }).waitFor()
  // The first of the second page becomes the last of the first one.
  await take(ids[0]!)
  await expect.poll(() => rows('Waiting').count(), patience).toBe(101)
  expect(await page.evaluate('announced')).toEqual([])
  await platform.context.db('handovers').where({ bot_id: bot.id }).update({ status: 'resolved', ended_at: new Date() })
  await handAllBack()
})

test('a conversation that another member assigns is announced, also while the queue that it leaves is still shown', async () => {
  await page.evaluate(
    `for (const name of ['sound', 'notifications']) localStorage.setItem('isobot.inbox.' + name, 'on')`,
  )
  await page.reload()
  await page.getByText('No conversation waits for a person.').waitFor()
  // Sounds need a gesture.
  await page.getByRole('heading', { name: 'Inbox' }).click()
  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`)
  const announced = () => page.evaluate<string[]>('announced')
  const { botId, handoverId } = await handOver('Uma', 'A question')
  const waits = ['tone', 'tone', 'Uma waits for a person: A question · bot of Uma']
  await expect.poll(announced, patience).toEqual(waits)
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/admin/handovers?*status=pending*', async (route) => {
    await held.promise
    await route.continue()
  })
  await assign(botId, handoverId, agent)
  const isAssigned = ['tone', 'tone', 'Uma is assigned to you: A question · bot of Uma']
  await expect.poll(announced, patience).toEqual([...waits, ...isAssigned])
  held.resolve()
  await expect.poll(() => names('Waiting'), patience).toEqual([])
  expect(await announced()).toHaveLength(6)
  await page.unroute('**/v1/admin/handovers?*status=pending*')
  await handAllBack()
})

test('a note that a member writes stays a note when a colleague assigns the conversation to the member meanwhile', async () => {
  const { id, botId, handoverId } = await handOver('Vic', 'A complaint')
  await rows('Waiting').filter({ hasText: 'Vic' }).click()
  await page.getByRole('button', { name: 'Write a note' }).click()
  await fieldWithFocus('Note')
  await page.keyboard.type('Careful, ')
  await assign(botId, handoverId, agent)
  await page.getByText('You answer', { exact: true }).waitFor()
  await page.keyboard.type('he has said this before')
  await page.keyboard.press('Enter')
  const note = log().getByRole('listitem').filter({ hasText: 'for members only' })
  await note.getByText('Careful, he has said this before').waitFor()
  expect(await replies(platform, id)).toEqual([])
  await page.getByRole('button', { name: 'Reply', exact: true }).click()
  await fieldWithFocus('Reply')
  await page.keyboard.type('How can I help?')
  await page.keyboard.press('Enter')
  await expect.poll(() => replies(platform, id), patience).toEqual(['How can I help?'])
  await handAllBack()
})

test('the letters of a reply are no shortcuts when a colleague takes the conversation, or hands it back, meanwhile', async () => {
  const { id, botId, handoverId } = await handOver('Wes', 'A question')
  const owner = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId }
  const status = async () => (await platform.context.db('handovers').where({ id: handoverId }).first('status'))!.status
  await rows('Waiting').filter({ hasText: 'Wes' }).click()
  await page.getByRole('button', { name: 'Take over' }).click()
  await fieldWithFocus('Reply')
  const reply = page.getByRole('textbox', { name: 'Reply' })
  await page.keyboard.type('Dear ')
  await assign(botId, handoverId, owner)
  await page
    .locator('.handover')
    .getByText(/^(?!You).* answers$/)
    .waitFor()
  await page.keyboard.type('teen')
  expect(await reply.inputValue()).toBe('Dear teen')
  expect(await page.getByText('You no longer answer here. The text is kept.').count()).toBe(1)
  await platform.ask('POST', `/v1/admin/bots/${botId}/handovers/${handoverId}/resolve`, {})
  await page.getByText('The bot answers', { exact: true }).waitFor()
  await page.keyboard.type('ager')
  expect(await reply.inputValue()).toBe('Dear teenager')
  await page.keyboard.press('Escape')
  await expect.poll(() => reply.count(), patience).toBe(0)
  expect([await status(), await replies(platform, id)]).toEqual(['resolved', []])
  await page.keyboard.press('t')
  await fieldWithFocus('Reply')
  expect(await reply.inputValue()).toBe('Dear teenager')
  await reply.fill('')
  await handAllBack()
})

test('a conversation that is assigned to the member takes the focus from no field in which the member writes', async () => {
  const { botId, handoverId } = await handOver('Xia', 'A question')
  await rows('Waiting').filter({ hasText: 'Xia' }).click()
  await log().getByText('Is anyone there?').waitFor()
  await search().click()
  await page.keyboard.type('Xi')
  await assign(botId, handoverId, agent)
  await page.getByRole('textbox', { name: 'Reply' }).waitFor()
  await page.keyboard.type('a')
  expect(await search().inputValue()).toBe('Xia')
  await search().fill('')
  await handAllBack()
})

test('news come by the live lines, without asking again, and again after their connection has broken', async () => {
  const own = await page.context().newPage()
  // Timers that ask for news never end.
  await own.addInitScript(`
    const { setTimeout } = window
    window.setTimeout = (act, ms, ...given) => (ms > 2000 ? 0 : setTimeout(act, ms, ...given))`)
  await signIn(own)
  await own.getByText('No conversation waits for a person.').waitFor()
  const row = (name: string) => own.getByRole('region', { name: 'Waiting' }).getByRole('link', { name })
  const { id, user, botId, handoverId } = await handOver('Ned', 'A question')
  await row('Ned').click()
  const said = own.getByRole('log', { name: 'Messages' })
  await said.getByText('Is anyone there?').waitFor()
  await user.send(id, 'Still nobody?')
  await said.getByText('Still nobody?').waitFor()
  await platform.ask('POST', `/v1/admin/bots/${botId}/handovers/${handoverId}/resolve`, {})
  await said.getByText('Handed back: the bot answers').waitFor()
  await expect.poll(() => row('Ned').count(), patience).toBe(0)

  await own.context().setOffline(true)
  await handOver('Ola', 'Asked while the agent is offline')
  await own.context().setOffline(false)
  await row('Ola').waitFor()
  await own.close()
  await handAllBack()
})

test('an agent is online while the inbox is open, or away, and sees at once which colleagues are', async () => {
  const eve = await createMember(platform, 'agent', platform.workspaceId)
  const { body: account } = await platform.ask('GET', '/v1/admin/account/me', undefined, eve)
  await platform.context.db('accounts').where({ id: account.account.id }).update({ name: 'Eve' })
  const seen = async () => {
    const { members } = (await platform.ask('GET', '/v1/admin/presence', undefined, eve)).body
    const mine = (await platform.ask('GET', '/v1/admin/account/me', undefined, agent)).body.account.id
    return (members as { id: string; status: string }[]).find(({ id }) => id === mine)?.status
  }
  await expect.poll(seen, patience).toBe('online')
  await page.getByRole('button', { name: 'Online: be away' }).click()
  await page.getByRole('button', { name: 'Away: be online' }).waitFor()
  expect(await seen()).toBe('away')
  await page.reload()
  await page.getByRole('button', { name: 'Away: be online' }).click()
  await expect.poll(seen, patience).toBe('online')

  await page.getByRole('button', { name: 'Colleagues' }).click()
  const colleague = page.getByRole('dialog', { name: 'Colleagues' }).getByRole('listitem').filter({ hasText: 'Eve' })
  const status = () => colleague.locator('.status').textContent()
  await expect.poll(status, patience).toBe('offline')
  await platform.ask('PUT', '/v1/admin/presence', {}, eve)
  await expect.poll(status, patience).toBe('online')
  await platform.ask('PUT', '/v1/admin/presence', { away: true }, eve)
  await expect.poll(status, patience).toBe('away')
  await platform.ask('DELETE', '/v1/admin/presence', undefined, eve)
  await expect.poll(status, patience).toBe('offline')
  await page.keyboard.press('Escape')
})

test('the agent sees that the user types, and the user that the agent does; files of the agent reach the user', async () => {
  const { id, user, chatUrl } = await handOver('Pia', 'A question')
  const type = (isTyping: boolean) => user.ask('POST', `/conversations/${id}/typing`, { isTyping })
  await rows('Waiting').filter({ hasText: 'Pia' }).click()
  await page.getByRole('button', { name: 'Take over' }).click()
  const typing = page.getByText('Pia types …')
  await type(true)
  await typing.waitFor()
  await type(false)
  await expect.poll(() => typing.count(), patience).toBe(0)
  await type(true)
  await typing.waitFor()
  await user.send(id, 'My parcel is broken')
  await expect.poll(() => typing.count(), patience).toBe(0)

  const stream = await listen(chatUrl, user.key, id)
  // The user's last message may come after the stream has begun.
  const fromAgent = () => stream.frames().filter(({ data }) => data.userId !== user.userId)
  const frames = () => fromAgent().map(({ type }) => type)
  const reply = page.getByRole('textbox', { name: 'Reply' })
  await reply.fill('I look')
  await expect.poll(frames, patience).toEqual(['typing_started'])
  await reply.fill('I look at')
  await reply.fill('')
  await expect.poll(frames, patience).toEqual(['typing_started', 'typing_stopped'])

  const buffer = Buffer.from('89504e470d0a1a0a', 'hex')
  await page.getByLabel('File to send').setInputFiles({ name: 'label.png', mimeType: 'image/png', buffer })
  await page.getByRole('button', { name: 'Send' }).click()
  await expect.poll(frames, patience).toEqual(['typing_started', 'typing_stopped', 'message_created'])
  const { payload } = fromAgent().at(-1)!.data
  expect(payload.type).toBe('image')
  const content = await fetch(payload.imageUrl as string)
  expect([content.headers.get('content-type'), Buffer.from(await content.arrayBuffer())]).toEqual(['image/png', buffer])
  await stream.close()
  await handAllBack()
})

test('on a phone there is the list or the conversation', async () => {
  await handOver('Jo', 'A title that is rather long for a small screen, as titles are that a model has written')
  await page.setViewportSize({ width: 320, height: 640 })
  const width = () => page.evaluate<number>('document.documentElement.scrollWidth')
  await rows('Waiting').waitFor()
  expect(await width()).toBe(320)
  await rows('Waiting').click()
  await log().getByText('Is anyone there?').waitFor()
  expect(await rows('Waiting').isVisible()).toBe(false)
  expect(await width()).toBe(320)
  await page.getByRole('button', { name: 'Details' }).click()
  expect(await width()).toBe(320)
  await page.keyboard.press('Escape')
  await expect.poll(focused, patience).toBe('Jo')
  await page.setViewportSize({ width: 1280, height: 800 })
  await handAllBack()
})

/** Whether an element is in a window of 400 pixels, from top to bottom. */
async function isInView(shown: Locator): Promise<boolean> {
  const { y, height } = (await shown.boundingBox())!
  return y >= 0 && y + height <= 400
}

test('in a low window, as at 200 %, the newest message is in view, and so is the field of the reply that has the focus', async () => {
  const description = 'The parcel of order 17 is broken, and the customer wants the money back. '.repeat(4)
  const { user, id, handoverId } = await handOver('Yan', 'A broken parcel')
  await platform.context.db('handovers').where({ id: handoverId }).update({ description })
  for (let number = 1; number <= 10; number++) await user.send(id, `Message ${number}`)
  await page.setViewportSize({ width: 640, height: 400 })
  await rows('Waiting').click()
  const newest = log().getByText('Message 10', { exact: true })
  await newest.waitFor()
  await log().hover()
  await expect.poll(() => isInView(newest), patience).toBe(true)
  expect((await log().boundingBox())!.height).toBeGreaterThan(150)
  await page.getByRole('button', { name: 'Take over' }).click()
  await fieldWithFocus('Reply')
  await expect.poll(() => isInView(page.getByRole('textbox', { name: 'Reply' })), patience).toBe(true)
  expect(await isInView(newest)).toBe(true)
  await page.setViewportSize({ width: 1280, height: 800 })
  await handAllBack()
})

test('an agent sees the sections of an agent, and no others', async () => {
  const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
  await expect.poll(() => sections.allTextContents(), patience).toEqual(['Inbox', 'Members', 'Tokens'])
})

test('agents of other workspaces find an empty inbox', async () => {
  await handOver('Kim', 'Not for others')
  const stranger = await createMember(platform, 'agent')
  const { body } = await platform.ask('GET', '/v1/admin/handovers', undefined, stranger)
  expect(body.handovers).toEqual([])
})

test('after all that, the browser has nothing to complain about', () => {
  expect(complaints).toEqual([])
})

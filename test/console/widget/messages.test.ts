import { afterAll, beforeAll, expect, test } from 'vitest'
import { installWebchat } from '../../support/webchat.ts'
import { installing } from '../open-console.ts'
import {
  bubble,
  code,
  focused,
  openWidget,
  patience,
  picture,
  say,
  tabTo,
  violations,
  type Widget,
} from './open-widget.ts'

const parts = new AsyncDisposableStack()
let platform: Widget['platform']
let visit: Widget['visit']
let countVisitors: Widget['countVisitors']
beforeAll(async () => {
  ;({ platform, visit, countVisitors } = await openWidget(parts))
}, installing)
afterAll(() => parts.disposeAsync())

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

test('the newest message is in view when the chat is opened because of its badge, and when a keyboard takes half of the screen', async () => {
  const { page, chat } = await visit({}, { viewport: { width: 390, height: 760 } })
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  for (let number = 1; number <= 6; number++) {
    await say(chat, `number ${number}`)
    await chat.getByText(`You said number ${number}`).waitFor()
  }
  const below = () =>
    page.frames()[1]!.evaluate<number>(`{
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.log')
      scrollHeight - scrollTop - clientHeight
    }`)
  await page.evaluate(`{ botpress.close(); botpress.sendMessage('later') }`)
  await page.getByRole('button', { name: 'Open the chat. Unread messages: 1' }).click()
  await chat.getByText('You said later').waitFor()
  await expect.poll(below, patience).toBeLessThan(2)
  await page.setViewportSize({ width: 390, height: 420 })
  await expect.poll(below, patience).toBeLessThan(2)
  await page.context().close()
})

test('a double click on the button of a card sends its value once', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await say(chat, JSON.stringify([['card', card]]))
  await chat.getByText('That was everything').waitFor()
  await chat.getByRole('button', { name: 'Order' }).dblclick()
  await chat.getByText('You chose order').waitFor()
  await say(chat, 'and then')
  await chat.getByText('You said and then').waitFor()
  expect(await chat.getByText('You chose order').count()).toBe(1)
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

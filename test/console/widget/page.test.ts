import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outputDirectory } from '../../../api/console/output.ts'
import { serveSite } from '../../browser/serve-site.ts'
import { installWebchat } from '../../support/webchat.ts'
import { installing } from '../open-console.ts'
import { bubble, code, openWidget, patience, say, violations, type Widget } from './open-widget.ts'

const parts = new AsyncDisposableStack()
let platform: Widget['platform']
let browser: Widget['browser']
let site: Widget['site']
let url: Widget['url']
let visit: Widget['visit']
let countVisitors: Widget['countVisitors']
beforeAll(async () => {
  ;({ platform, browser, site, url, visit, countVisitors } = await openWidget(parts))
}, installing)
afterAll(() => parts.disposeAsync())

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

test('the bubble takes no room in the layout of the page, whose rules do not reach it', async () => {
  const { page } = await visit()
  await bubble(page).waitFor()
  const place = await bubble(page).boundingBox()
  await page.evaluate(`{
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(\`
      body { display: grid; grid-auto-rows: 1fr; gap: 40px; min-height: 90vh }
      div { min-height: 200px; margin: 30px; padding: 30px; border: 1px solid; transform: scale(2) }\`)
    document.adoptedStyleSheets = [sheet]
  }`)
  const layout = () =>
    page.evaluate<string>(
      `JSON.stringify([...document.querySelectorAll('html, body, main')].map((one) => one.getBoundingClientRect()))`,
    )
  const withBubble = await layout()
  expect(await bubble(page).boundingBox()).toEqual(place)
  await page.evaluate(`document.querySelector('[data-isobot]').remove()`)
  expect(await layout()).toBe(withBubble)
  await page.context().close()
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

test('a site that removes the chat and shows it again gets no error, and the chat says what the site said meanwhile', async () => {
  const { page, chat, complaints } = await visit({ attributes: 'data-selector="#chat"' })
  await chat.getByRole('textbox').click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  await page.evaluate(`{
    window.removed = document.querySelector('#chat')
    removed.remove()
    window.outcome = botpress.sendMessage('meanwhile').then(() => 'sent', ({ message }) => message)
    // Not the promise, for which Playwright would wait.
    undefined
  }`)
  await page.evaluate(`{
    document.querySelector('main').append(removed.cloneNode())
    botpress.init({ selector: '#chat', user: { name: 'Ann' } })
  }`)
  await chat.getByText('You said meanwhile').waitFor()
  expect(await page.evaluate('outcome')).toBe('sent')
  expect(complaints).toEqual([])
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

test('a page that has the script of a second bot shows the first one, and says so in the console of the browser', async () => {
  const { id } = await platform.createBot(code)
  const other = await installWebchat(platform, id, { botName: 'Ben' })
  const { page } = await visit()
  await bubble(page).waitFor()
  const warning = page.waitForEvent('console', (line) => line.type() === 'warning')
  await page.evaluate(`{
    const script = document.createElement('script')
    const policy = trustedTypes.createPolicy('second', { createScriptURL: (url) => url })
    script.src = policy.createScriptURL('${other}/inject.js')
    document.body.append(script)
  }`)
  expect((await warning).text()).toContain(`The one of ${other}/inject.js is not shown`)
  expect(await bubble(page).count()).toBe(1)
  await page.context().close()
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

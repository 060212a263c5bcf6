import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConversation } from '../flows/conversation.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
let complaints: string[]
const requested: string[] = []

const markup = '<img src=x onerror="document.title=\'run\'">'

/** A shop: its main flow asks, decides, and calls another flow. */
const flows = [
  {
    id: 'main',
    name: 'Shop',
    start: 'name',
    onError: 'sorry',
    nodes: [
      {
        id: 'name',
        name: 'Ask the name',
        cards: [{ id: 'ask', type: 'capture', message: 'Your name?', variable: 'user.name', ports: { failed: null } }],
        next: 'known',
      },
      {
        id: 'known',
        cards: [
          { id: 'note', type: 'comment', text: markup },
          { id: 'if', type: 'condition', if: { $: 'user.name === "Ada"' }, ports: { true: 'order', false: 'sorry' } },
        ],
      },
      { id: 'order', cards: [{ id: 'size', type: 'call', flow: 'order' }], next: 'sorry' },
      {
        id: 'sorry',
        cards: [
          { id: 'say', type: 'say', message: 'Sorry' },
          { id: 'over', type: 'end' },
        ],
      },
    ],
  },
  {
    id: 'order',
    start: 'size',
    nodes: [
      {
        id: 'size',
        cards: [{ id: 'ask', type: 'capture', message: 'Which size?', variable: 'temp.size' }],
        next: 'far',
      },
      { id: 'far', cards: [{ id: 'again', type: 'capture', variable: 'temp.size', ports: { failed: 'far' } }] },
    ],
  },
]
const layouts = { order: { size: { x: -400, y: 100 }, far: { x: 100, y: 400 } } }

beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts))
  page.on('request', (request) => requested.push(request.url()))
  bot = await platform.createBot('', { flows, layouts })
  const [ada, bob] = [await openConversation(platform, bot), await openConversation(platform, bot)]
  await ada.say('hi')
  await bob.say('hi')
  await ada.say('Ada')
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const picture = () => page.getByRole('region', { name: 'Picture', exact: true })
const box = (name: string | RegExp) => picture().getByRole('link', { name })
const outline = () => page.getByRole('region', { name: 'Outline' })
const place = async (name: RegExp) => (await box(name).boundingBox())!
const openFlow = async (rest: string) => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/flows/${rest}`)
  await outline().waitFor()
}

test('the tab lists the flows, and shows one as boxes, arrows and an outline; nothing of it is loaded before', async () => {
  requested.length = 0
  await page.goto(`${platform.url}/console/bots/${bot.id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(requested.filter((url) => url.includes('flows-page'))).toEqual([])
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  const listed = page.getByRole('list', { name: 'Flows' })
  await listed.getByText('1 conversation waiting').first().waitFor()
  expect(await listed.evaluate((list) => list.scrollWidth > list.clientWidth)).toBe(false)
  await page.getByRole('link', { name: 'Shop' }).click()
  await page.getByRole('heading', { name: 'Shop' }).waitFor()

  await expect.poll(() => box(/Ask the name.*1.*conversation waiting/).count(), patience).toBe(1)
  expect(await box(/^known/).textContent()).toBe(`knowncomment ${markup}condition user.name === "Ada"truefalse`)
  expect(await picture().locator('img').count()).toBe(0)
  expect(await picture().locator('.port').allTextContents()).toEqual(['failed', 'true', 'false', 'calls', 'ends'])
  // Those of the ports, and two after a last card.
  expect(await picture().locator('.edge').count()).toBe(7)
  expect(await picture().getByRole('link', { name: 'order/' }).getAttribute('href')).toContain('/flows/order')
  expect(
    await outline()
      .getByRole('listitem')
      .filter({ hasText: /^known/ })
      .first()
      .textContent(),
  ).toBe(`knowncomment ${markup}condition user.name === "Ada"true → orderfalse → sorry`)
  expect(await outline().getByText('after an error → sorry').count()).toBe(1)
  expect(complaints).toEqual([])
})

test('nodes are reached and selected by keyboard, in the picture and in the outline', async () => {
  await openFlow('main')
  await box(/^Ask the name/).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url(), patience).toContain('node=known')
  expect(await box(/^known/).getAttribute('aria-current')).toBe('true')
  const current = outline().locator('a[aria-current]')
  expect(await current.textContent()).toBe('known')
  await current.focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => outline().locator('a[aria-current]').textContent(), patience).toBe('order')
})

test('an event’s timeline leads to its path in each flow', async () => {
  const { events } = (await platform.ask('GET', `/v1/admin/bots/${bot.id}/events`)).body
  await page.goto(`${platform.url}/console/bots/${bot.id}/events/${events[0].id}`)
  await page.getByRole('list', { name: 'Steps of attempt 1' }).getByText('main/order/size').waitFor()
  expect(await page.getByRole('link', { name: /^Path in the flow/ }).allTextContents()).toEqual([
    'Path in the flow main',
    'Path in the flow order',
  ])
  await page.getByRole('link', { name: 'Path in the flow main' }).click()
  await page.getByText('The path of event').waitFor()
  await outline().waitFor()
  expect(await picture().locator('a.visited .name').allTextContents()).toEqual(['Ask the name', 'known', 'order'])
  expect(await picture().locator('.edge.passed').count()).toBe(3)
  expect(await outline().locator('ol > li.visited > a').allTextContents()).toEqual(['Ask the name', 'known', 'order'])
  await picture().getByRole('link', { name: 'order/' }).click()
  await page.getByRole('heading', { name: 'order' }).waitFor()
  expect(await picture().locator('a.visited .name').allTextContents()).toEqual(['size'])
  await page.getByRole('link', { name: 'Hide the path' }).click()
  await expect.poll(() => picture().locator('a.visited').count(), patience).toBe(0)
})

test('nodes stand where the layout says, and on a phone only the picture scrolls sideways', async () => {
  await openFlow('order')
  await page.setViewportSize({ width: 390, height: 844 })
  const [size, far] = [await place(/^size/), await place(/^far/)]
  expect([Math.round(far.x - size.x), Math.round(far.y - size.y)]).toEqual([500, 300])
  // No arrow leaves the picture.
  const [lowest, height] = await page.evaluate<[number, number]>(`[
    Math.max(...[...document.querySelectorAll('.picture .edge')].map((edge) => edge.getBBox().y + edge.getBBox().height)),
    document.querySelector('.picture svg').height.baseVal.value,
  ]`)
  expect(lowest).toBeLessThan(height)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
  await page.getByRole('button', { name: 'Smaller' }).click()
  await expect.poll(async () => Math.round((await place(/^far/)).x - (await place(/^size/)).x), patience).toBe(375)
})

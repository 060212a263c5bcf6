import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Frame, Page } from 'playwright-core'
import { outputDirectory, root } from '../../../api/console/output.ts'
import { launchChromium } from '../../browser/chromium.ts'
import { serveSite, type Site } from '../../browser/serve-site.ts'
import { openConversation, type Conversation } from '../conversation.ts'
import { startWebchatHost, type WebchatHost } from '../isobot.ts'
import { round, table } from '../report.ts'
import type { Servers } from '../servers.ts'
import { median, percentile } from '../statistics.ts'
import type { SystemOptions } from '../system.ts'

const openings = 30
const replies = 200
/** Round trips before the measured ones. */
const warmUp = 20
/** Upper bounds: milliseconds of the p95, and KB of the scripts and styles, compressed. */
const targets = { open: 300, reply: 150, script: 8, all: 60 }

/** The script that observes a document. */
const observer = join(import.meta.dirname, 'observe.js')

/** Moments of one document, in milliseconds since 1970, on the clock that all documents of a browser share. */
interface Times {
  /** The last click. */
  clicked?: number
  /** The field for messages is painted. */
  field?: number
  /** The bot's first message is painted. */
  welcome?: number
  /** The last press of Enter. */
  sent?: number
  /** Replies that are painted, by their texts. */
  replies: Record<string, number>
}

interface Measured {
  /** Milliseconds of each opening, from the shortest: to the field for messages, and to the bot's first message. */
  opened: Record<'new' | 'known', { field: number[]; welcome: number[] }>
  /** Milliseconds of each round trip, in the order in which they were measured in turn. */
  trips: { widget: number[]; chat: number[] }
  /** Bytes of the built files, compressed. */
  sizes: { script: number; all: number }
}

/** Measures the web chat in a browser, and the Chat API of the same bot beside it. */
export async function measureWebchat(servers: Servers): Promise<Measured> {
  await promisify(execFile)(process.execPath, [join(root, 'api', 'console', 'build.ts')])
  await using parts = new AsyncDisposableStack()
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 1, nodeOptions: [], parts }
  const host = await startWebchatHost('webchat', options)
  const browser = parts.adopt(await launchChromium(), (open) => open.close())
  const site = parts.use(await serveSite(host.url))
  // The first visitor of all meets processes that have just started.
  await timeOpenings(browser, site, host, 2)
  const opened = await timeOpenings(browser, site, host, openings)
  const trips = await timeTrips(browser, site, host)
  return { opened, trips, sizes: await readSizes() }
}

/** Opens the chat as new visitors, each with an empty cache, and once more each on another page view. */
async function timeOpenings(browser: Browser, site: Site, host: WebchatHost, count: number) {
  const opened: Measured['opened'] = { new: { field: [], welcome: [] }, known: { field: [], welcome: [] } }
  for (let visitor = 0; visitor < count; visitor++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.addInitScript({ path: observer })
    for (const kind of ['new', 'known'] as const) {
      const { field, welcome } = await timeOpening(page, site, host)
      opened[kind].field.push(field)
      opened[kind].welcome.push(welcome)
    }
    await context.close()
  }
  return opened
}

async function timeOpening(
  page: Page,
  site: Site,
  { webchatUrl }: WebchatHost,
): Promise<Record<'field' | 'welcome', number>> {
  await page.goto(`${site.origin}/?script=${encodeURIComponent(`${webchatUrl}/inject.js`)}`)
  await page.getByRole('button', { name: /^Open the chat/ }).click()
  await page.frameLocator('[data-isobot] iframe').getByText('Welcome').waitFor()
  const clicked = await timesOf(page.mainFrame())
  const shown = await timesOf(frameOf(page))
  const since = (time: number | undefined) => Math.max(0, time! - clicked.clicked!)
  return { field: since(shown.field), welcome: since(shown.welcome) }
}

/** Messages through the browser and over the Chat API, in turn. */
async function timeTrips(browser: Browser, site: Site, host: WebchatHost): Promise<Measured['trips']> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.addInitScript({ path: observer })
  await timeOpening(page, site, host)
  const conversation = await openConversation(host.chatUrl, host.chats[0]!)
  const trips: Measured['trips'] = { widget: [], chat: [] }
  for (let count = -warmUp; count < replies; count++) {
    const widget = await timeMessage(page, `message ${count + warmUp}`)
    const chat = await timeReply(conversation)
    if (count < 0) continue
    trips.widget.push(widget)
    trips.chat.push(chat)
  }
  await context.close()
  return trips
}

/** Milliseconds from the key that sends a message until the browser has painted the bot's reply. */
async function timeMessage(page: Page, text: string): Promise<number> {
  const chat = page.frameLocator('[data-isobot] iframe')
  const field = chat.getByRole('textbox')
  await field.fill(text)
  await field.press('Enter')
  const reply = `You said ${text}`
  await chat.getByText(reply, { exact: true }).waitFor()
  const frame = frameOf(page)
  for (;;) {
    const { sent, replies } = await timesOf(frame)
    if (replies[reply] !== undefined) return replies[reply] - sent!
  }
}

const timesOf = (frame: Frame) => frame.evaluate<Times>('window.benchmark')

function frameOf(page: Page): Frame {
  return page.frames().find((frame) => frame.url().endsWith('/frame'))!
}

async function timeReply(conversation: Conversation): Promise<number> {
  const begin = performance.now()
  await conversation.say()
  return performance.now() - begin
}

async function readSizes(): Promise<Measured['sizes']> {
  const directory = join(outputDirectory, 'widget')
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
  return { script: sizes[names.indexOf('inject.js.gz')]!, all: sizes.reduce((sum, size) => sum + size, 0) }
}

/** One line on the load. */
export function describeWebchat(): string {
  return (
    `The web chat in a headless Chromium: ${openings} visitors open it, each twice; then ${replies} messages of one ` +
    'visitor, in turn with as many over the Chat API'
  )
}

/** Makes the Markdown tables. */
export function webchatTables({ opened, trips, sizes }: Measured): string[] {
  const openingRows = (['new', 'known'] as const).map((kind) => {
    const { field, welcome } = opened[kind]
    return [`${kind} visitor`, ...middleAndLate(field), `≤ ${targets.open}`, ...middleAndLate(welcome)]
  })
  const [widget, chat] = [trips.widget, trips.chat].map(middleAndLate)
  const ratio = median(trips.widget.map((milliseconds, index) => milliseconds / trips.chat[index]!))
  return [
    table(
      ['opening', 'to the field, p50 ms', 'p95 ms', 'aim, p95', 'to the first message, p50 ms', 'p95 ms'],
      openingRows,
    ),
    table(
      ['a message to its reply', 'p50 ms', 'p95 ms', 'aim, p95', 'ratio'],
      [
        ['on the screen', ...widget!, `≤ ${targets.reply}`, ratio.toFixed(2)],
        ['over the Chat API', ...chat!, '', ''],
      ],
    ),
    table(
      ['compressed', 'KB', 'aim'],
      [
        ['inject.js', kilobytes(sizes.script), `≤ ${targets.script}`],
        ['all scripts and styles', kilobytes(sizes.all), `≤ ${targets.all}`],
      ],
    ),
  ]
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1)
}

function middleAndLate(times: number[]): [string, string] {
  const sorted = times.toSorted((a, b) => a - b)
  return [round(percentile(sorted, 50)), round(percentile(sorted, 95))]
}

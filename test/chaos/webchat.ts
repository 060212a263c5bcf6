import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { root } from '../../api/console/output.ts'
import { launchChromium } from '../browser/chromium.ts'
import { serveSite, type Site } from '../browser/serve-site.ts'
import { send } from '../support/platform.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'

export interface WebchatChaosOptions extends PlatformOptions {
  seed: number
  /** Conversations of visitors, each in a browser profile of its own. */
  visits: number
  kinds: readonly FaultKind[]
}

export interface WebchatChaosReport {
  options: WebchatChaosOptions
  faults: Map<FaultKind, number>
  /** Visits whose messages were all shown once and in order, during the faults and after a reload. */
  whole: number
  seconds: number
  /** Descriptions of the other visits. */
  differences: string[]
}

/** Visitors at once, who share each fault. */
const visitorsAtOnce = 4
const texts = ['text 1', 'slowly 2', 'text 3', 'slowly 4', 'text 5']
/** How long a visitor waits for the rest of a conversation. */
const patienceMilliseconds = 60_000

/** Writes its answer in parts over a second where the text says so. */
const code = `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId, preview } = event
    const answer = 'Answer to ' + preview
    if (!preview.startsWith('slowly')) return client.createMessage({ conversationId, type: 'text', payload: { text: answer } })
    const stream = client.streamMessage(conversationId)
    for (const letter of answer) {
      await stream.write(letter)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await stream.end()
  },
}`

/**
 * Makes visitors talk to a bot in browsers during faults, and compares what is shown with a conversation without any.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress, periodically
 */
export async function runWebchatChaos(
  options: WebchatChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void,
): Promise<WebchatChaosReport> {
  await promisify(execFile)(process.execPath, [join(root, 'api', 'console', 'build.ts')])
  const platform = await openChaosPlatform(options, parts)
  const webchatUrl = await createBot(platform)
  const browser = parts.adopt(await launchChromium(), (open) => open.close())
  const site = parts.use(await serveSite(new URL(webchatUrl).origin))
  const chances = chancesFrom(options.seed)
  const report: WebchatChaosReport = { options, faults: new Map(), whole: 0, seconds: 0, differences: [] }
  const begunAt = performance.now()
  for (let visit = 0; visit < options.visits; visit += visitorsAtOnce) {
    const count = Math.min(visitorsAtOnce, options.visits - visit)
    const [fault] = planFaults(chances, options.kinds, 1, 0)
    const visits = Array.from({ length: count }, () => talk(browser, site, webchatUrl, chances.between(0, 500)))
    // In the middle of the first answer in parts, or of the opening or the messages around it.
    const happening = pause(chances.between(200, 3500)).then(() =>
      carryOut([fault!], platform, {
        happened: (kind) => report.faults.set(kind, (report.faults.get(kind) ?? 0) + 1),
        untilProgress: () => Promise.resolve(),
      }),
    )
    const differences = (await Promise.all(visits)).filter((difference) => difference !== '')
    await happening
    report.differences.push(...differences.map((difference) => `${fault!.kind}: ${difference}`))
    report.whole += count - differences.length
    tell(`${report.whole} of ${visit + count} conversations are whole; ${fault!.kind}`)
  }
  report.seconds = (performance.now() - begunAt) / 1000
  return report
}

/** @returns the address of the bot's web chat */
async function createBot({ apiUrls: [apiUrl], headers }: ChaosPlatform): Promise<string> {
  const admin = `${apiUrl}/v1/admin`
  const { body: created } = await send('POST', `${admin}/bots`, { code }, headers)
  const { body: found } = await send('GET', `${admin}/hub/integrations/webchat/0.3.0`, undefined, headers)
  const integrations = { webchat: { integrationId: found.integration.id, enabled: true, configuration: {} } }
  const { body: installed } = await send('PUT', `${admin}/bots/${created.bot.id}`, { integrations }, headers)
  const { pathname } = new URL(installed.bot.integrations.webchat.webhookUrl)
  // The site's own name: browsers may refuse storage to frames of others.
  return apiUrl!.replace('127.0.0.1', 'localhost') + pathname
}

/** Holds one conversation, and opens it again. @returns the difference from one without faults, or nothing */
async function talk(browser: Browser, site: Site, webchatUrl: string, pauseMilliseconds: number): Promise<string> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const chat = await open(page, `${site.origin}/?script=${encodeURIComponent(`${webchatUrl}/inject.js`)}`)
    const field = chat.getByRole('textbox')
    for (const text of texts) {
      await field.fill(text)
      await field.press('Enter')
      await pause(pauseMilliseconds)
    }
    const during = await untilWhole(chat)
    if (during !== '') return during
    await open(page, page.url())
    const after = await untilWhole(chat)
    return after === '' ? '' : `after a reload, ${after}`
  } finally {
    await context.close()
  }
}

/** Opens the chat in the page. A document that could not be loaded is asked for again, as a visitor would. */
async function open(page: Page, url: string): Promise<FrameLocator> {
  const chat = page.frameLocator('[data-isobot] iframe')
  for (const deadline = performance.now() + patienceMilliseconds; ;) {
    await page.goto(url)
    try {
      await page.getByRole('button', { name: /^Open the chat/ }).click({ timeout: 3000 })
      await chat.getByRole('textbox').waitFor({ timeout: 3000 })
      return chat
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
  }
}

async function untilWhole(chat: FrameLocator): Promise<string> {
  const answers = texts.map((text) => `Answer to ${text}`)
  const deadline = performance.now() + patienceMilliseconds
  for (;;) {
    const [own, theirs] = [await shown(chat, '.own'), await shown(chat, '.theirs')]
    const isWhole = own.join() === texts.join() && theirs.join() === answers.join()
    const isOver = (await chat.locator('.waiting, .failed, [aria-busy=true]').count()) === 0
    if (isWhole && isOver) return ''
    if (performance.now() > deadline) return `shown are [${own.join(', ')}] and [${theirs.join(', ')}]`
    await pause(50)
  }
}

function shown(chat: FrameLocator, selector: string): Promise<string[]> {
  return chat.locator(`${selector} > p`).allTextContents()
}

/** Describes the counts of a run, in lines. */
export function describeWebchat({ options, faults, whole, seconds, differences }: WebchatChaosReport): string {
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  return [
    `Chaos on ${options.backEnd}, seed ${options.seed}: ${differences.length === 0 ? 'no difference' : 'DIFFERENCES'}`,
    `  ${whole} of ${options.visits} conversations in browsers have all messages once and in order, and after a reload`,
    `  faults in ${seconds.toFixed(0)} s: ${kinds.join(', ')}`,
    ...differences.map((difference) => `    ${difference}`),
  ].join('\n')
}

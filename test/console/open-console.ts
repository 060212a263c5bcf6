import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../browser/chromium.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { building, buildConsole } from './built.ts'

/** Time enough to download a browser, and to build the pages. */
export const installing = 600_000 + building
export const patience = { timeout: 20_000 }

/** Signs in to the console with a token, and waits for its first page. */
export async function signIn(page: Page, platform: Platform, token = platform.token): Promise<void> {
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Bots' }).waitFor()
}

/** Reloads the page, and dismisses the question of the browser, which it asks where a text is not saved. */
export async function reloadAndStay(page: Page): Promise<void> {
  const asking = page.waitForEvent('dialog')
  const reloading = page.evaluate('location.reload()')
  const question = await asking
  if (question.type() !== 'beforeunload') throw new Error(`The page asked: ${question.message()}`)
  await question.dismiss()
  await reloading
}

interface Console {
  platform: Platform
  browser: Browser
  page: Page
  /** Errors in the browser's console, each with its address, the breaches of the page's policy among them. */
  complaints: string[]
}

/**
 * Opens a platform, and a browser in which nobody is signed in yet.
 *
 * @param parts ends them
 * @param expected complaints of the browser that are none
 * @param isWhole whether it is a whole Chromium
 */
export async function openConsole(parts: AsyncDisposableStack, expected = /^$/, isWhole = false): Promise<Console> {
  const browser = parts.adopt(await launchChromium({ isWhole }), (open) => open.close())
  await buildConsole()
  const platform = parts.use(await openPlatform())
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  page.setDefaultTimeout(patience.timeout)
  const complaints: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' && !expected.test(line.text())) complaints.push(`${line.text()} ${line.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { platform, browser, page, complaints }
}

import { afterAll, beforeAll, expect, test } from 'vitest'
import { installing, openConsole, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let opened: Awaited<ReturnType<typeof openConsole>>
beforeAll(async () => {
  opened = await openConsole(parts)
}, installing)
afterAll(() => parts.disposeAsync())

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' }).format()

test.each(['America/Los_Angeles', 'Pacific/Kiritimati'])(
  'days and months of usage are those of UTC, also for a browser in the zone %s',
  async (timezoneId) => {
    const { platform, browser } = opened
    const context = await browser.newContext({ timezoneId, locale: 'en-US' })
    const page = await context.newPage()
    await signIn(page, platform)
    await page.goto(`${platform.url}/console/models`)
    const shown = (title: string) => page.getByRole('figure').filter({ hasText: title }).locator('time')
    const day = shown('Tokens each day')
    await day.waitFor()
    expect(await day.textContent()).toBe(format({ month: 'short', day: 'numeric' }))
    await page.goto(`${platform.url}/console/models?by=months`)
    const month = shown('Tokens each month')
    await month.waitFor()
    expect(await month.textContent()).toBe(format({ month: 'short', year: 'numeric' }))
    await context.close()
  },
)

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../../browser/chromium.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { insertFile } from './fixture.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let botId: string
/** Time enough to install a browser. */
const installing = 600_000
beforeAll(async () => {
  const browser: Browser = parts.adopt(await launchChromium(), (open) => open.close())
  platform = parts.use(await openPlatform({ worker: false, backEnd: 'postgres' }))
  botId = (await platform.createBot()).id
  page = await browser.newPage()
}, installing)
afterAll(() => parts.disposeAsync())

/** Leaves a trace in whatever realm it runs in, and in the storage of its origin. */
const script = `
  try { globalThis.ran = true; localStorage.setItem('ran', 'yes') } catch {}
  try { globalThis.top.postMessage('ran', '*') } catch {}
  try { globalThis.postMessage('ran') } catch {}`
const html = `<!doctype html><title>file</title><script>${script}</script><img src=x onerror="${script.replaceAll('\n', '')}">`
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="localStorage.setItem('ran','yes')"><script>${script}</script></svg>`

async function upload(name: string, contentType: string, content: string): Promise<string> {
  const file = await insertFile(platform, botId, { key: name, contentType, isPublic: true })
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
  return file.url()
}

/** Opens a page of the platform's origin without a policy of its own, which is the weakest one that there may be. */
async function openOwnPage(): Promise<void> {
  await page.goto(`${platform.url}/health`)
  await page.evaluate(`
    localStorage.clear()
    addEventListener('message', ({ data }) => data === 'ran' && localStorage.setItem('ran', 'yes'))`)
}

/** In a page: resolves when the element has loaded or failed. A frame whose content is downloaded reports nothing. */
const settled = `(element) => new Promise((resolve) => {
  for (const type of ['load', 'error']) element.addEventListener(type, () => resolve(type))
  document.body.append(element)
  setTimeout(() => resolve('nothing'), 500)
})`

/** In a page: whether what was asked for runs. */
const outcome = `(work) => work.then(() => 'ran', () => 'refused')`

const traces = () => page.evaluate(`[globalThis.ran, localStorage.getItem('ran')]`)

test.each([
  ['text/html', html],
  ['application/xhtml+xml', `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`],
  ['image/svg+xml', svg],
  ['text/xml', `<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>${script}</h:script></x>`],
  ['text/plain', html],
  ['image/png', html],
])('a file of the type %s runs no script at the platform’s origin, opened or embedded', async (type, content) => {
  const url = await upload('file', type, content)
  await openOwnPage()
  // Its end is a page, a download, or a refusal.
  await page.goto(url).catch(() => {})
  await openOwnPage()
  await page.evaluate(`Promise.all(['iframe', 'object', 'embed', 'img'].map((name) => {
    const element = document.createElement(name)
    element.setAttribute(name === 'object' ? 'data' : 'src', ${JSON.stringify(url)})
    return (${settled})(element)
  }))`)
  expect(await traces()).toEqual([undefined, null])
})

test('a script file is not run by the platform’s own pages, as a script, module, worker or service worker', async () => {
  const url = await upload('evil.js', 'text/javascript', `${script}; export {}`)
  const classic = await upload('evil-classic.js', 'text/javascript', script)
  await openOwnPage()
  const [module, plain] = [url, classic].map((address) => JSON.stringify(address))
  const outcomes = await page.evaluate(`Promise.all([
    (${settled})(Object.assign(document.createElement('script'), { src: ${plain} })),
    (${outcome})(import(${module})),
    (${outcome})(new Promise((resolve, reject) => {
      const worker = new Worker(${plain})
      worker.onmessage = resolve
      worker.onerror = reject
    })),
    (${outcome})(navigator.serviceWorker.register(${plain})),
  ])`)
  expect(outcomes).toEqual(['error', 'refused', 'refused', 'refused'])
  expect(await traces()).toEqual([undefined, null])
})

test('a script file may be run by pages of other origins, and read by the platform’s own', async () => {
  const url = await upload('widget.js', 'text/javascript', 'globalThis.widget = true')
  const other = new URL('/health', platform.url.replace('localhost', '127.0.0.1'))
  await page.goto(other.href)
  await page.addScriptTag({ url })
  expect(await page.evaluate(() => Reflect.get(globalThis, 'widget'))).toBe(true)
  await openOwnPage()
  expect(await page.evaluate(`fetch(${JSON.stringify(url)}).then((answer) => answer.text())`)).toContain('widget')
})

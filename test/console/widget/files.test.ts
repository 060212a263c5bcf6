import { afterAll, beforeAll, expect, test } from 'vitest'
import { installing } from '../open-console.ts'
import { bubble, openWidget, patience, say, violations, type Widget } from './open-widget.ts'

const parts = new AsyncDisposableStack()
let platform: Widget['platform']
let visit: Widget['visit']
beforeAll(async () => {
  ;({ platform, visit } = await openWidget(parts))
}, installing)
afterAll(() => parts.disposeAsync())

test('a visitor attaches files, which the bot reads at their address, and sees why another is refused', async () => {
  const { page, chat, complaints } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (name: string) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    await (await choosing).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') })
  }
  await attach('notes.txt')
  await chat.getByRole('link', { name: 'notes.txt' }).waitFor()
  await chat.getByText('It has 9 bytes').waitFor()
  await attach('<b>page.html')
  await chat.getByText('<b>page.html: Not sent: Files of this type cannot be sent here.').waitFor()
  expect(await violations(page)).toEqual([])
  // A name that shows a program as a picture, and one that is longer than the platform takes.
  await attach('cat\u202Egnp.txt')
  await chat.getByRole('link', { name: 'catgnp.txt' }).waitFor()
  await attach(`${'long'.repeat(60)}.txt`)
  await chat.getByRole('link', { name: /^(long){49}\.txt$/ }).waitFor()
  await page.route('**/files', () => {})
  await attach('large.txt')
  await chat.getByText('Sending: large.txt').waitFor()
  expect(await violations(page)).toEqual([])
  expect(complaints.filter((line) => !line.includes('status of 415'))).toEqual([])
  await page.context().close()
})

test('files chosen while another is on its way lose neither it nor a refusal, and all of a choice are sent', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (...names: string[]) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    const files = names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') }))
    await (await choosing).setFiles(files)
  }
  const released = Promise.withResolvers<void>()
  await page.route('**/files', async (route) => {
    if (route.request().postData()?.includes('slow.txt')) await released.promise
    await route.continue()
  })
  await attach('slow.txt')
  await chat.getByText('Sending: slow.txt').waitFor()
  await attach('page.html')
  const refusal = chat.getByText('page.html: Not sent: Files of this type cannot be sent here.')
  await refusal.waitFor()
  expect(await chat.getByText('Sending: slow.txt').count()).toBe(1)
  released.resolve()
  await chat.getByRole('link', { name: 'slow.txt' }).waitFor()
  await expect.poll(() => chat.getByText('Sending: slow.txt').count(), patience).toBe(0)
  expect(await refusal.count()).toBe(1)

  const names = Array.from({ length: 9 }, (_, index) => `note-${index}.txt`)
  await attach(...names)
  const links = chat.getByRole('link', { name: /^note-/ })
  await expect.poll(() => links.count(), patience).toBe(9)

  // Without the network, a file that is chosen is shown and waits.
  await page.context().setOffline(true)
  await attach('later.txt')
  await chat.getByText('Sending: later.txt').waitFor()
  await page.context().setOffline(false)
  await chat.getByRole('link', { name: 'later.txt' }).waitFor()

  // Many refusals leave room for the messages, until the visitor goes on.
  await attach(...Array.from({ length: 30 }, (_, index) => `page-${index}.html`))
  await chat.getByText('page-29.html: Not sent').waitFor()
  const { height } = (await chat.getByRole('log').boundingBox())!
  expect(height).toBeGreaterThan(200)
  expect(await violations(page)).toEqual([])
  await say(chat, 'well then')
  await expect.poll(() => chat.getByText(': Not sent').count(), patience).toBe(0)
  await page.context().close()
})

test('a file is sent once although connections break and answers are lost, also to a conversation that is left', async () => {
  const notes = (await platform.context.db('files').whereLike('key', '%/notes.txt')).length
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const creations: string[] = []
  await page.route('**/files', async (route) => {
    creations.push(route.request().postData()!)
    if (creations.length === 1) return route.abort('connectionreset')
    const response = await route.fetch()
    await (creations.length === 2 ? route.abort('connectionreset') : route.fulfill({ response }))
  })
  let uploads = 0
  const isLeft = Promise.withResolvers<void>()
  await page.route('**/files/upload/*', async (route) => {
    uploads++
    if (uploads === 1) return route.abort('connectionreset')
    await isLeft.promise
    // The second one arrives, and its answer does not.
    const response = await route.fetch()
    await (uploads === 2 ? route.abort('connectionreset') : route.fulfill({ response }))
  })
  const choosing = page.waitForEvent('filechooser')
  await chat.getByRole('button', { name: 'Attach a file' }).click()
  await (await choosing).setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('two words') })
  await expect.poll(() => uploads, patience).toBe(2)
  expect(await chat.getByText('Not sent').count()).toBe(0)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: 'New conversation' }).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  isLeft.resolve()
  await expect.poll(() => chat.getByText('Sending: notes.txt').count(), patience).toBe(0)
  expect(await chat.getByRole('link', { name: 'notes.txt' }).count()).toBe(0)
  await chat.getByRole('button', { name: 'Conversations' }).click()
  await chat.getByRole('button', { name: /^It has 9 bytes/ }).click()
  await chat.getByText('It has 9 bytes').waitFor()
  expect(await chat.getByRole('link', { name: 'notes.txt' }).count()).toBe(1)
  expect(await platform.context.db('files').whereLike('key', '%/notes.txt')).toHaveLength(notes + 1)
  await page.context().close()
})

test('a file that the platform fails to take, or a proxy refuses, is given up with the reason', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (name: string) => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Attach a file' }).click()
    await (await choosing).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('two words') })
  }
  await page.route('**/files/upload/*', (route) => route.fulfill({ status: 413, body: '<h1>Too large</h1>' }))
  await attach('large.txt')
  await chat.getByText('large.txt: Not sent: The size is above the limit.').waitFor()
  const failure = { id: 'err_1', code: 503, type: 'Unavailable', message: 'The store is full' }
  await page.route('**/files/upload/*', (route) => route.fulfill({ status: 503, json: failure }))
  await attach('small.txt')
  await chat.getByText('small.txt: Not sent: The store is full').waitFor({ timeout: 20_000 })
  expect(await chat.getByText('Sending:').count()).toBe(0)
  await page.context().close()
})

test('visitors read in their language why a file is refused', async () => {
  const { page, chat } = await visit({}, { locale: 'de-DE' })
  await page.getByRole('button', { name: 'Chat öffnen' }).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  const attach = async (name: string, content = 'two words') => {
    const choosing = page.waitForEvent('filechooser')
    await chat.getByRole('button', { name: 'Datei anhängen' }).click()
    await (await choosing).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
  }
  await attach('page.html')
  const refusals = chat.getByRole('status').getByText('Nicht gesendet')
  const ofType = 'page.html: Nicht gesendet: Dateien dieser Art können hier nicht gesendet werden.'
  await expect.poll(() => refusals.allTextContents(), patience).toEqual([ofType])
  await page.route('**/files/upload/*', (route) => route.fulfill({ status: 413, body: 'Request Entity Too Large' }))
  await attach('large.txt')
  const ofSize = 'large.txt: Nicht gesendet: Die Größe ist über der Grenze.'
  await expect.poll(() => refusals.allTextContents(), patience).toEqual([ofSize])
  await attach('empty.txt', '')
  await expect
    .poll(() => refusals.allTextContents(), patience)
    .toEqual(['empty.txt: Nicht gesendet: Die Datei ist leer.'])
  await page.context().close()
})

test('text that is pasted with a picture of it stays text; a picture alone is a file, and so is what is dropped', async () => {
  const { page, chat } = await visit()
  await bubble(page).click()
  await chat.getByText('Welcome! Which tea?').waitFor()
  /** @returns whether the browser inserts what was pasted */
  const paste = async (texts: Record<string, string>) =>
    page.frames()[1]!.evaluate<boolean>(`{
      const clipboardData = new DataTransfer()
      for (const [type, text] of Object.entries(${JSON.stringify(texts)})) clipboardData.setData(type, text)
      clipboardData.items.add(new File(['pixels'], 'pasted.png', { type: 'image/png' }))
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.querySelector('textarea').dispatchEvent(paste)
    }`)
  expect(await paste({ 'text/plain': 'Tea\t3', 'text/html': '<table><tr><td>Tea<td>3</table>' })).toBe(true)
  expect(await paste({ 'text/html': '<img src="pasted.png">' })).toBe(false)
  // This web chat takes only texts as files: its answer shows that the picture was given to it as a file.
  await chat.getByText('pasted.png: Not sent: Files of this type cannot be sent here.').waitFor()
  // A file that is dropped on the chat is given to it too, where the browser would leave the page for it.
  const isLeft = await page.frames()[1]!.evaluate<boolean>(`{
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['two words'], 'dropped.txt', { type: 'text/plain' }))
    const drop = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
    document.querySelector('header').dispatchEvent(drop('dragover')) || document.querySelector('header').dispatchEvent(drop('drop'))
  }`)
  expect(isLeft).toBe(false)
  await chat.getByText('It has 9 bytes').waitFor()
  await page.context().close()
})

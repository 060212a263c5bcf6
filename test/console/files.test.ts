import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
let complaints: string[]
beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts))
  await signIn(page, platform)
}, installing)
beforeEach(async () => {
  bot = await platform.createBot()
})
afterAll(() => parts.disposeAsync())

const button = (name: string) => page.getByRole('button', { name, exact: true })
const dialog = (name: string) => page.getByRole('dialog', { name })
const openFiles = async () => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/files`)
  await page.getByRole('heading', { name: 'Knowledge bases' }).waitFor()
}
const ask = (method: string, path: string, body: object) =>
  platform.ask(method, `/v1/files${path}`, body, { 'x-bot-id': bot.id })
/** The keys of the bot's files in the database. */
const keys = () => platform.context.db('files').where({ bot_id: bot.id }).pluck('key')
const choose = (name: string, text: string) =>
  page.getByLabel('Files to upload').setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) })

test('a file is uploaded, indexed in a knowledge base, found, downloaded and deleted', async () => {
  await openFiles()
  await page.getByRole('heading', { name: 'No file yet' }).waitFor()
  await button('New knowledge base').click()
  await dialog('New knowledge base').getByLabel('Name').fill('Handbook')
  await button('Create').click()
  await page.getByRole('list', { name: 'Knowledge bases' }).getByText('Handbook').waitFor()

  await choose('travel.md', '# Journeys\n\nTrains are refunded in full. <b>Flights</b> need an approval.\n')
  await dialog('Upload a file').getByLabel('Key').fill('rules/travel.md')
  await dialog('Upload a file').getByLabel('Knowledge base').selectOption('Handbook')
  await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
  const row = page.getByRole('list', { name: 'Files, newest first' }).getByRole('listitem')
  await row.getByText('indexing completed').waitFor()

  const found = page.getByRole('list', { name: 'Passages, the closest first' }).getByRole('listitem')
  const search = page.getByLabel('Search the text of files')
  await search.pressSequentially('refund of ')
  // A pause after a space searches, and the next word begins where it was going to.
  await found.getByText('Journeys').waitFor()
  await search.pressSequentially('trains')
  expect(await search.inputValue()).toBe('refund of trains')
  await expect.poll(() => found.locator('mark').allTextContents(), patience).toEqual(['Trains', 'refunded'])
  expect(await found.locator('.passage-text').textContent()).toContain('Trains are refunded in full')
  await found.getByRole('link', { name: 'rules/travel.md' }).click()

  await page.getByRole('heading', { name: 'Passages' }).waitFor()
  await page.getByText('source=knowledge-base').waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toBe('travel.md')

  await button('Delete').click()
  await dialog('Delete the file').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'No file yet' }).waitFor()
  expect(await platform.context.db('files').where({ bot_id: bot.id })).toEqual([])
  await button('Delete Handbook').click()
  await dialog('Delete Handbook').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('None yet.').waitFor()
  expect(complaints).toEqual([])
})

test('a file that cannot be indexed shows why', async () => {
  await openFiles()
  await page
    .getByLabel('Files to upload')
    .setInputFiles({ name: 'scan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 cut off') })
  await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
  await page.getByText('indexing failed').waitFor()
  await page.getByRole('link', { name: 'scan.pdf' }).click()
  await expect.poll(() => page.locator('.error-message').textContent(), patience).toMatch(/PDF/)
})

test('an upload that is cancelled or that fails leaves no file, but the one that it replaces', async () => {
  const former = { key: 'former.md', size: 0 }
  await ask('PUT', '', former)
  await openFiles()
  // The bytes stop on their way, as on a slow connection.
  await page.route('**/files/upload/**', () => {})
  for (const key of ['slow.md', 'former.md']) {
    await choose(key, 'slow')
    await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
    await page.getByRole('progressbar', { name: `Upload of ${key}` }).waitFor()
    await button(`Cancel ${key}`).click()
    await page.getByText(`The upload of “${key}” is cancelled.`).waitFor()
  }
  await expect.poll(keys, patience).toEqual(['former.md'])
  await page.unroute('**/files/upload/**')
  await page.route('**/files/upload/**', (route) =>
    route.fulfill({ status: 413, json: { message: 'It is too large' } }),
  )
  await choose('larger.md', 'large')
  await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
  await page.getByText('“larger.md” is not uploaded: It is too large').waitFor()
  await page.unroute('**/files/upload/**')
  const ofProxy = '<html><title>413 Request Entity Too Large</title></html>'
  await page.route('**/files/upload/**', (route) => route.fulfill({ status: 413, body: ofProxy }))
  await choose('largest.md', 'large')
  await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
  await page
    .getByText('“largest.md” is not uploaded: A proxy before the server refuses a request of this size')
    .waitFor()
  await expect.poll(keys, patience).toEqual(['former.md'])
  await page.unroute('**/files/upload/**')
})

test('the list and the search have the files with given tags, or those of a knowledge base', async () => {
  const { body: created } = await ask('POST', '/knowledge-bases', { name: 'Shop' })
  const kbId = created.knowledgeBase.id as string
  for (const [key, tags] of [
    ['first.md', { topic: 'a=b' }],
    ['second.md', { source: 'knowledge-base', kbId, kbName: 'Shop' }],
  ] as const) {
    const { body } = await ask('PUT', '', { key, size: 0, index: true, tags })
    await fetch(body.file.uploadUrl, { method: 'PUT', body: `# Offers\n\nOranges are in ${key}.\n` })
  }
  await openFiles()
  const list = page.getByRole('list', { name: 'Files, newest first' })
  const shown = () => list.getByRole('link').allTextContents()
  await expect.poll(() => list.getByText('indexing completed').count(), patience).toBeGreaterThanOrEqual(2)
  const tags = page.getByLabel('Tags: name=value')
  await tags.fill('topic')
  await page.getByText('Write tags as name=value, not “topic”').waitFor()
  await tags.fill('topic=a=b')
  await expect.poll(shown, patience).toEqual(['first.md'])
  await tags.fill('topic=none')
  await button('Show all files').click()
  await page.getByLabel('Knowledge base', { exact: true }).selectOption('Shop')
  await expect.poll(shown, patience).toEqual(['second.md'])
  await page.getByLabel('Search the text of files').fill('orange')
  const found = page.getByRole('list', { name: 'Passages, the closest first' })
  await expect.poll(() => found.getByRole('link').allTextContents(), patience).toEqual(['second.md'])
  expect(await found.locator('mark').allTextContents()).toEqual(['Oranges'])
})

test('a file shows its passages in pages', async () => {
  const { body } = await ask('PUT', '', { key: 'long.md', size: 0, index: true })
  const passages = Array.from({ length: 130 }, (_, index) => ({ content: `Passage ${index}.` }))
  await ask('PUT', `/${body.file.id}/passages`, { passages })
  await fetch(body.file.uploadUrl, { method: 'PUT', body: 'Any.' })
  await page.goto(`${platform.url}/console/bots/${bot.id}/files/${body.file.id}`)
  const list = page.getByRole('list', { name: 'Passages, in the order of the document' })
  await expect.poll(() => list.getByRole('listitem').count(), patience).toBe(100)
  await button('Show further passages').click()
  await list.getByText('Passage 129.').waitFor()
  expect(await list.getByRole('listitem').count()).toBe(130)
  expect(await button('Show further passages').count()).toBe(0)
})

test('a viewer reads that files are for developers', async () => {
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const context = await page.context().browser()!.newContext()
  const view = await context.newPage()
  await signIn(view, platform, authorization.replace('Bearer ', ''))
  await view.goto(`${platform.url}/console/bots/${bot.id}/files`)
  await view.getByRole('heading', { name: 'Files are for developers' }).waitFor()
  expect(await view.getByRole('button', { name: 'Upload' }).count()).toBe(0)
  await context.close()
})

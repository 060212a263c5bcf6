import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
let complaints: string[]
beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts))
  bot = await platform.createBot()
  await signIn(page, platform.token)
}, installing)
afterAll(() => parts.disposeAsync())

async function signIn(page: Page, token: string): Promise<void> {
  await page.goto(`${platform.url}/console`)
  await page.getByLabel('Personal token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Bots' }).waitFor()
}

const button = (name: string) => page.getByRole('button', { name, exact: true })
const dialog = (name: string) => page.getByRole('dialog', { name })
const openFiles = async () => {
  await page.goto(`${platform.url}/console/bots/${bot.id}/files`)
  await page.getByRole('heading', { name: 'Knowledge bases' }).waitFor()
}
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

  await page.getByLabel('Search the text of files').fill('refund of trains')
  const found = page.getByRole('list', { name: 'Passages, the closest first' }).getByRole('listitem')
  await found.getByText('Journeys').waitFor()
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
  expect(await platform.context.db('files')).toEqual([])
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

test('an upload shows its progress and can be cancelled, and the file stays without a content', async () => {
  await openFiles()
  // The bytes stop on their way, as on a slow connection.
  await page.route('**/files/upload/**', () => {})
  await choose('slow.md', 'slow')
  await dialog('Upload a file').getByRole('button', { name: 'Upload' }).click()
  await page.getByRole('progressbar', { name: 'Upload of slow.md' }).waitFor()
  await button('Cancel slow.md').click()
  await page.getByText('The upload of “slow.md” is cancelled.').waitFor()
  await page.unroute('**/files/upload/**')
  await expect
    .poll(() => platform.context.db('files').where({ key: 'slow.md' }).first(), patience)
    .toMatchObject({ status: 'upload_pending' })
})

test('a viewer is told that files are for developers', async () => {
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const context = await page.context().browser()!.newContext()
  const view = await context.newPage()
  await signIn(view, authorization.replace('Bearer ', ''))
  await view.goto(`${platform.url}/console/bots/${bot.id}/files`)
  await view.getByRole('heading', { name: 'Files are for developers' }).waitFor()
  expect(await view.getByRole('button', { name: 'Upload' }).count()).toBe(0)
  await context.close()
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, reloadAndStay, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page

const codeOf = (name: string) => `export const actions = { ${name}() { return {} } }\n`

beforeAll(async () => {
  ;({ platform, page } = await openConsole(parts))
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const tab = (name: string) => page.getByRole('navigation', { name: 'Parts of the bot' }).getByRole('link', { name })
const deployButton = () => page.getByRole('button', { name: 'Deploy', exact: true })
const line = () => page.locator('.monaco-editor .view-line').first()
const deployedCode = async ({ id }: DeployedBot): Promise<string> => {
  const { bot } = (await platform.ask('GET', `/v1/admin/bots/${id}`)).body
  return (await platform.ask('GET', `/v1/admin/bots/${id}/versions/${bot.version.id}`)).body.version.code
}

/** A bot whose code is changed in the editor, and not deployed. */
async function begin(): Promise<DeployedBot> {
  const bot = await platform.createBot(codeOf('first'))
  await page.goto(`${platform.url}/console/bots/${bot.id}/code`)
  await line().click()
  await page.keyboard.press('ControlOrMeta+Home')
  await page.keyboard.insertText('// mine\n')
  await page.getByText('not deployed').waitFor()
  return bot
}

test('the browser asks before it leaves the code of a new bot, once a member has changed it', async () => {
  const bot = await platform.createBot()
  await page.goto(`${platform.url}/console/bots/${bot.id}/code`)
  await line().click()
  await page.keyboard.insertText('// mine\n')
  await expect.poll(() => line().textContent(), patience).toContain('mine')
  await reloadAndStay(page)
  expect(await line().textContent()).toContain('mine')
})

test('code that another member has deployed since is replaced only by a second attempt', async () => {
  const bot = await begin()
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: codeOf('theirs') })
  // A refused attempt is not repeated by itself, and does not say so.
  const versions = new RegExp(`/bots/${bot.id}/versions/`)
  await page.route(versions, (route) => route.abort())
  await deployButton().click()
  await page
    .getByText('The server cannot be reached. Check that the api runs, and try again.', { exact: true })
    .waitFor()
  await page.unroute(versions)
  await deployButton().click()
  await page.getByText('Another version was deployed in the meantime').waitFor()
  expect(await deployedCode(bot)).toBe(codeOf('theirs'))
  await deployButton().click()
  await expect.poll(() => deployedCode(bot), patience).toBe(`// mine\n${codeOf('first')}`)
})

test('a member who returns to changed code reads that another version was deployed meanwhile', async () => {
  const bot = await begin()
  await tab('Versions').click()
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: codeOf('theirs') })
  await page.getByRole('list', { name: 'Versions' }).getByRole('listitem').nth(1).waitFor()
  await tab('Code').click()
  await page.getByText('Another version was deployed in the meantime. Your deployment replaces it.').waitFor()
  await line().waitFor()
  expect(await line().textContent()).toContain('mine')
})

test('changed code outlives a sign-out, and only the member who wrote it sees it again', async () => {
  const { authorization } = await createMember(platform, 'developer', platform.workspaceId)
  const signInHere = async (token: string) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Personal token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await line().waitFor()
  }
  await begin()
  await signInHere(authorization.replace('Bearer ', ''))
  expect(await line().textContent()).toContain('first')
  await signInHere(platform.token)
  await expect.poll(() => line().textContent(), patience).toContain('mine')
  await page.getByText('not deployed').waitFor()
})

test('a part of the console that cannot be loaded says so, leaves the page, and is loaded by another attempt', async () => {
  const bot = await platform.createBot(codeOf('first'))
  const opened = await page.context().newPage()
  opened.setDefaultTimeout(patience.timeout)
  await signIn(opened, platform)
  await opened.goto(`${platform.url}/console/bots/${bot.id}/versions`)
  await opened.getByRole('list', { name: 'Versions' }).getByRole('listitem').first().waitFor()
  await opened.evaluate('globalThis.isSamePage = true')
  const isAway = /\/console/
  await opened.route(isAway, (route) => route.abort())
  await opened.getByRole('navigation', { name: 'Parts of the bot' }).getByRole('link', { name: 'Code' }).click()
  await opened.getByText('This part of the console cannot be loaded.').waitFor()
  await opened.unroute(isAway)
  await opened.getByRole('button', { name: 'Try again' }).click()
  await opened.locator('.monaco-editor .view-line').first().waitFor()
  expect(await opened.evaluate('globalThis.isSamePage')).toBe(true)
  const position = `getComputedStyle(document.querySelector('.monaco-editor .view-line')).position`
  expect(await opened.evaluate<string>(position)).toBe('absolute')
  await opened.close()
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConversation } from '../flows/conversation.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let complaints: string[]

const flow = {
  id: 'main',
  start: 'name',
  nodes: [
    {
      id: 'name',
      cards: [{ id: 'ask', type: 'capture', message: 'Your name?', variable: 'user.name' }],
      next: 'greet',
    },
    { id: 'greet', cards: [{ id: 'say', type: 'say', message: 'Hello {{user.name}}' }] },
  ],
}
const other = { id: 'other', start: 'a', nodes: [{ id: 'a', cards: [{ id: 'say', type: 'say', message: 'Other' }] }] }

beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts, /status of 400/))
  await signIn(page, platform)
}, installing)
afterAll(() => parts.disposeAsync())

const text = () => page.locator('.monaco-editor .view-line').first()
const box = (name: RegExp) => page.getByRole('region', { name: 'Picture', exact: true }).getByRole('link', { name })
const deployButton = () => page.getByRole('button', { name: 'Deploy', exact: true })

async function edit(bot: DeployedBot, id: string): Promise<void> {
  await page.goto(`${platform.url}/console/bots/${bot.id}/flows/${id}`)
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await text().waitFor()
}

/** Replaces the text by pasting, since the editor closes brackets that are typed. */
async function write(changed: object): Promise<void> {
  await text().click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(JSON.stringify(changed))})
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }`)
}

const flowsOf = async ({ id }: DeployedBot) => {
  const { bot } = (await platform.ask('GET', `/v1/admin/bots/${id}`)).body
  return (await platform.ask('GET', `/v1/admin/bots/${id}/versions/${bot.version.id}`)).body.version.flows
}

test('a flow is changed as text beside a picture that follows it, and is deployed by keyboard', async () => {
  const bot = await platform.createBot('', { flows: [flow, other] })
  await edit(bot, 'main')
  await box(/^name/).waitFor()
  const thanks = { id: 'thanks', cards: [{ id: 'say', type: 'say', message: 'Thank you' }] }
  await write({ ...flow, nodes: [flow.nodes[0], { ...flow.nodes[1], next: 'thanks' }, thanks] })
  await box(/^thanks/).waitFor()
  // While the text is no JSON, the last picture stays.
  await page.keyboard.press('x')
  await page.locator('.squiggly-error').first().waitFor()
  expect(await box(/^thanks/).count()).toBe(1)
  await page.keyboard.press('Backspace')
  await page.keyboard.press('ControlOrMeta+S')
  await page.getByText('Deployed: it handles all events from now on.').waitFor()
  await expect.poll(() => page.getByText('not deployed').count(), patience).toBe(0)
  // The editor has the focus and its history still.
  await page.keyboard.press('ControlOrMeta+Z')
  await page.getByText('not deployed').waitFor()
  expect((await flowsOf(bot)).map(({ id }: { id: string }) => id)).toEqual(['main', 'other'])
  const ada = await openConversation(platform, bot)
  expect(await ada.say('hi')).toEqual(['Your name?'])
  expect(await ada.say('Ada')).toEqual(['Hello Ada', 'Thank you'])
  expect(complaints).toEqual([])
})

test('Tab indents in the editor, and after Escape leaves it, until another key is typed', async () => {
  const bot = await platform.createBot('', { flows: [flow] })
  await edit(bot, 'main')
  await text().click()
  await page.getByRole('textbox', { name: /Escape, then Tab leaves it/ }).waitFor({ state: 'attached' })
  const hasFocus = async () => (await page.locator('.monaco-editor :focus').count()) === 1
  await expect.poll(hasFocus, patience).toBe(true)
  await page.keyboard.press('Tab')
  await page.getByText('not deployed').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  expect(await hasFocus()).toBe(true)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await expect.poll(hasFocus, patience).toBe(false)
  await page.keyboard.press('Shift+Tab')
  await expect.poll(hasFocus, patience).toBe(true)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Shift+Tab')
  await expect.poll(hasFocus, patience).toBe(false)
  await page.getByRole('button', { name: 'Discard' }).click()
})

test('a refused flow names the fault, goes to its place, and leaves the deployed one in service', async () => {
  const bot = await platform.createBot('', { flows: [flow] })
  await edit(bot, 'main')
  await write({ ...flow, nodes: [flow.nodes[0], { ...flow.nodes[1], cards: [{ id: 'say', type: 'shout' }] }] })
  await deployButton().click()
  await page.getByRole('alert').getByText("'shout' is not a type of cards").waitFor()
  await page.locator('.squiggly-error').first().waitFor()
  expect(await flowsOf(bot)).toEqual([flow])
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => page.getByText('not deployed').count(), patience).toBe(0)
})

test('nodes at which conversations wait are removed only on confirmation', async () => {
  const bot = await platform.createBot('', { flows: [flow] })
  const ada = await openConversation(platform, bot)
  await ada.say('hi')
  await edit(bot, 'main')
  const changed = { ...flow, start: 'greet', nodes: [flow.nodes[1]] }
  await write(changed)
  await deployButton().click()
  await page.getByText('Conversations wait at nodes that the new version does not have: main/name (1)').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await flowsOf(bot)).toEqual([flow])
  await deployButton().click()
  await page.getByRole('button', { name: 'Deploy without them' }).click()
  await expect.poll(() => flowsOf(bot), patience).toEqual([changed])
})

test('a deployment of another member is replaced only by a second attempt, and keeps its other flows', async () => {
  const bot = await platform.createBot('', { flows: [flow, other] })
  await edit(bot, 'main')
  await write({ ...flow, name: 'Mine' })
  const theirs = { ...flow, name: 'Theirs' }
  const added = { ...other, id: 'added' }
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { flows: [theirs, added] })
  await deployButton().click()
  await page.getByText('The flow was changed by another deployment in the meantime').waitFor()
  expect(await flowsOf(bot)).toEqual([theirs, added])
  await deployButton().click()
  await expect.poll(() => flowsOf(bot), patience).toEqual([{ ...flow, name: 'Mine' }, added])
})

test('changed text stays although another deployment deletes its flow, which a deployment adds again', async () => {
  const bot = await platform.createBot('', { flows: [flow, other] })
  const kept = page.getByText('Another deployment has deleted this flow')
  const losing = async () => {
    await edit(bot, 'other')
    await write({ ...other, name: 'Mine' })
    await page.getByText('not deployed').waitFor()
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { flows: [flow] })
    await kept.waitFor()
  }
  await losing()
  await deployButton().click()
  await expect.poll(() => flowsOf(bot), patience).toEqual([flow, { ...other, name: 'Mine' }])
  await expect.poll(() => kept.count(), patience).toBe(0)
  await losing()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('list', { name: 'Flows' }).getByText('main').waitFor()
  expect(await flowsOf(bot)).toEqual([flow])
})

test('a bot without code gets its first flow here, and another one, which it loses again', async () => {
  const { bot } = (await platform.ask('POST', '/v1/admin/bots', { name: 'Empty' })).body
  const add = async () => {
    await page.goto(`${platform.url}/console/bots/${bot.id}/flows`)
    await page.getByRole('link', { name: 'New flow' }).click()
    await box(/^begin/).waitFor()
    await page.evaluate(`{
      window.denials = []
      new MutationObserver(() => {
        const text = document.querySelector('.tab').innerText
        if (/not found|No flow yet/.test(text)) denials.push(text)
      }).observe(document.body, { childList: true, subtree: true })
    }`)
    await deployButton().click()
  }
  await add()
  await expect.poll(() => page.url(), patience).toContain('/flows/main?edit=')
  // A bot has flows or code.
  await page.getByText('flows/main.json').waitFor()
  expect(await page.evaluate('denials')).toEqual([])
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await add()
  await expect.poll(() => page.url(), patience).toContain('/flows/flow-2?edit=')
  await page.getByRole('button', { name: 'Delete' }).click()
  expect(await page.evaluate('denials')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(async () => (await flowsOf(bot)).map(({ id }: { id: string }) => id), patience).toEqual(['main'])
  await page.getByRole('list', { name: 'Flows' }).getByText('main').waitFor()
  expect(complaints).toEqual([])
})

test('a node that is chosen in the picture is where the cursor goes, and drafts outlive the page of the flow', async () => {
  const bot = await platform.createBot('', { flows: [flow, other] })
  await edit(bot, 'main')
  await box(/^greet/).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url(), patience).toContain('node=greet')
  await page.locator('.monaco-editor :focus').waitFor({ state: 'attached' })
  await page.keyboard.press('End')
  await page.keyboard.insertText(' ')
  await page.getByText('not deployed').waitFor()
  await page.getByRole('link', { name: 'Flows', exact: true }).first().click()
  await page.getByRole('link', { name: 'main', exact: true }).click()
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByText('not deployed').waitFor()
})

test.each([
  ['of a bundle', 'export const hooks = {}\n//# sourceMappingURL=bot.js.map\n', [flow], 'This is a bundle'],
  ['in code', `export const flows = ${JSON.stringify([flow])}`, undefined, 'The code exports these flows'],
])('flows %s are not changed here', async (_where, code, flows, reason) => {
  const bot = await platform.createBot(code, { ...(flows && { flows }) })
  await page.goto(`${platform.url}/console/bots/${bot.id}/flows/main?edit=`)
  await page.getByText(reason).waitFor()
  expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0)
  expect(await page.locator('.monaco-editor').count()).toBe(0)
})

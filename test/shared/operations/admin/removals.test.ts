import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../../cli/postgres/free-port.ts'
import { installCode } from '../../../support/install-code.ts'
import { openPlatform, send, type Platform } from '../../../support/platform.ts'
import { startProcess } from '../../../support/processes.ts'

/** Takes its time to unregister. */
const code = `
  export const unregister = () => new Promise((resolve) => setTimeout(resolve, 2000))
  export const actions = { nothing: () => ({}) }`

const patience = { timeout: 20_000, interval: 20 }

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Waits until the integration unregisters. */
async function untilUnregistering(botId: string): Promise<void> {
  const runs = platform.context.db('events').where({ bot_id: botId, type: 'unregister' }).where('attempt', '>', 0)
  await expect.poll(async () => (await runs.clone()).length, patience).toBe(1)
}

async function aliasesOf(botId: string): Promise<string[]> {
  const { body } = await platform.ask('GET', `/v1/admin/bots/${botId}`)
  return Object.keys(body.bot.integrations)
}

test('an integration whose removal has been stored is removed although the api is killed meanwhile', async () => {
  const { id } = await platform.createBot()
  const { webhookId } = await installCode(platform, id, code)
  const port = await freePort()
  const api = await startProcess(platform, 'api', { PORT: String(port) })
  try {
    const bot = `http://127.0.0.1:${port}/v1/admin/bots/${id}`
    const headers = { authorization: `Bearer ${platform.token}`, 'x-workspace-id': platform.workspaceId }
    await expect
      .poll(() => send('GET', bot, undefined, headers).catch(() => ({})), patience)
      .toMatchObject({ status: 200 })
    const answer = send('PUT', bot, { integrations: { tool: null } }, headers).catch((error: unknown) => error)
    await untilUnregistering(id)
    process.kill(api.pid, 'SIGKILL')
    expect(await answer).toBeInstanceOf(Error)
    await expect.poll(() => aliasesOf(id), patience).toEqual(['chat'])
    expect(await platform.context.installations.find(webhookId)).toBeUndefined()
  } finally {
    await api.stop()
  }
})

test('the states of the users and conversations of an integration go with it, those of others stay', async () => {
  const { id } = await platform.createBot()
  await installCode(platform, id, 'export const channels = {}')
  const asBot = (path: string, body: object) => platform.ask('POST', `/v1/chat${path}`, body, { 'x-bot-id': id })
  for (const integrationName of ['tool', 'chat']) {
    const { conversation } = (await asBot('/conversations', { channel: 'channel', tags: {}, integrationName })).body
    const { user } = (await asBot('/users', { tags: {}, integrationName })).body
    const begun = { name: 'order', status: 'listening', conversationId: conversation.id }
    const { workflow } = (await asBot('/workflows', begun)).body
    for (const [type, { id: owner }] of Object.entries({ conversation, user, workflow })) {
      const stored = await asBot(`/states/${type}/${owner}/notes`, { payload: { of: integrationName } })
      expect(stored).toMatchObject({ status: 200 })
    }
  }
  expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { tool: null } })).toMatchObject({
    status: 200,
  })
  const left = await platform.context.db('states').where({ bot_id: id }).orderBy('type')
  expect(left.map(({ type, payload }) => [type, payload['of']])).toEqual([
    ['conversation', 'chat'],
    ['user', 'chat'],
    ['workflow', 'chat'],
  ])
})

test('an integration that is installed again while it is being removed stays, and is registered', async () => {
  const { id } = await platform.createBot()
  const { integrationId } = await installCode(platform, id, code)
  const removal = platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { tool: null } })
  await untilUnregistering(id)
  const integrations = { tool: { integrationId, enabled: true, configuration: {} } }
  const installed = await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations })
  expect(installed).toMatchObject({ status: 200, body: { bot: { integrations: { tool: { status: 'registered' } } } } })
  expect(await removal).toMatchObject({ status: 200 })
  expect(await aliasesOf(id)).toContain('tool')
})

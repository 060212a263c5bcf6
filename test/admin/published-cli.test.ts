import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatter } from '../chatter.ts'
import { openPlatform, type Platform } from '../platform.ts'
import { findPublishedCli, openPublishedCli, remedy, type PublishedCli } from '../published-cli.ts'

let platform: Platform
let bp: string | undefined
let cli: PublishedCli
beforeAll(async () => {
  bp = await findPublishedCli()
  platform = await openPlatform()
  if (bp === undefined) return
  cli = await openPublishedCli(bp, platform)
  await cli.run('login', '--token', platform.token, '--workspace-id', platform.workspaceId, '--api-url', platform.url)
}, 300_000)
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

async function botsNamed(name: string): Promise<{ id: string }[]> {
  const { body } = await platform.ask('GET', '/v1/admin/bots')
  return body.bots.filter((bot: { name: string }) => bot.name === name)
}

test('the published command line creates, lists, shows and deletes bots', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  await cli.run('bots', 'create', '--name', 'till')
  const [bot] = await botsNamed('till')
  expect(await cli.run('bots', 'list', '--json')).toContain(bot!.id)
  expect(await cli.run('bots', 'get', bot!.id, '--json')).toContain('till')
  await cli.run('bots', 'delete', bot!.id)
  expect(await botsNamed('till')).toEqual([])
})

test('the published command line deploys a bot, which answers', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  const { id, chatUrl } = await platform.createBot()
  const project = await cli.createProject('echo-bot')
  expect(await cli.run('deploy', '--work-dir', project, '--bot-id', id)).toContain('Bot deployed')
  const chatter = await createChatter(chatUrl)
  const conversationId = await chatter.createConversation()
  await chatter.say(conversationId, 'Hello')
  const heard = async () => (await chatter.heard(conversationId)).map(({ text }) => text)
  await expect.poll(heard, { timeout: 15_000 }).toEqual(['Hello', 'You said: Hello'])
})

test('the published command line deploys an integration, and again', { timeout: 120_000 }, async ({ skip }) => {
  if (bp === undefined) return skip(remedy)
  const project = await cli.createProject('hello-world', (text) => text.replace('"hello-world"', '"acme/hello-world"'))
  expect(await cli.run('deploy', '--work-dir', project)).toContain('Integration deployed')
  // The workspace has the handle now that the integration's name begins with.
  const { body } = await platform.ask('GET', `/v1/admin/workspaces/${platform.workspaceId}`)
  expect(body.handle).toBe('acme')
  expect(await cli.run('deploy', '--work-dir', project)).toContain('already exists')
  expect(await cli.run('integrations', 'list', '--json')).toContain('acme/hello-world')
  expect(await cli.run('integrations', 'get', 'acme/hello-world@0.0.1', '--json')).toContain('helloWorld')
})

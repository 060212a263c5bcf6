import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChatUser } from '../../../support/chat-client.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const saying = (text: string) => `export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const { conversationId } = event
    await client.createMessage({ conversationId, type: 'text', payload: { text: '${text}' } })
  },
}
`

const flow = (id: string, message: string) => ({
  id,
  start: 'only',
  nodes: [{ id: 'only', cards: [{ id: 'greet', type: 'say', message }] }],
})

/** A bot whose versions say these words, the last of them in service; and the versions' ids in the same order. */
async function createBot(...words: string[]): Promise<DeployedBot & { versions: string[] }> {
  const bot = await platform.createBot(saying(words[0]!))
  const versions: string[] = []
  for (const text of words) {
    const { body } = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: saying(text) })
    versions.push(body.bot.version.id)
  }
  return { ...bot, versions }
}

async function answerOf({ chatUrl }: DeployedBot): Promise<string> {
  const chatUser = await createChatUser(chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, 'Hello')
  const heard = () => chatUser.messages(conversationId)
  await expect.poll(heard, { timeout: 10_000 }).toHaveLength(2)
  return (await heard())[1]!.text
}

test('a version says who uploaded it, and what is new in it', async () => {
  const { id } = await createBot('one')
  const { authorization } = await createMember(platform, 'developer', platform.workspaceId)
  const body = { code: saying('two'), note: 'It says two' }
  expect((await platform.ask('PUT', `/v1/admin/bots/${id}`, body, { authorization })).status).toBe(200)
  const listed = (await platform.ask('GET', `/v1/admin/bots/${id}/versions`)).body.versions
  expect(listed.slice(0, 2)).toMatchObject([
    { description: 'It says two', author: { id: expect.stringMatching(/^account_/), name: 'developer' } },
    { author: { name: 'Administrator' } },
  ])

  await platform.ask('POST', `/v1/admin/bots/${id}/versions`, { name: 'release' })
  const [named] = (await platform.ask('GET', `/v1/admin/bots/${id}/versions`)).body.versions
  expect(named).toMatchObject({ name: 'release', description: 'It says two' })
})

const rollBack = (id: string) => platform.ask('POST', `/v1/admin/bots/${id}/rollback`, {})

describe('a bot’s versions', () => {
  test('are listed newest first, with the one in service and what each declares', async () => {
    const { id, versions } = await createBot('one', 'two')
    const listed = (await platform.ask('GET', `/v1/admin/bots/${id}/versions`)).body
    expect(listed.versions).toHaveLength(3)
    expect(listed.versions.slice(0, 2)).toMatchObject([
      { id: versions[1], isDeployed: true, kind: 'native', hooks: ['afterIncomingMessage'] },
      { id: versions[0], isDeployed: false },
    ])
    expect(listed.versions[0].name).toBe(listed.versions[0].hash.slice(0, 7))
    const path = `/v1/admin/bots/${id}/versions?pageSize=2`
    const { body: first } = await platform.ask('GET', path)
    const { body: second } = await platform.ask('GET', `${path}&nextToken=${first.meta.nextToken}`)
    expect([...first.versions, ...second.versions]).toEqual(listed.versions)
  })

  test('are shown with their code, and compared by its lines', async () => {
    const { id, versions } = await createBot('one', 'two')
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}/versions/${versions[0]}`)
    expect(body.version).toMatchObject({ id: versions[0], code: saying('one') })
    expect(await client.getBotVersion({ id, versionId: versions[0]! })).toMatchObject({ url: body.url })
    const compared = await platform.ask('GET', `/v1/admin/bots/${id}/versions/${versions[0]}/compare`)
    const line = (text: string) => saying(text).split('\n')[3]
    expect(compared.body).toMatchObject({
      from: { id: versions[1], isDeployed: true },
      to: { id: versions[0] },
      changes: [{ fromLine: 4, toLine: 4, removed: [line('two')], added: [line('one')] }],
    })
    const same = `/v1/admin/bots/${id}/versions/${versions[0]}/compare?from=${versions[0]}`
    expect((await platform.ask('GET', same)).body.changes).toEqual([])
  })

  test('are shown with their flows and layouts, and compared by flows, not by layouts', async () => {
    const layouts = { main: { only: { x: 10, y: 20.5 } } }
    const first = { flows: [flow('main', 'Hello'), flow('old', 'x'), flow('same', 'x')], layouts }
    const { id } = await platform.createBot('', first)
    const update = async (body: object): Promise<string> => {
      const answer = await platform.ask('PUT', `/v1/admin/bots/${id}`, body)
      return answer.body.bot.version.id
    }
    const compare = async (from: string, to: string) =>
      (await platform.ask('GET', `/v1/admin/bots/${id}/versions/${to}/compare?from=${from}`)).body.flows
    const [before] = (await platform.ask('GET', `/v1/admin/bots/${id}/versions`)).body.versions
    const shown = (await platform.ask('GET', `/v1/admin/bots/${id}/versions/${before.id}`)).body.version
    expect(shown).toMatchObject(first)

    const second = [flow('same', 'x'), flow('main', 'Good evening'), flow('new', 'x')]
    const after = await update({ flows: second })
    expect(await compare(before.id, after)).toEqual({ added: ['new'], removed: ['old'], changed: ['main'] })
    const moved = await update({ flows: second, layouts: { main: { only: { x: 0, y: 0 } } } })
    expect(await compare(after, moved)).toEqual({ added: [], removed: [], changed: [] })
    const withoutFlows = await update({ code: saying('one'), flows: [] })
    expect(await compare(moved, withoutFlows)).toEqual({ added: [], removed: ['same', 'main', 'new'], changed: [] })
  })

  test('are not compared line by line where they have so many that it would hold up others', async () => {
    const { id, versions } = await createBot('one')
    const code = `${';\n'.repeat(60_000)}${saying('two')}`
    expect(await platform.ask('PUT', `/v1/admin/bots/${id}`, { code })).toMatchObject({ status: 200 })
    expect(await platform.ask('GET', `/v1/admin/bots/${id}/versions/${versions[0]}/compare`)).toMatchObject({
      status: 413,
      body: { type: 'LimitExceeded', message: expect.stringContaining('50000 lines') },
    })
  })

  test('are given names by the published client, and put in service by it', async () => {
    const bot = await createBot('one', 'two')
    const { version } = await client.createBotVersion({ id: bot.id, name: 'Spring', description: 'With flowers' })
    expect(version).toMatchObject({ id: bot.versions[1], name: 'Spring', description: 'With flowers' })
    await client.deployBotVersion({ id: bot.id, versionId: bot.versions[0]! })
    expect(await answerOf(bot)).toBe('one')
    const { versions } = await client.listBotVersions({ id: bot.id })
    expect(versions.find(({ id }) => id === version.id)).toMatchObject({ name: 'Spring' })
  })

  test('of another bot, or of a bot of another workspace, are not there', async () => {
    const [bot, other] = [await createBot('one'), await createBot('two')]
    const versionId = other.versions[0]!
    await expect(client.deployBotVersion({ id: bot.id, versionId })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    const from = `/v1/admin/bots/${bot.id}/versions/${bot.versions[0]}/compare?from=${versionId}`
    expect(await platform.ask('GET', from)).toMatchObject({ status: 404 })
    const stranger = await createMember(platform, 'owner')
    const path = `/v1/admin/bots/${bot.id}`
    for (const [method, rest, body] of [
      ['GET', '/versions'],
      ['GET', `/versions/${bot.versions[0]}`],
      ['GET', `/versions/${bot.versions[0]}/compare`],
      ['POST', '/versions', { name: 'Mine' }],
      ['POST', '/versions/deploy', { versionId: bot.versions[0] }],
      ['POST', '/rollback', {}],
      ['GET', '/logs?timeStart=2024-01-01T00:00:00Z'],
    ] as const) {
      expect(await platform.ask(method, path + rest, body, stranger)).toMatchObject({ status: 404 })
    }
    expect(await answerOf(bot)).toBe('one')
  })
})

describe('a bot is rolled back', () => {
  test('in one call, version by version, to the first', async () => {
    const bot = await createBot('one', 'two', 'three')
    expect((await rollBack(bot.id)).body.bot.version.id).toBe(bot.versions[1])
    expect(await answerOf(bot)).toBe('two')
    await rollBack(bot.id)
    await rollBack(bot.id)
    expect(await rollBack(bot.id)).toMatchObject({ status: 404, body: { type: 'ResourceNotFound' } })
    expect(await answerOf(bot)).toBe('one')
  })

  test('past a version that was taken out of service, which is not put in service again', async () => {
    const { id, versions } = await createBot('one', 'two', 'three')
    await platform.context.db('disabled_code').insert({ bot_id: id, code_id: versions[1]!, reason: 'It looped' })
    const { body } = await platform.ask('POST', `/v1/admin/bots/${id}/versions/deploy`, { versionId: versions[1] })
    expect(body).toMatchObject({ type: 'InvalidPayload', message: expect.stringContaining('It looped') })
    expect((await rollBack(id)).body.bot.version.id).toBe(versions[0])
  })
})

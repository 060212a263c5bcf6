import { afterAll, beforeAll, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { isForMembers } from '#shared/rpc/caller.ts'
import { insertMember } from '#shared/store/accounts.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { createMember } from '../../support/members.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

type Headers = Record<string, string>

const text = (of: string) => ({ type: 'text', payload: { text: of } })

/** A bot without code, a conversation that it has handed over, and one that it has not. */
async function open() {
  const bot = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(bot.chatUrl)
  const [handed, own] = [await user.createConversation(), await user.createConversation()]
  const handover = await platform.ask('POST', `/v1/chat/conversations/${handed}/handover`, {}, { 'x-bot-id': bot.id })
  const ask = (as: Headers, method: string, path: string, body = method === 'GET' ? undefined : {}) =>
    platform.ask(method, `/v1/admin/bots/${bot.id}${path}`, body, as)
  return { botId: bot.id, handed, own, handoverId: handover.body.handover.id as string, ask }
}

async function accountOf(member: Headers): Promise<string> {
  return (await platform.ask('GET', '/v1/admin/account/me', undefined, member)).body.account.id
}

test('an agent answers in a conversation that is handed over, and hands it back', async () => {
  const { handed, handoverId, ask } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  expect((await ask(agent, 'GET', '/handovers?status=open')).body.handovers).toMatchObject([{ id: handoverId }])
  expect((await ask(agent, 'POST', `/conversations/${handed}/handover`)).status).toBe(200)
  expect((await ask(agent, 'POST', `/conversations/${handed}/messages`, text('I am here'))).status).toBe(201)
  const read = await ask(agent, 'GET', `/conversations/${handed}/messages`)
  expect(read.body.messages).toMatchObject([{ payload: { text: 'I am here' } }])
  expect((await ask(agent, 'POST', `/handovers/${handoverId}/resolve`)).status).toBe(200)
  expect(await replies(platform, handed)).toEqual(['I am here'])
  expect((await ask(agent, 'GET', `/conversations/${handed}/messages`)).status).toBe(200)
})

test('an agent finds no conversation that was never handed over, nor those of other workspaces', async () => {
  const { botId, own, handed, ask } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const stranger = await createMember(platform, 'agent')
  for (const [member, conversation] of [
    [agent, own],
    [stranger, handed],
  ] as const) {
    const here = `/conversations/${conversation}`
    expect((await ask(member, 'GET', here)).status).toBe(404)
    expect((await ask(member, 'GET', `${here}/messages`)).status).toBe(404)
    expect((await ask(member, 'POST', `${here}/handover`)).status).toBe(404)
    expect((await ask(member, 'POST', `${here}/messages`, text('hi'))).status).toBe(404)
  }
  expect(await platform.context.db('handovers').where({ bot_id: botId, conversation_id: own })).toEqual([])
})

test('an agent sees neither the states of a conversation nor its position in flows', async () => {
  const { botId, handed, ask } = await open()
  const path = `/v1/chat/states/conversation/${handed}/secret`
  const set = await platform.ask('POST', path, { payload: { token: 'internal' } }, { 'x-bot-id': botId })
  expect(set.status).toBe(200)
  const [agent, developer] = await Promise.all(
    (['agent', 'developer'] as const).map((role) => createMember(platform, role, platform.workspaceId)),
  )
  expect((await ask(developer!, 'GET', `/conversations/${handed}`)).body.states).toHaveLength(1)
  expect((await ask(agent!, 'GET', `/conversations/${handed}`)).body.states).toEqual([])
})

test('an agent is refused all other operations of a workspace, and may not act as a bot of it', async () => {
  const { botId } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const permitted: string[] = []
  for (const { name, method, path, access } of Object.values(operations)) {
    if (!isForMembers(access) && access !== 'bot' && access !== 'program') continue
    const target = path.replace('{botId}', botId).replaceAll(/\{\w+\*?\}/g, 'none')
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    const { status } = await platform.ask(method, target, body, { ...agent, 'x-bot-id': botId })
    if (status !== 403) permitted.push(name)
  }
  expect(permitted.toSorted()).toEqual([
    'assignHandover',
    'createCannedReply',
    'createHandoverNote',
    'deleteCannedReply',
    'deleteHandoverNote',
    'getBotConversation',
    'getWorkspace',
    'getWorkspaceMember',
    'listBotConversationMessages',
    'listCannedReplies',
    'listHandoverNotes',
    'listHandovers',
    'listWorkspaceHandovers',
    'listWorkspaceMembers',
    'markHandoverRead',
    'replyInConversation',
    'resolveHandover',
    'takeOverConversation',
    'updateCannedReply',
  ])
})

test('a handover that is assigned while its member becomes a viewer belongs to no member afterwards', async () => {
  const { handoverId, ask } = await open()
  const [ada, agent] = await Promise.all(
    (['developer', 'agent'] as const).map((role) => createMember(platform, role, platform.workspaceId)),
  )
  const accountId = await accountOf(agent!)
  const { db } = platform.context
  const held = await db.transaction()
  await held('handovers').where({ id: handoverId }).forUpdate()
  const waiting = db('pg_stat_activity').whereRaw(`datname = current_database() and wait_event_type = 'Lock'`)
  const assigned = ask(ada!, 'PUT', `/handovers/${handoverId}/member`, { memberId: accountId })
  await expect.poll(() => waiting.clone().select('pid'), { timeout: 10_000 }).toHaveLength(1)
  const changed = platform.ask('PUT', `/v1/admin/workspace-members/${accountId}`, { role: 'viewer' })
  await expect.poll(() => waiting.clone().select('pid'), { timeout: 10_000 }).toHaveLength(2)
  await held.commit()
  expect([(await assigned).status, (await changed).status]).toEqual([200, 200])
  expect(await db('handovers').where({ id: handoverId })).toMatchObject([{ status: 'pending', account_id: null }])
})

test('a bot that moves to another workspace leaves the members of the former one behind', async () => {
  const { botId, handed, ask } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  await ask(agent, 'POST', `/conversations/${handed}/handover`)
  const other = await createMember(platform, 'owner')
  const target = other['x-workspace-id']
  const { id: accountId } = (await platform.ask('GET', '/v1/admin/account/me')).body.account as { id: string }
  await insertMember(platform.context.db, { workspaceId: target, accountId, role: 'owner' })
  const moved = await platform.ask('POST', `/v1/admin/bots/${botId}/transfer`, { targetWorkspaceId: target })
  expect(moved.status).toBe(200)
  expect((await ask(agent, 'GET', '/handovers')).status).toBe(404)
  expect((await ask(other, 'GET', '/handovers')).body.handovers).toMatchObject([{ status: 'pending' }])
})

test('members write notes about a handover, and delete their own', async () => {
  const { handed, handoverId, botId, ask } = await open()
  const [ada, eve] = await Promise.all([1, 2].map(() => createMember(platform, 'agent', platform.workspaceId)))
  const notes = `/handovers/${handoverId}/notes`
  const write = (member: Headers, text: string) =>
    platform.ask('POST', `/v1/admin/bots/${botId}${notes}`, { text }, member)
  const { note } = (await write(ada!, 'Ordered twice')).body
  expect((await write(eve!, 'Called back')).status).toBe(201)
  expect((await ask(ada!, 'GET', notes)).body.notes).toMatchObject([{ text: 'Called back' }, { text: 'Ordered twice' }])
  expect((await ask(eve!, 'DELETE', `${notes}/${note.id}`)).status).toBe(404)
  expect((await ask(ada!, 'DELETE', `${notes}/${note.id}`)).status).toBe(200)
  const stranger = await createMember(platform, 'owner')
  expect((await ask(stranger, 'GET', notes)).status).toBe(404)
  expect((await write(stranger, 'hello')).status).toBe(404)
  const { reading } = (await ask(ada!, 'GET', notes)).body
  await ask(ada!, 'GET', `${notes}?reading=${reading}`)
  const readings = { operation: 'listHandoverNotes', resource_id: handoverId }
  expect(await platform.context.db('audit_records').where(readings)).toHaveLength(2)
  expect(await replies(platform, handed)).toEqual([])
  const another = await open()
  expect((await another.ask(ada!, 'GET', notes)).status).toBe(404)
})

test('canned replies have unique shortcuts, and are those of one workspace', async () => {
  const [ada, stranger] = [await createMember(platform, 'agent'), await createMember(platform, 'agent')]
  const create = (member: Headers, shortcut: string) =>
    platform.ask('POST', '/v1/admin/canned-replies', { shortcut, text: `Text of ${shortcut}` }, member)
  const { cannedReply: hello } = (await create(ada, 'hello')).body
  const bye = (await create(ada, 'bye')).body.cannedReply
  expect((await create(ada, 'hello')).status).toBe(409)
  expect((await create(stranger, 'hello')).status).toBe(201)
  expect((await create(ada, 'Not valid')).status).toBe(400)
  const path = `/v1/admin/canned-replies/${bye.id}`
  expect((await platform.ask('PUT', path, { shortcut: 'hello' }, ada)).status).toBe(409)
  expect((await platform.ask('PUT', path, { text: 'Goodbye' }, stranger)).status).toBe(404)
  expect((await platform.ask('PUT', path, { text: 'Goodbye' }, ada)).body.cannedReply).toEqual({
    ...bye,
    text: 'Goodbye',
  })
  const listed = await platform.ask('GET', '/v1/admin/canned-replies', undefined, ada)
  expect(listed.body.cannedReplies).toEqual([{ ...bye, text: 'Goodbye' }, hello])
  expect((await platform.ask('DELETE', path, undefined, stranger)).status).toBe(404)
  expect((await platform.ask('DELETE', path, undefined, ada)).status).toBe(200)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { isForMembers } from '#shared/rpc/caller.ts'
import { insertMember } from '#shared/store/accounts.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { countLockWaits } from '../../support/databases.ts'
import { createMember } from '../../support/members.ts'
import { openEntryPoints } from '../../support/entry-points.ts'
import { listen } from '../../support/event-stream.ts'
import { followInbox } from '../../support/follow-inbox.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { installWebchat, visit } from '../../support/webchat.ts'

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

test('an agent sends no components to a web chat, which would be code in the page of a site', async () => {
  const bot = await platform.createBot('export const hooks = {}')
  const visitor = await visit(await installWebchat(platform, bot.id))
  const { conversationId } = visitor
  const here = `/v1/admin/bots/${bot.id}/conversations/${conversationId}`
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': bot.id })
  await platform.ask('POST', `${here}/handover`, {}, agent)
  const component = { url: 'https://evil.example/code.js', name: 'Code' }
  const answers = [
    await platform.ask('POST', `${here}/messages`, { type: 'custom', payload: component }, agent),
    await platform.ask('POST', `${here}/messages`, { type: 'text', payload: { type: 'custom', ...component } }, agent),
  ]
  const refusal = { status: 400, body: { message: expect.stringContaining('code in the page') } }
  expect(answers).toMatchObject([refusal, refusal])
  expect((await platform.ask('POST', `${here}/messages`, text('I am here'), agent)).status).toBe(201)
  const ofBot = { conversationId, type: 'custom', payload: component }
  expect((await platform.ask('POST', '/v1/chat/messages', ofBot, { 'x-bot-id': bot.id })).status).toBe(201)
  const { body } = await visitor.ask('GET', `/conversations/${conversationId}/messages`)
  expect(body.messages.map(({ payload }: { payload: { type: string } }) => payload.type)).toEqual(['custom', 'text'])
  await visitor.stream.close()
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
    const headers = { ...agent, 'x-bot-id': botId, 'content-type': 'application/json' }
    const abort = new AbortController()
    const given = { method, headers, signal: abort.signal, ...(body && { body: JSON.stringify(body) }) }
    const { status } = await fetch(`${platform.url}${target}`, given)
    // One of the answers is a stream without an end.
    abort.abort()
    if (status !== 403) permitted.push(name)
  }
  expect(permitted.toSorted()).toEqual([
    'assignHandover',
    'createCannedReply',
    'createConversationFile',
    'createHandoverNote',
    'deleteCannedReply',
    'deleteHandoverNote',
    'followBotConversation',
    'followInbox',
    'getBotConversation',
    'getWorkspace',
    'getWorkspaceMember',
    'leaveInbox',
    'listBotConversationMessages',
    'listCannedReplies',
    'listHandoverNotes',
    'listHandovers',
    'listPresence',
    'listWorkspaceHandovers',
    'listWorkspaceMembers',
    'markHandoverRead',
    'replyInConversation',
    'resolveHandover',
    'takeOverConversation',
    'typeInConversation',
    'updateCannedReply',
    'updatePresence',
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
  const assigned = ask(ada!, 'PUT', `/handovers/${handoverId}/member`, { memberId: accountId })
  await expect.poll(() => countLockWaits(db), { timeout: 10_000 }).toBe(1)
  const changed = platform.ask('PUT', `/v1/admin/workspace-members/${accountId}`, { role: 'viewer' })
  await expect.poll(() => countLockWaits(db), { timeout: 10_000 }).toBe(2)
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

test('colleagues and bots see who is online, and who is away, until the heartbeat is too old', async () => {
  const { entryPoints } = await openEntryPoints(platform)
  const { db } = platform.context
  const ada = await createMember(platform, 'agent', platform.workspaceId)
  const [viewer, id] = [await createMember(platform, 'viewer', platform.workspaceId), await accountOf(ada)]
  const mine = async () => {
    const { members } = (await platform.ask('GET', '/v1/admin/presence', undefined, ada)).body
    return (members as { id: string; status: string }[]).find((member) => member.id === id)
  }
  const beat = (as: Headers, body: object) => platform.ask('PUT', '/v1/admin/presence', body, as)
  const counts = async () => (await entryPoints.overHttp('GET', '/v1/chat/presence')).body as object
  await db('member_presences').delete()
  expect(await mine()).toMatchObject({ status: 'offline', openHandovers: 0 })
  expect(await counts()).toEqual({ online: 0, away: 0 })
  expect((await beat(viewer, {})).status).toBe(403)
  expect((await beat(ada, {})).body.presence).toMatchObject({ status: 'online' })
  expect(await counts()).toEqual({ online: 1, away: 0 })
  expect((await entryPoints.fromSandbox('GET', '/v1/chat/presence')).body).toEqual({ online: 1, away: 0 })
  await beat(ada, { away: true })
  expect((await beat(ada, {})).body.presence).toMatchObject({ status: 'away' })
  expect([await mine(), await counts()]).toMatchObject([{ status: 'away' }, { online: 0, away: 1 }])
  await db('member_presences').update({ present_until: new Date() })
  expect([await mine(), await counts()]).toMatchObject([{ status: 'offline' }, { online: 0, away: 0 }])
  await beat(ada, { away: false })
  expect(await mine()).toMatchObject({ status: 'online' })
  await platform.ask('DELETE', '/v1/admin/presence', undefined, ada)
  expect(await mine()).toMatchObject({ status: 'offline' })
  await beat(ada, {})
  const stranger = await createMember(platform, 'owner')
  const { members } = (await platform.ask('GET', '/v1/admin/presence', undefined, stranger)).body
  expect(members).toHaveLength(1)
  await platform.ask('PUT', `/v1/admin/workspace-members/${id}`, { role: 'viewer' })
  expect(await counts()).toEqual({ online: 0, away: 0 })
})

test('an open inbox is told of handovers, messages, typing and presence, and of no other workspace', async () => {
  const bot = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const [ada, stranger] = [
    await createMember(platform, 'agent', platform.workspaceId),
    await createMember(platform, 'agent'),
  ]
  const memberId = await accountOf(ada)
  const [mine, theirs] = [await followInbox(platform, ada), await followInbox(platform, stranger)]
  await expect.poll(mine.lines, { timeout: 10_000 }).toEqual([{ type: 'ready' }])
  const here = `/v1/admin/bots/${bot.id}/conversations/${conversationId}`
  const typing = `/conversations/${conversationId}/typing`
  // Without a handover, nobody is told.
  expect((await user.ask('POST', typing, {})).status).toBe(200)
  const begun = await platform.ask(
    'POST',
    `/v1/chat/conversations/${conversationId}/handover`,
    {},
    { 'x-bot-id': bot.id },
  )
  const { id: handoverId } = begun.body.handover
  const subject = { botId: bot.id, conversationId, handoverId }
  await platform.ask('POST', `${here}/handover`, {}, ada)
  await user.ask('POST', typing, {})
  await user.send(conversationId, 'hello')
  await endedEvents(platform, bot.id, 1)
  await platform.ask('PUT', '/v1/admin/presence', {}, ada)
  await platform.ask('PUT', '/v1/admin/presence', {}, ada)
  await platform.ask('PUT', `/v1/admin/bots/${bot.id}/handovers/${handoverId}/member`, { memberId: null }, ada)
  await platform.ask('POST', `/v1/admin/bots/${bot.id}/handovers/${handoverId}/resolve`, {}, ada)
  const ofBot = () =>
    mine.lines().filter(({ conversationId: id, type }) => id === conversationId || type === 'presence')
  await expect.poll(ofBot, { timeout: 10_000 }).toHaveLength(7)
  expect(ofBot()).toEqual(
    expect.arrayContaining([
      { type: 'handover', change: 'created', ...subject },
      { type: 'handover', change: 'assigned', memberId, ...subject },
      { type: 'typing', isTyping: true, memberId, ...subject },
      { type: 'message', memberId, ...subject },
      { type: 'presence', memberId },
      { type: 'handover', change: 'released', ...subject },
      { type: 'handover', change: 'ended', ...subject },
    ]),
  )
  expect(theirs.lines()).toEqual([{ type: 'ready' }])
  const outsider = await createChatUser(bot.chatUrl)
  expect((await outsider.ask('POST', typing, {})).status).toBe(403)
  await Promise.all([mine.close(), theirs.close()])
})

test('a member has few streams of the inbox open at once', async () => {
  const ada = await createMember(platform, 'agent', platform.workspaceId)
  const streams = await Promise.all(Array.from({ length: 11 }, () => followInbox(platform, ada)))
  expect(streams.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(200), 429])
  await Promise.all(streams.map((stream) => stream.close()))
  const status = async () => {
    const stream = await followInbox(platform, ada)
    await stream.close()
    return stream.status
  }
  await expect.poll(status, { timeout: 10_000 }).toBe(200)
})

test('the member who answers types and sends files, and no other member does', async () => {
  const bot = await platform.createBot('export const hooks = {}')
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const [ada, eve] = await Promise.all([1, 2].map(() => createMember(platform, 'agent', platform.workspaceId)))
  const here = `/v1/admin/bots/${bot.id}/conversations/${conversationId}`
  const type = (as: Headers, body = {}) => platform.ask('POST', `${here}/typing`, body, as)
  const create = (as: Headers, file = { key: 'invoice.pdf', size: 5 }) =>
    platform.ask('POST', `${here}/files`, file, as)
  expect([(await type(ada!)).status, (await create(ada!)).status]).toEqual([404, 404])
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': bot.id })
  await platform.ask('POST', `${here}/handover`, {}, ada)
  expect([(await type(eve!)).status, (await create(eve!)).status]).toEqual([409, 409])

  const stream = await listen(bot.chatUrl, user.key, conversationId)
  expect((await type(ada!)).status).toBe(200)
  await type(ada!, { isTyping: false })
  const typed = () => stream.frames().filter((frame) => frame.type.startsWith('typing'))
  await expect.poll(typed, { timeout: 10_000 }).toHaveLength(2)
  const { userId } = typed()[0]!.data as { userId: string }
  expect(typed()).toEqual([
    { type: 'typing_started', data: { conversationId, userId, timeout: 5000 } },
    { type: 'typing_stopped', data: { conversationId, userId } },
  ])
  await stream.close()

  const { status, body } = await create(ada!)
  expect(status).toBe(201)
  const { file } = body
  expect(file).toMatchObject({ key: 'invoice.pdf', contentType: 'application/pdf' })
  const put = (content: string) => fetch(file.uploadUrl as string, { method: 'PUT', body: content })
  expect((await put('longer than said')).status).toBe(403)
  const again = (await create(ada!)).body.file
  expect((await fetch(again.uploadUrl as string, { method: 'PUT', body: '%PDF-' })).status).toBe(200)
  const payload = { type: 'file', fileUrl: again.url, title: again.key }
  expect((await platform.ask('POST', `${here}/messages`, { type: 'file', payload }, ada)).status).toBe(201)
  const served = await fetch(again.url as string)
  expect([served.status, await served.text()]).toEqual([200, '%PDF-'])
  expect(served.headers.get('content-security-policy')).toContain('sandbox')
  expect(served.headers.get('content-disposition')).toMatch(/^attachment/)
  const [row] = await platform.context.db('files').where({ id: again.id })
  expect(row).toMatchObject({ owner_type: 'user', user_id: userId, index: false })
  const days = (new Date(again.expiresAt as string).getTime() - Date.now()) / (24 * 3600 * 1000)
  expect(Math.round(days)).toBe(30)
  expect((await create(ada!, { key: 'large.bin', size: 2 ** 40 })).status).toBe(413)
})

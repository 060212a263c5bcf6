import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { announceEnd } from '#shared/messaging/handovers.ts'
import type { Handover } from '#shared/models/handover.ts'
import type { HandoverRow } from '#shared/models/tables.ts'
import { claimNextEvents } from '#shared/store/mailboxes.ts'
import { insertConversationEvent } from '#shared/store/events.ts'
import { endHandover } from '#shared/store/handovers.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { createMember } from '../../support/members.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Answers each message with its text; `help` hands the conversation over, and `crash` fails once after that. */
const code = `
  export const retry = { attempts: 2, backoff: 1 }
  let runs = 0
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, payload } = event
      const say = (text) => client.createMessage({ conversationId, type: 'text', payload: { text } })
      if (payload.text === 'help' || payload.text === 'crash') {
        await client.callAction({ type: 'fetchPerson', input: { conversationId, title: payload.text } })
        if (payload.text === 'crash' && ++runs === 1) throw new Error('once more')
        return say('I fetch a person')
      }
      await say('bot: ' + payload.text)
    },
    beforeIncomingEvent({ event, logger }) { logger.info(event.type + ' ' + event.payload.status) },
  }
  export const actions = {
    ping: () => ({ pong: true }),
    async fetchPerson({ input, client }) {
      await client.handover({ ...input, description: 'wants a person' })
      return {}
    },
  }`

interface Scene {
  botId: string
  user: ChatUser
  conversationId: string
  /** Calls an operation on the conversation as a member. */
  asMember(member: Record<string, string>, method: string, path: string, body?: object): ReturnType<Platform['ask']>
}

async function open(): Promise<Scene> {
  const bot = await platform.createBot(code)
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  return {
    botId: bot.id,
    user,
    conversationId,
    asMember: (member, method, path, body = method === 'GET' ? undefined : {}) =>
      platform.ask(method, `/v1/admin/bots/${bot.id}${path}`, body, member),
  }
}

async function accountOf(member: Record<string, string>): Promise<string> {
  return (await platform.ask('GET', '/v1/admin/account/me', undefined, member)).body.account.id
}

const text = (of: string) => ({ type: 'text', payload: { text: of } })

test('a bot hands a conversation over, and receives no event of it until a program hands it back', async () => {
  const { botId, user, conversationId } = await open()
  const asBot = { 'x-bot-id': botId }
  const path = `/v1/chat/conversations/${conversationId}/handover`
  await user.send(conversationId, 'help')
  await user.send(conversationId, 'anyone?')
  const [, withheld] = await endedEvents(platform, botId, 2)
  expect(await replies(platform, conversationId)).toEqual(['I fetch a person'])
  const { handover } = (await platform.ask('GET', path, undefined, asBot)).body as { handover: Handover }
  expect(handover).toMatchObject({
    status: 'pending',
    requestedBy: 'bot',
    title: 'help',
    description: 'wants a person',
  })
  expect(withheld).toMatchObject({ status: 'ignored', handover_id: handover.id })
  const action = await platform.ask('POST', '/v1/chat/actions', { type: 'ping', input: {} }, asBot)
  expect(action.body).toMatchObject({ output: { pong: true } })

  expect((await platform.ask('DELETE', path, undefined, asBot)).body.handover).toMatchObject({ status: 'resolved' })
  expect((await platform.ask('DELETE', path, undefined, asBot)).status).toBe(404)
  expect((await platform.ask('GET', path, undefined, asBot)).body).toEqual({})
  await user.send(conversationId, 'hello')
  await endedEvents(platform, botId, 5)
  expect(await replies(platform, conversationId)).toEqual(['I fetch a person', 'bot: hello'])
  const lines = await platform.context.db('logs').where({ bot_id: botId }).pluck('message')
  expect(lines).toContain('handover_ended resolved')
})

test('a run that fails after it has handed the conversation over runs again to its end', async () => {
  const { botId, user, conversationId } = await open()
  await user.send(conversationId, 'crash')
  await endedEvents(platform, botId, 1)
  expect(await replies(platform, conversationId)).toEqual(['I fetch a person'])
  expect(await platform.context.db('handovers').where({ bot_id: botId })).toHaveLength(1)
})

test('a member takes a conversation over, answers under the own name, and hands it back', async () => {
  const { botId, user, conversationId, asMember } = await open()
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const here = `/conversations/${conversationId}`
  expect((await asMember(ada, 'POST', `${here}/messages`, text('hi'))).status).toBe(404)
  const taken = await asMember(ada, 'POST', `${here}/handover`)
  expect(taken.body.handover).toMatchObject({
    status: 'assigned',
    requestedBy: 'member',
    member: { name: 'developer' },
  })
  await user.send(conversationId, 'who is there?')
  await endedEvents(platform, botId, 1)
  const sent = await asMember(ada, 'POST', `${here}/messages`, text('A person'))
  expect(sent.status).toBe(201)
  const [, message] = await user.messages(conversationId)
  const participants = await user.ask('GET', `/conversations/${conversationId}/participants`)
  expect(message).toMatchObject({ text: 'A person' })
  expect(participants.body.participants).toContainEqual(
    expect.objectContaining({ id: message?.userId, name: 'developer' }),
  )
  const { id } = taken.body.handover as Handover
  const ended = await asMember(ada, 'POST', `/handovers/${id}/resolve`)
  expect(ended.body.handover).toMatchObject({ status: 'resolved', firstReplyAt: expect.any(String) as string })
  expect((await asMember(ada, 'POST', `/handovers/${id}/resolve`)).status).toBe(409)
  expect((await asMember(ada, 'POST', `${here}/messages`, text('again'))).status).toBe(404)
  await user.send(conversationId, 'hello')
  await endedEvents(platform, botId, 3)
  expect(await replies(platform, conversationId)).toEqual(['A person', 'bot: hello'])
  const records = await platform.context.db('audit_records').where({ resource_id: id })
  expect(records.map(({ operation }) => operation)).toContain('resolveHandover')
})

test('users never see the email address of a member whose account has no name', async () => {
  const { user, conversationId, asMember } = await open()
  const anna = await createMember(platform, 'developer', platform.workspaceId)
  const accountId = await accountOf(anna)
  // As an invitation without a name makes it.
  await platform.context.db('accounts').where({ id: accountId }).update({ name: 'anna.lee@example.com' })
  const here = `/conversations/${conversationId}`
  const seen = async () =>
    (await user.ask('GET', `${here}/participants`)).body.participants.map(({ name }: { name?: string }) => name)
  await asMember(anna, 'POST', `${here}/handover`)
  await asMember(anna, 'POST', `${here}/messages`, text('Hello'))
  expect(await seen()).toContain('anna.lee')
  await platform.context.db('accounts').where({ id: accountId }).update({ name: 'Anna' })
  await asMember(anna, 'POST', `${here}/messages`, text('Hello again'))
  expect(await seen()).toContain('Anna')
})

test('transcripts and lists have the member who wrote a message, also when the account is deleted', async () => {
  const { botId, user, conversationId, asMember } = await open()
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const id = await accountOf(ada)
  const pictureUrl = 'https://example.com/ada.png'
  await platform.context.db('accounts').where({ id }).update({ name: 'Ada', picture_url: pictureUrl })
  const here = `/conversations/${conversationId}`
  await user.send(conversationId, 'help')
  await endedEvents(platform, botId, 1)
  await asMember(ada, 'POST', `${here}/handover`)
  await asMember(ada, 'POST', `${here}/messages`, text('A person'))
  const author = async () => (await asMember({}, 'GET', `${here}/messages`)).body.messages[0].author
  expect(await author()).toEqual({ kind: 'member', id, name: 'Ada', pictureUrl })
  const { conversations } = (await asMember({}, 'GET', '/conversations')).body
  expect(conversations[0].message).toMatchObject({ preview: 'A person', author: 'member' })
  const { participants } = (await asMember({}, 'GET', here)).body
  expect(participants.map(({ isMember }: { isMember: boolean }) => isMember)).toEqual([false, true])
  await platform.context.db('accounts').where({ id }).delete()
  expect(await author()).toMatchObject({ kind: 'member', name: 'Ada' })
  const { participants: remaining } = (await asMember({}, 'GET', here)).body
  expect(remaining).toMatchObject([{ isMember: false }, { isMember: true, name: 'Ada' }])
})

test('of members who take a conversation at once, one gets it, and the others may not write', async () => {
  const { user, botId, conversationId, asMember } = await open()
  await user.send(conversationId, 'help')
  await endedEvents(platform, botId, 1)
  const members = await Promise.all(
    Array.from({ length: 8 }, () => createMember(platform, 'developer', platform.workspaceId)),
  )
  const here = `/conversations/${conversationId}`
  const taken = await Promise.all(members.map((member) => asMember(member, 'POST', `${here}/handover`)))
  expect(taken.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
  const written = await Promise.all(members.map((member) => asMember(member, 'POST', `${here}/messages`, text('mine'))))
  expect(written.map(({ status }) => status)).toEqual(taken.map(({ status }) => (status === 200 ? 201 : 409)))
  expect(await replies(platform, conversationId)).toEqual(['I fetch a person', 'mine'])
})

test('events that wait when a handover ends are not handed to the bot', async () => {
  const { botId, conversationId } = await open()
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  const [{ id }] = (await platform.context.db('handovers').where({ bot_id: botId })) as [HandoverRow]
  // In one transaction, so that no worker sees the event before the end.
  const end = await platform.context.db.transaction(async (transaction) => {
    await insertConversationEvent(transaction, { id: newId('evt'), botId, conversationId, type: 'late', payload: {} })
    return endHandover(transaction, { botId, id, status: 'resolved' })
  })
  await announceEnd(platform.context, end!)
  const [late] = await endedEvents(platform, botId, 2)
  expect(late).toMatchObject({ type: 'late', status: 'ignored', attempt: 0, handover_id: id })
  const shown = await platform.ask('GET', `/v1/admin/bots/${botId}/events/${late!.id}`)
  expect(shown.body.event).toMatchObject({ status: 'ignored', handoverId: id })
})

test('workflows go on during a handover, and begin no flow', async () => {
  const bot = await platform.createBot(`
    export const hooks = {
      async afterIncomingEvent({ event, client }) {
        if (event.type !== 'workflow_update') return
        const { type, workflow } = event.payload
        const { id, conversationId } = workflow
        const status = type === 'workflow_started' ? 'listening' : 'completed'
        await client.updateWorkflow({ id, status })
        await client.createMessage({ conversationId, type: 'text', payload: { text: status } })
      },
    }
    const say = { id: 'say', type: 'say', message: 'a flow' }
    export const flows = [{
      id: 'main',
      start: 'only',
      triggers: [{ id: 'updates', event: 'workflow_update' }],
      nodes: [{ id: 'only', cards: [say] }],
    }]`)
  const asBot = { 'x-bot-id': bot.id }
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const handover = `/v1/chat/conversations/${conversationId}/handover`
  await platform.ask('POST', handover, {}, asBot)
  const begun = { name: 'order', status: 'pending', conversationId }
  const { id } = (await platform.ask('POST', '/v1/chat/workflows', begun, asBot)).body.workflow
  await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['listening'])
  await platform.ask('POST', '/v1/chat/events', { type: 'paid', payload: {}, workflowId: id, conversationId }, asBot)
  await expect.poll(() => replies(platform, conversationId), { timeout: 20_000 }).toEqual(['listening', 'completed'])

  // An update that still waits when the handover ends is handled after it.
  const { db } = platform.context
  const { id: eventId, mailbox } = await db.transaction(async (transaction) => {
    const update = { type: 'workflow_update', workflowId: id, payload: { type: 'workflow_timedout', workflow: { id } } }
    const event = await insertConversationEvent(transaction, {
      id: newId('evt'),
      botId: bot.id,
      conversationId,
      ...update,
    })
    const open = await transaction('handovers').where({ conversation_id: conversationId }).first()
    await endHandover(transaction, { botId: bot.id, id: open!.id, status: 'resolved' })
    return event!
  })
  expect(await db('events').where({ id: eventId }).first()).toMatchObject({ status: 'pending', mailbox })
})

test('an event that was claimed during a handover is not handled after it, although its worker died', async () => {
  const { botId, conversationId } = await open()
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  const { db } = platform.context
  const event = { id: newId('evt'), botId, conversationId, type: 'late', payload: {} }
  await insertConversationEvent(db, event)
  expect(await claimNextEvents(db, [conversationId])).toMatchObject([{ id: event.id, attempt: 1 }])
  await platform.ask('DELETE', `/v1/chat/conversations/${conversationId}/handover`, undefined, { 'x-bot-id': botId })
  const ended = await endedEvents(platform, botId, 2)
  expect(ended).toMatchObject([{ id: event.id, status: 'ignored', attempt: 2 }, { type: 'handover_ended' }])
})

test('a member who becomes a viewer answers no longer', async () => {
  const { conversationId, asMember } = await open()
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const { member } = (await asMember(ada, 'POST', `/conversations/${conversationId}/handover`)).body
    .handover as Handover
  const change = await platform.ask('PUT', `/v1/admin/workspace-members/${member!.id}`, { role: 'viewer' })
  expect(change.status).toBe(200)
  const eve = await createMember(platform, 'developer', platform.workspaceId)
  expect((await asMember(eve, 'POST', `/conversations/${conversationId}/handover`)).status).toBe(200)
})

test('a handover whose member leaves the workspace is pending again', async () => {
  const { conversationId, asMember } = await open()
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const eve = await createMember(platform, 'developer', platform.workspaceId)
  const { handover } = (await asMember(ada, 'POST', `/conversations/${conversationId}/handover`)).body as {
    handover: Handover
  }
  await platform.ask('DELETE', `/v1/admin/workspace-members/${handover.member!.id}`)
  expect(
    (await asMember(ada, 'POST', `/conversations/${conversationId}/messages`, text('still here'))).status,
  ).not.toBe(201)
  const listed = await asMember(eve, 'GET', '/handovers?status=open')
  expect(listed.body.handovers).toEqual([expect.objectContaining({ id: handover.id, status: 'pending' })])
  expect((await asMember(eve, 'POST', `/conversations/${conversationId}/handover`)).status).toBe(200)
})

test('a handover is assigned to another member, and not to a viewer', async () => {
  const { conversationId, asMember } = await open()
  const [ada, eve, viewer] = await Promise.all(
    (['developer', 'developer', 'viewer'] as const).map((role) => createMember(platform, role, platform.workspaceId)),
  )
  const { id } = (await asMember(ada!, 'POST', `/conversations/${conversationId}/handover`)).body.handover as Handover
  const assign = async (member: Record<string, string> | null) =>
    asMember(ada!, 'PUT', `/handovers/${id}/member`, { memberId: member && (await accountOf(member)) })
  expect((await assign(viewer!)).status).toBe(400)
  expect((await asMember(viewer!, 'GET', '/handovers')).status).toBe(403)
  expect((await assign(eve!)).body.handover.member).toMatchObject({ id: await accountOf(eve!) })
  expect((await asMember(ada!, 'POST', `/conversations/${conversationId}/messages`, text('no'))).status).toBe(409)
  expect((await asMember(eve!, 'POST', `/conversations/${conversationId}/messages`, text('yes'))).status).toBe(201)
  expect((await assign(null)).body.handover).toMatchObject({ status: 'pending' })
})

test('a handover ends by itself when its time is over', async () => {
  const { botId, user, conversationId } = await open()
  const path = `/v1/chat/conversations/${conversationId}/handover`
  await platform.ask('POST', path, { expiresInSeconds: 1 }, { 'x-bot-id': botId })
  await platform.context
    .db('handovers')
    .where({ bot_id: botId })
    .update({ expires_at: new Date(0) })
  const [event] = await endedEvents(platform, botId, 1)
  expect(event).toMatchObject({ type: 'handover_ended', payload: { status: 'expired' } })
  await user.send(conversationId, 'hello')
  await endedEvents(platform, botId, 2)
  expect(await replies(platform, conversationId)).toEqual(['bot: hello'])
})

test('members of other workspaces, and keys of other bots, find no handover', async () => {
  const { botId, conversationId, asMember } = await open()
  const other = await open()
  const mallory = await createMember(platform, 'owner')
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  const [row] = await platform.context.db('handovers').where({ bot_id: botId })
  expect((await asMember(mallory, 'GET', '/handovers')).status).toBe(404)
  expect((await asMember(mallory, 'POST', `/conversations/${conversationId}/handover`)).status).toBe(404)
  expect((await asMember(mallory, 'POST', `/handovers/${row!.id}/resolve`)).status).toBe(404)
  const elsewhere = await platform.ask('POST', `/v1/admin/bots/${other.botId}/handovers/${row!.id}/resolve`, {})
  expect(elsewhere.status).toBe(404)
  const asOther = { 'x-bot-id': other.botId }
  for (const method of ['GET', 'POST', 'DELETE']) {
    const { status } = await platform.ask(
      method,
      `/v1/chat/conversations/${conversationId}/handover`,
      method === 'POST' ? {} : undefined,
      asOther,
    )
    expect(status).toBe(404)
  }
})

test('pages of the handovers of all bots have each of them once, the oldest first', async () => {
  const scenes = [await open(), await open()]
  const ada = await createMember(platform, 'agent', platform.workspaceId)
  const memberId = await accountOf(ada)
  const begun: string[] = []
  for (const { botId, user, asMember } of [...scenes, ...scenes, scenes[0]!]) {
    const conversationId = await user.createConversation()
    await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
    const taken = await asMember(ada, 'POST', `/conversations/${conversationId}/handover`)
    begun.push((taken.body.handover as Handover).id)
  }
  const found: string[] = []
  for (let next = ''; ;) {
    const path = `/v1/admin/handovers?memberId=${memberId}&pageSize=2${next}`
    const { body } = await platform.ask('GET', path, undefined, ada)
    found.push(...body.handovers.map(({ handover }: { handover: Handover }) => handover.id))
    if (!body.meta.nextToken) break
    next = `&nextToken=${encodeURIComponent(body.meta.nextToken)}`
  }
  expect(found).toEqual(begun)
})

test('lists count the messages of the user that each member has not read', async () => {
  const { botId, user, conversationId, asMember } = await open()
  const [ada, eve] = await Promise.all([1, 2].map(() => createMember(platform, 'agent', platform.workspaceId)))
  await user.send(conversationId, 'before')
  await endedEvents(platform, botId, 1)
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  const here = `/conversations/${conversationId}`
  const unread = async (member: Record<string, string>) => {
    const { body } = await platform.ask('GET', `/v1/admin/handovers?botId=${botId}`, undefined, member)
    const ofBot = await asMember(member, 'GET', '/handovers')
    expect(ofBot.body.handovers).toEqual([body.handovers[0].handover])
    return (ofBot.body.handovers as { unreadCount: number }[])[0]!.unreadCount
  }
  expect(await unread(ada!)).toBe(0)
  for (const each of ['one', 'two', 'three']) await user.send(conversationId, each)
  const { id } = (await asMember(ada!, 'POST', `${here}/handover`)).body.handover as Handover
  expect([await unread(ada!), await unread(eve!)]).toEqual([3, 3])
  const { messages } = (await asMember(ada!, 'GET', `${here}/messages`)).body
  const read = (member: Record<string, string>, body = {}) => asMember(member, 'PUT', `/handovers/${id}/read`, body)
  expect((await read(eve!, { messageId: messages[1].id })).status).toBe(200)
  expect([await unread(ada!), await unread(eve!)]).toEqual([3, 1])
  // An earlier message than before takes nothing back.
  await read(eve!, { messageId: messages[2].id })
  expect(await unread(eve!)).toBe(1)
  await asMember(ada!, 'POST', `${here}/messages`, text('here I am'))
  await user.send(conversationId, 'four')
  expect([await unread(ada!), await unread(eve!)]).toEqual([1, 2])
  expect((await read(ada!)).status).toBe(200)
  expect([await unread(ada!), await unread(eve!)]).toEqual([0, 2])

  const elsewhere = await open()
  await elsewhere.user.send(elsewhere.conversationId, 'other')
  const [foreign] = (await elsewhere.asMember({}, 'GET', `/conversations/${elsewhere.conversationId}/messages`)).body
    .messages as { id: string }[]
  expect((await read(ada!, { messageId: foreign!.id })).status).toBe(404)
  expect((await elsewhere.asMember(ada!, 'PUT', `/handovers/${id}/read`)).status).toBe(404)
  const records = await platform.context.db('audit_records').where({ resource_id: id })
  expect(records.map(({ operation }) => operation)).not.toContain('markHandoverRead')
  await asMember(ada!, 'POST', `/handovers/${id}/resolve`)
  expect(await platform.context.db('handover_reads').where({ handover_id: id })).toHaveLength(2)
  expect((await asMember(eve!, 'GET', '/handovers?status=resolved')).body.handovers).toMatchObject([{ unreadCount: 0 }])
})

test('lists show the last message to the member who answers, and to nobody else', async () => {
  const { botId, conversationId, user, asMember } = await open()
  const [ada, eve] = [
    await createMember(platform, 'agent', platform.workspaceId),
    await createMember(platform, 'owner', platform.workspaceId),
  ]
  await platform.ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  await user.send(conversationId, `${'word '.repeat(40)}end`)
  const last = async (member: Record<string, string>) => {
    const mine = (await asMember(member, 'GET', '/handovers?status=open')).body.handovers[0].lastMessage
    const path = `/v1/admin/handovers?botId=${botId}`
    const [{ handover }] = (await platform.ask('GET', path, undefined, member)).body.handovers
    expect(handover.lastMessage).toEqual(mine)
    return mine as unknown
  }
  expect(await last(ada)).toBeUndefined()
  const { id } = (await asMember(ada, 'POST', `/conversations/${conversationId}/handover`)).body.handover as Handover
  const preview = 'word '.repeat(24)
  expect(await last(ada)).toEqual({ createdAt: expect.any(String), isFromUser: true, preview })
  await asMember(ada, 'POST', `/conversations/${conversationId}/messages`, text('here I am'))
  expect(await last(ada)).toMatchObject({ isFromUser: false, preview: 'here I am' })
  expect(await last(eve)).toBeUndefined()
  await asMember(ada, 'POST', `/handovers/${id}/resolve`)
  const ended = (await asMember(ada, 'GET', '/handovers?status=resolved')).body.handovers
  expect(ended).toMatchObject([{ id }])
  expect(ended[0].lastMessage).toBeUndefined()
})

test('lists are filtered by status, text, member and time', async () => {
  const { botId, user, asMember } = await open()
  const ada = await createMember(platform, 'agent', platform.workspaceId)
  const begin = async (title: string) => {
    const conversationId = await user.createConversation()
    const path = `/v1/chat/conversations/${conversationId}/handover`
    return (await platform.ask('POST', path, { title }, { 'x-bot-id': botId })).body.handover as Handover
  }
  const [refund, parcel, quiet] = [await begin('100 % REFUND'), await begin('Parcel_lost'), await begin('Quiet')]
  await asMember(ada, 'POST', `/conversations/${parcel.conversationId}/handover`)
  await asMember(ada, 'POST', `/handovers/${refund.id}/resolve`)
  await platform.context
    .db('users')
    .whereIn('id', platform.context.db('conversations').where({ id: quiet.conversationId }).select('owner_id'))
    .update({ name: 'Ünal' })
  const find = async (filter: Record<string, string>) => {
    const asked = new URLSearchParams({ ...filter, botId }).toString()
    const { body } = await platform.ask('GET', `/v1/admin/handovers?${asked}`, undefined, ada)
    const titles = (body.handovers as { handover: Handover }[]).map(({ handover }) => handover.title)
    const ofBot = (await asMember(ada, 'GET', `/handovers?${asked}`)).body.handovers as Handover[]
    expect(new Set(ofBot.map(({ title }) => title))).toEqual(new Set(titles))
    return titles
  }
  expect(await find({ status: 'open' })).toEqual(['Parcel_lost', 'Quiet'])
  expect(await find({ status: 'all' })).toEqual(['Quiet', 'Parcel_lost', '100 % REFUND'])
  expect(await find({ status: 'ended' })).toEqual(['100 % REFUND'])
  expect(await find({ status: 'assigned' })).toEqual(['Parcel_lost'])
  expect(await find({ status: 'all', text: '% refund' })).toEqual(['100 % REFUND'])
  expect(await find({ status: 'open', text: 'l_l' })).toEqual(['Parcel_lost'])
  expect(await find({ status: 'open', text: '%' })).toEqual([])
  expect(await find({ status: 'open', text: 'ÜNA' })).toEqual(['Parcel_lost', 'Quiet'])
  expect(await find({ status: 'all', text: refund.conversationId })).toEqual(['100 % REFUND'])
  expect(await find({ status: 'all', memberId: await accountOf(ada) })).toEqual(['Parcel_lost'])
  expect(await find({ status: 'all', timeStart: quiet.createdAt })).toEqual(['Quiet'])
  expect(await find({ status: 'all', timeEnd: refund.createdAt })).toEqual(['100 % REFUND'])
  const stranger = await createMember(platform, 'owner')
  const foreign = await platform.ask('GET', `/v1/admin/handovers?status=all&botId=${botId}`, undefined, stranger)
  expect(foreign.body.handovers).toEqual([])
})

async function readMetric(series: string): Promise<number> {
  const text = await platform.context.metrics.registry.metrics()
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length))
}

const presentMembers = async () => [
  await readMetric('isobot_members_present{status="online"}'),
  await readMetric('isobot_members_present{status="away"}'),
]

test('metrics have the members whose inbox is open, those who are away apart, and none whose role was taken away', async () => {
  const [eve, ada] = [
    await createMember(platform, 'agent', platform.workspaceId),
    await createMember(platform, 'agent'),
  ]
  const [online, away] = await presentMembers()
  await platform.ask('PUT', '/v1/admin/presence', {}, eve)
  await platform.ask('PUT', '/v1/admin/presence', { away: true }, ada)
  expect(await presentMembers()).toEqual([online! + 1, away! + 1])
  await platform.context
    .db('members')
    .where({ account_id: await accountOf(ada) })
    .update({ role: 'viewer' })
  expect(await presentMembers()).toEqual([online! + 1, away])
  await platform.ask('DELETE', '/v1/admin/presence', undefined, eve)
  expect(await presentMembers()).toEqual([online, away])
})

test('metrics have the handovers in progress, and the age of the oldest that no member has taken', async () => {
  const { botId, conversationId, asMember } = await open()
  const { context, ask } = platform
  const count = async () => [
    await readMetric('isobot_handovers_in_progress{status="pending"}'),
    await readMetric('isobot_handovers_in_progress{status="assigned"}'),
  ]
  const [pending, assigned] = await count()
  await ask('POST', `/v1/chat/conversations/${conversationId}/handover`, {}, { 'x-bot-id': botId })
  await context
    .db('handovers')
    .where({ bot_id: botId })
    .update({ created_at: new Date(Date.now() - 7_200_000) })
  expect(await count()).toEqual([pending! + 1, assigned])
  expect(await readMetric('isobot_oldest_pending_handover_seconds')).toBeGreaterThan(7000)
  const eve = await createMember(platform, 'agent', platform.workspaceId)
  const { id } = (await asMember(eve, 'POST', `/conversations/${conversationId}/handover`)).body.handover as Handover
  expect(await count()).toEqual([pending, assigned! + 1])
  await asMember(eve, 'POST', `/handovers/${id}/resolve`)
  expect(await count()).toEqual([pending, assigned])
})

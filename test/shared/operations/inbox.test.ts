import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Handover } from '#shared/models/handover.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { createMember } from '../../support/members.ts'
import { endedEvents, replies } from '../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/**
 * Hands conversations over to the inbox, as plugins do: `help` begins a session, `die` fails once after that, and `stop` ends
 * it; messages are copied both ways between the user's conversation and that of the inbox.
 */
const code = `
  export const retry = { attempts: 2, backoff: 1 }
  let runs = 0
  const tagOf = async (client, id, tag) => (await client.getConversation({ id })).conversation.tags[tag]
  const call = async (client, name, input) => (await client.callAction({ type: 'inbox:' + name, input })).output
  async function begin(client, { conversationId, userId }, title) {
    const { messages } = await client.listMessages({ conversationId })
    const patient = await call(client, 'createUser', { name: 'Grace', email: 'grace@example.com' })
    const messageHistory = messages.reverse().map(({ direction, type, payload }) => ({
      source: direction === 'outgoing' ? { type: 'bot' } : { type: 'user', userId: patient.userId }, type, payload,
    }))
    const session = await call(client, 'startHitl', {
      userId: patient.userId, title, messageHistory, hitlSession: { expiresInSeconds: 3600 },
    })
    if (title === 'die' && ++runs === 1) throw new Error('once more')
    await client.updateConversation({ id: conversationId, tags: { below: session.conversationId, patient: patient.userId } })
    await client.updateConversation({ id: session.conversationId, tags: { above: conversationId } })
    await client.updateUser({ id: userId, tags: { patient: patient.userId } })
  }
  export const hooks = {
    async afterIncomingMessage({ event, client }) {
      const { conversationId, payload, userId } = event
      const { type } = (await client.getMessage({ id: event.messageId })).message
      const { conversation } = await client.getConversation({ id: conversationId })
      const { below, above, patient } = conversation.tags
      if (above) return client.createMessage({ conversationId: above, type, payload })
      if (payload.text === 'help' || payload.text === 'die') return begin(client, event, payload.text)
      if (payload.text === 'stop') return call(client, 'stopHitl', { conversationId: below })
      if (below) return client.createMessage({ conversationId: below, type, payload: { ...payload, userId: patient } })
    },
    async afterIncomingEvent({ event, client }) {
      const { type, payload } = event
      if (!type.startsWith('inbox:')) return
      const above = await tagOf(client, payload.conversationId, 'above')
      const name = payload.userId && (await client.getUser({ id: payload.userId })).user.name
      await client.createMessage({ conversationId: above, type: 'text', payload: { text: type + ' ' + name } })
    },
  }`

interface Scene {
  bot: DeployedBot
  user: ChatUser
  conversationId: string
  asMember(member: Record<string, string>, method: string, path: string, body?: object): ReturnType<Platform['ask']>
  sessions(): Promise<Handover[]>
}

/** A bot with an inbox, and a user's conversation. */
async function open(): Promise<Scene> {
  const bot = await platform.createBot(code)
  const { body } = await platform.ask('GET', '/v1/admin/hub/integrations/inbox/latest')
  const inbox = { integrationId: body.integration.id, enabled: true, configuration: {} }
  expect((await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { inbox } })).status).toBe(200)
  const user = await createChatUser(bot.chatUrl)
  const conversationId = await user.createConversation()
  const asMember: Scene['asMember'] = (member, method, path, given = method === 'GET' ? undefined : {}) =>
    platform.ask(method, `/v1/admin/bots/${bot.id}${path}`, given, member)
  const sessions = async () =>
    (await platform.ask('GET', `/v1/admin/bots/${bot.id}/handovers`)).body.handovers as Handover[]
  return { bot, user, conversationId, asMember, sessions }
}

/** The text of each message of a conversation, the oldest first, with its direction. */
async function transcript({ bot }: Scene, conversationId: string): Promise<string[]> {
  const { body } = await platform.ask('GET', `/v1/admin/bots/${bot.id}/conversations/${conversationId}/messages`)
  const messages = body.messages as { author: { kind: string; name?: string }; payload: { text: string } }[]
  return messages.map(({ author, payload }) => `${author.name ?? author.kind}: ${payload.text}`).toReversed()
}

/** Begins a session, and waits for the end of the run that does so. */
async function begin(scene: Scene): Promise<Handover> {
  await scene.user.send(scene.conversationId, 'help')
  await expect.poll(async () => (await scene.sessions()).length, { timeout: 20_000 }).toBe(1)
  await endedEvents(platform, scene.bot.id, 1)
  return (await scene.sessions())[0]!
}

const text = (of: string) => ({ type: 'text', payload: { text: of } })
async function heard(scene: Scene, expected: string[]): Promise<void> {
  await expect.poll(() => replies(platform, scene.conversationId), { timeout: 20_000 }).toEqual(expected)
}

test('members answer in the inbox, and the bot copies messages both ways until they end the session', async () => {
  const scene = await open()
  const { user, conversationId, asMember } = scene
  const session = await begin(scene)
  expect(session).toMatchObject({
    status: 'pending',
    requestedBy: 'integration',
    integration: 'inbox',
    channel: 'hitl',
    title: 'help',
    user: { name: 'Grace' },
    expiresAt: expect.any(String) as string,
  })
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const below = `/conversations/${session.conversationId}`
  expect(await transcript(scene, session.conversationId)).toEqual(['Grace: help'])
  expect((await asMember(ada, 'POST', `${below}/handover`)).body.handover).toMatchObject({ status: 'assigned' })
  await heard(scene, ['inbox:hitlAssigned developer'])
  expect((await asMember(ada, 'POST', `${below}/messages`, text('How can I help?'))).status).toBe(201)
  await heard(scene, ['inbox:hitlAssigned developer', 'How can I help?'])
  await user.send(conversationId, 'My order')
  await expect
    .poll(() => transcript(scene, session.conversationId), { timeout: 20_000 })
    .toEqual(['Grace: help', 'developer: How can I help?', 'Grace: My order'])
  expect((await asMember(ada, 'POST', `/handovers/${session.id}/resolve`)).body.handover).toMatchObject({
    status: 'resolved',
    firstReplyAt: expect.any(String) as string,
  })
  await heard(scene, ['inbox:hitlAssigned developer', 'How can I help?', 'inbox:hitlStopped undefined'])
  expect((await asMember(ada, 'POST', `${below}/handover`)).status).toBe(409)
  expect((await asMember(ada, 'POST', `${below}/messages`, text('more'))).status).toBe(404)
  const statuses = await platform.context.db('events').where({ bot_id: scene.bot.id }).pluck('status')
  expect(new Set(statuses)).toEqual(new Set(['processed']))
})

test('of members who take a session at once, one gets it, and the bot receives one event', async () => {
  const scene = await open()
  const session = await begin(scene)
  const members = await Promise.all(
    Array.from({ length: 8 }, () => createMember(platform, 'developer', platform.workspaceId)),
  )
  const below = `/conversations/${session.conversationId}`
  const taken = await Promise.all(members.map((member) => scene.asMember(member, 'POST', `${below}/handover`)))
  expect(taken.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
  const winner = members[taken.findIndex(({ status }) => status === 200)]!
  expect((await scene.asMember(winner, 'POST', `${below}/handover`)).status).toBe(200)
  await endedEvents(platform, scene.bot.id, 2)
  await heard(scene, ['inbox:hitlAssigned developer'])
})

test('an event follows each change of the member, and none a repeated request', async () => {
  const scene = await open()
  const session = await begin(scene)
  const eve = await createMember(platform, 'agent', platform.workspaceId)
  const bob = await createMember(platform, 'agent', platform.workspaceId)
  for (const { authorization } of [eve, eve, bob, bob, eve]) {
    const memberId = authorization.replace('Bearer token-of-', '')
    const { body } = await scene.asMember(eve, 'PUT', `/handovers/${session.id}/member`, { memberId })
    expect(body.handover.member).toMatchObject({ id: memberId })
  }
  await heard(scene, Array(3).fill('inbox:hitlAssigned agent'))
})

test('a session begins once although the run that begins it fails, and members wait for the end of that run', async () => {
  const scene = await open()
  const { db } = platform.context
  await scene.user.send(scene.conversationId, 'die')
  await endedEvents(platform, scene.bot.id, 1)
  const sessions = await scene.sessions()
  expect(sessions).toHaveLength(1)
  const [{ id, conversationId }] = sessions as [Handover]
  expect(await db('users').where({ bot_id: scene.bot.id, name: 'Grace' })).toHaveLength(1)
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  const ofRun = { id: (await db('handovers').where({ id }).first('event_id'))!.event_id! }
  // In a status that no worker takes up: the run has not ended.
  await db('events')
    .where(ofRun)
    .update({ status: 'pending', available_at: new Date(Date.now() + 3_600_000) })
  for (const path of [`/conversations/${conversationId}/handover`, `/handovers/${id}/resolve`]) {
    const { status, body } = await scene.asMember(ada, 'POST', path)
    expect({ status, message: body.message }).toEqual({ status: 409, message: expect.stringContaining('try again') })
  }
  // A run that does not end keeps nobody waiting for ever.
  await db('handovers')
    .where({ id })
    .update({ created_at: new Date(Date.now() - 301_000) })
  expect((await scene.asMember(ada, 'POST', `/conversations/${conversationId}/handover`)).status).toBe(200)
  await db('events').where(ofRun).update({ status: 'processed' })
  expect((await scene.asMember(ada, 'POST', `/handovers/${id}/resolve`)).status).toBe(200)
})

test('the inbox of a bot is not removed while people answer through it', async () => {
  const scene = await open()
  const { bot } = scene
  const session = await begin(scene)
  const remove = () => platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { integrations: { inbox: null } })
  expect((await remove()).body).toMatchObject({
    type: 'ReferenceConstraint',
    message: expect.stringContaining('hand them back'),
  })
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  expect((await scene.asMember(ada, 'POST', `/handovers/${session.id}/resolve`)).status).toBe(200)
  await heard(scene, ['inbox:hitlStopped undefined'])
  await expect.poll(async () => (await remove()).status, { timeout: 20_000 }).toBe(200)
  expect(await scene.sessions()).toEqual([])
})

test('the bot ends a session without an event, also twice', async () => {
  const scene = await open()
  const session = await begin(scene)
  await scene.user.send(scene.conversationId, 'stop')
  await scene.user.send(scene.conversationId, 'stop')
  const events = await endedEvents(platform, scene.bot.id, 3)
  expect(events.map(({ type, status }) => `${type} ${status}`)).toEqual(Array(3).fill('message_created processed'))
  expect(await scene.sessions()).toMatchObject([{ id: session.id, status: 'resolved' }])
})

test('a session ends by itself when its time is over', async () => {
  const scene = await open()
  const session = await begin(scene)
  await platform.context
    .db('handovers')
    .where({ id: session.id })
    .update({ expires_at: new Date(0) })
  await heard(scene, ['inbox:hitlStopped undefined'])
  expect(await scene.sessions()).toMatchObject([{ status: 'expired' }])
})

test('the deletion of a user or a conversation reaches the copies in the inbox, and not members or other bots', async () => {
  const [scene, other] = [await open(), await open()]
  const { db } = platform.context
  const session = await begin(scene)
  const { conversationId: otherSession } = await begin(other)
  const ada = await createMember(platform, 'developer', platform.workspaceId)
  await scene.asMember(ada, 'POST', `/conversations/${session.conversationId}/handover`)
  const asBot = { 'x-bot-id': scene.bot.id }
  const { user_id: member } = await db('member_users')
    .join('users', 'users.id', 'user_id')
    .where({ bot_id: scene.bot.id })
    .first('user_id')
  const { owner_id: stranger } = (await db('conversations').where({ id: otherSession }).first('owner_id'))!
  const tags = { member, stranger }
  expect((await platform.ask('PUT', `/v1/chat/users/${scene.user.userId}`, { tags }, asBot)).status).toBe(200)
  expect((await scene.user.ask('DELETE', '/users/me')).status).toBe(200)
  expect(await db('users').where({ bot_id: scene.bot.id, name: 'Grace' })).toEqual([])
  expect(await db('users').whereIn('id', [member, stranger])).toHaveLength(2)
  expect(await transcript(scene, session.conversationId)).toEqual(['user: help'])
  expect(
    (await platform.ask('DELETE', `/v1/chat/conversations/${scene.conversationId}`, undefined, asBot)).status,
  ).toBe(200)
  expect(await scene.sessions()).toEqual([])
  expect(await db('messages').where({ conversation_id: session.conversationId })).toEqual([])
  expect(await other.sessions()).toHaveLength(1)
})

test('messages of all six types reach the inbox, and one in the name of a user whom it does not have is refused', async () => {
  const scene = await open()
  const { conversationId } = await begin(scene)
  const asBot = { 'x-bot-id': scene.bot.id }
  const say = (type: string, payload: object) =>
    platform.ask('POST', '/v1/chat/messages', { conversationId, type, payload, tags: {}, userId: scene.bot.id }, asBot)
  const url = 'https://example.com/a'
  for (const [type, payload] of Object.entries({
    text: { text: 'a' },
    image: { imageUrl: url },
    audio: { audioUrl: url },
    video: { videoUrl: url },
    file: { fileUrl: url, title: 'a' },
    bloc: { items: [{ type: 'markdown', payload: { markdown: '*a*' } }] },
  })) {
    expect((await say(type, { ...payload, additionalData: 'more' })).status).toBe(201)
  }
  for (const userId of [scene.user.userId, 'user_x']) {
    expect(await say('text', { text: 'a', userId })).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound' } })
  }
})

test('actions refuse users, conversations and bots that are not those of the inbox', async () => {
  const [scene, other, without] = [await open(), await open(), await platform.createBot(code)]
  const session = await begin(scene)
  const as = (botId: string, type: string, input: object) =>
    platform.ask('POST', '/v1/chat/actions', { type: `inbox:${type}`, input }, { 'x-bot-id': botId })
  const patient = (await as(scene.bot.id, 'createUser', { name: 'Alan' })).body.output.userId as string
  const start = { userId: patient, messageHistory: [] }
  expect((await as(scene.bot.id, 'startHitl', start)).status).toBe(200)
  const bySomeone = [{ source: { type: 'user', userId: scene.user.userId }, type: 'text', payload: { text: 'a' } }]
  const said = { source: { type: 'bot' }, type: 'text', payload: { text: 'a' } }
  const refused: [string, string, object][] = [
    [other.bot.id, 'startHitl', start],
    [other.bot.id, 'stopHitl', { conversationId: session.conversationId }],
    [scene.bot.id, 'stopHitl', { conversationId: scene.conversationId }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: bySomeone }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: [{ source: { type: 'bot' }, type: 'text' }] }],
    [scene.bot.id, 'startHitl', { ...start, hitlSession: { expiresInSeconds: 0 } }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: Array.from({ length: 1001 }, () => bySomeone[0]) }],
    [scene.bot.id, 'startHitl', { ...start, title: 'a\u0000' }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: [{ ...said, payload: { text: '\u0000' } }] }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: [{ ...said, source: { type: 'member' } }] }],
    [scene.bot.id, 'startHitl', { ...start, messageHistory: {} }],
    [scene.bot.id, 'createUser', { name: 'a\u0000' }],
    [scene.bot.id, 'createUser', { name: 'a', email: '\u0000' }],
    [scene.bot.id, 'createUser', { name: 'a'.repeat(1001) }],
    [scene.bot.id, 'unknown', {}],
    [without.id, 'createUser', { name: 'Alan' }],
  ]
  for (const [botId, type, input] of refused) {
    expect({ type, input, status: (await as(botId, type, input)).status }).toMatchObject({ type, input, status: 400 })
  }
  expect(await scene.sessions()).toHaveLength(2)
  const halves = {
    ...start,
    title: '\u{1f600}'.repeat(150).slice(0, -1),
    description: '\ud800',
    messageHistory: [said],
  }
  expect((await as(scene.bot.id, 'startHitl', halves)).status).toBe(200)
  const mallory = await createMember(platform, 'owner')
  for (const path of [`/conversations/${session.conversationId}/handover`, `/handovers/${session.id}/resolve`]) {
    expect((await scene.asMember(mallory, 'POST', path)).status).toBe(404)
  }
})

test('the inbox is found among public integrations by its interface, which look-ups of interfaces find too', async () => {
  const find = async (path: string) => (await platform.ask('GET', `/v1/admin/hub/${path}`)).body
  const [{ id }] = (await find('interfaces?name=hitl')).interfaces as [{ id: string }]
  for (const path of ['interfaces/hitl/%5E2.0.0', `interfaces/${id}`]) {
    const found = (await find(path)).interface
    expect(found).toMatchObject({ name: 'hitl', version: '2.1.0', public: true })
    expect(Object.keys(found.actions as object).toSorted()).toEqual(['createUser', 'startHitl', 'stopHitl'])
  }
  const anyAction = { input: { schema: {} }, output: { schema: {} } }
  // Published command lines deploy the projects of a checkout, of which it is one.
  const update = (change: object) => platform.ask('PUT', `/v1/admin/interfaces/${id}`, { public: true, ...change })
  expect((await update({ title: 'Other', actions: { stopHitl: anyAction } })).body.interface).toMatchObject({
    title: 'Human in the loop',
  })
  for (const actions of [{ stopHitl: null }, { pauseHitl: anyAction }]) {
    expect((await update({ actions })).status).toBe(403)
  }
  expect((await platform.ask('DELETE', `/v1/admin/interfaces/${id}`)).status).toBe(404)
  const { integrations } = await find(`integrations?interfaceId=${id}`)
  expect(integrations).toEqual([expect.objectContaining({ name: 'inbox' })])
  const { integration } = await find(`integrations/${integrations[0].id}`)
  expect(integration.interfaces.hitl).toMatchObject({ id, name: 'hitl', version: '2.1.0' })
  expect(Object.keys(integration.channels.hitl.messages as object)).toHaveLength(6)
  const { id: botId } = await platform.createBot()
  const install = (integrations: object) => platform.ask('PUT', `/v1/admin/bots/${botId}`, { integrations })
  expect((await install({ other: { integrationId: integration.id } })).status).toBe(400)
  expect((await install({ inbox: { integrationId: integration.id, configuration: { a: 1 } } })).status).toBe(400)
  const { body } = await install({ inbox: { integrationId: integration.id } })
  const { webhookId, version, title } = body.bot.integrations.inbox
  expect({ version, title }).toEqual({ version: '1.0.0', title: 'Inbox' })
  for (const path of [`chat/${webhookId}/hello`, `webchat/${webhookId}/conversations`, `webhooks/${webhookId}`]) {
    expect((await fetch(`${platform.url}/${path}`)).status).toBe(404)
  }
  // As command lines of earlier versions write it.
  const again = await install({ [integration.id]: { enabled: false, configuration: {} }, inbox: null })
  expect(again.body.bot.integrations.inbox).toMatchObject({ webhookId, enabled: false })
  const removed = await install({ inbox: null })
  expect(removed.body.bot.integrations).not.toHaveProperty('inbox')
})

/** The answer to a request of the administrator that succeeds. */
async function ask(method: string, path: string, body?: object) {
  const answer = await platform.ask(method, `/v1/admin/${path}`, body)
  expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  // oxlint-disable-next-line typescript/no-unsafe-return -- Answers are read field by field.
  return answer.body
}

const ofObject = (properties: object) => ({ schema: { type: 'object', properties } })

test('a plugin that needs the interface gets the parameters of the integration behind it: the inbox, or one of the workspace', async () => {
  const { interface: hitl } = await ask('GET', 'hub/interfaces/hitl/2.1.0')
  const { plugin } = await ask('POST', 'plugins', {
    name: `escalation-${crypto.randomUUID()}`,
    version: '1.0.0',
    public: true,
    code: { node: 'exports.node = 1', browser: 'exports.browser = 1' },
    actions: {
      start: { input: ofObject({ session: { $ref: 'interface:hitl/entities/hitlSession' } }), output: ofObject({}) },
    },
    dependencies: { interfaces: { hitl: { id: hitl.id, name: 'hitl', version: '2.1.0' } } },
  })
  const { actions, events, channels } = hitl
  const { integration: desk } = await ask('POST', 'integrations', {
    name: `desk-${crypto.randomUUID()}`,
    version: '1.0.0',
    code: 'export const actions = {}',
    entities: { ticket: ofObject({ priority: { type: 'string' } }) },
    actions: { ...actions, startHitl: { input: ofObject({}), output: ofObject({}) } },
    events,
    channels,
    interfaces: {
      hitl: { id: hitl.id, entities: { hitlSession: { name: 'ticket' } }, actions: {}, events: {}, channels: {} },
    },
  })
  const { integration: inbox } = await ask('GET', 'hub/integrations/inbox/latest')
  for (const [id, parameter] of [
    [inbox.id, 'expiresInSeconds'],
    [desk.id, 'priority'],
  ] as const) {
    const { plugin: found } = await ask('GET', `hub/plugins/${plugin.id}/dereferenced?interfaces%5Bhitl%5D=${id}`)
    const { session } = found.actions.start.input.schema.properties
    expect(Object.keys(session.properties as object)).toEqual([parameter])
  }
})

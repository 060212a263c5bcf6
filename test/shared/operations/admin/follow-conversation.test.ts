import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { hashToken } from '#shared/secrets.ts'
import { deleteSession, insertSession } from '#shared/store/sessions.ts'
import { signSessionToken } from '../../../../api/sign-in/session-token.ts'
import { createChatUser } from '../../../support/chat-client.ts'
import { followInbox, followLines } from '../../../support/follow-inbox.ts'
import { createMember } from '../../../support/members.ts'
import { endedEvents } from '../../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

type Headers = Record<string, string>

const patience = { timeout: 10_000 }

const code = `export const hooks = {
  async afterIncomingMessage({ event }) {
    if (event.preview === 'break') throw new Error('broken')
  },
}`

/** A conversation that is handed over, and one that is not. */
async function open() {
  const bot = await platform.createBot(code)
  const user = await createChatUser(bot.chatUrl)
  const [handed, own] = [await user.createConversation(), await user.createConversation()]
  const asBot = (path: string, body: object) => platform.ask('POST', `/v1/chat${path}`, body, { 'x-bot-id': bot.id })
  const { handover } = (await asBot(`/conversations/${handed}/handover`, {})).body
  const pathOf = (id: string) => `/bots/${bot.id}/conversations/${id}`
  const follow = (member: Headers, id: string, reading = '') =>
    followLines(platform, member, `${pathOf(id)}/follow?reading=${reading}`)
  const stream = (conversationId: string, signal: object) => {
    const input = { conversationId, signal: { streamId: 'answer', createdAt: new Date().toISOString(), ...signal } }
    return asBot('/actions', { type: 'chat:publishMessageStream', input })
  }
  return { bot, user, handed, own, handoverId: handover.id as string, asBot, pathOf, follow, stream }
}

test('a member is told of the parts of a message that the bot is writing, and of each change of the transcript', async () => {
  const { bot, user, own, asBot, pathOf, follow, stream } = await open()
  const developer = await createMember(platform, 'developer', platform.workspaceId)
  const opened = await platform.ask('GET', `/v1/admin${pathOf(own)}`, undefined, developer)
  const followed = await follow(developer, own, opened.body.reading)
  await expect.poll(followed.lines, patience).toEqual([{ type: 'ready' }])
  expect((await stream(own, { type: 'delta', sequence: 0, delta: 'Hel' })).status).toBe(200)
  await stream(own, { type: 'delta', sequence: 1, delta: 'lo' })
  const message = { conversationId: own, type: 'text', payload: { text: 'Hello', metadata: { streamId: 'answer' } } }
  const { status, body } = await asBot('/messages', { ...message, userId: bot.id, tags: {} })
  expect({ status, body }).toMatchObject({ status: 201 })
  await expect
    .poll(followed.lines, patience)
    .toEqual([
      { type: 'ready' },
      { type: 'message_stream_delta', streamId: 'answer', sequence: 0, delta: 'Hel', createdAt: expect.any(String) },
      { type: 'message_stream_delta', streamId: 'answer', sequence: 1, delta: 'lo', createdAt: expect.any(String) },
      { type: 'message_stream_complete', streamId: 'answer', messageId: body.message.id },
      { type: 'change' },
    ])
  await stream(own, { type: 'abort' })
  await expect.poll(followed.lines, patience).toContainEqual({ type: 'message_stream_abort', streamId: 'answer' })
  // The message of the user, and then its failure.
  await user.send(own, 'break')
  await endedEvents(platform, bot.id, 1)
  const changes = () => followed.lines().filter(({ type }) => type === 'change')
  await expect.poll(changes, patience).toHaveLength(3)
  const readings = await platform.context.db('audit_records').where({ resource_id: own }).pluck('operation')
  expect(readings).toEqual(['getBotConversation'])
  await followed.close()
})

test('a change of the handover, and a note, are changes', async () => {
  const { handed, handoverId, pathOf, bot, follow } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const followed = await follow(agent, handed)
  await expect.poll(followed.lines, patience).toHaveLength(1)
  const notes = `/v1/admin/bots/${bot.id}/handovers/${handoverId}/notes`
  const { note } = (await platform.ask('POST', notes, { text: 'Has paid' }, agent)).body
  await expect.poll(followed.lines, patience).toEqual([{ type: 'ready' }, { type: 'change' }])
  await platform.ask('DELETE', `${notes}/${note.id}`, undefined, agent)
  await expect.poll(followed.lines, patience).toHaveLength(3)
  await platform.ask('POST', `/v1/admin${pathOf(handed)}/handover`, {}, agent)
  await expect.poll(() => followed.lines().length, patience).toBeGreaterThan(3)
  const before = followed.lines().length
  await platform.ask('POST', `/v1/admin/bots/${bot.id}/handovers/${handoverId}/resolve`, {}, agent)
  await expect.poll(() => followed.lines().length, patience).toBeGreaterThan(before)
  // Without the reading of another request, it is one of its own.
  const readings = await platform.context.db('audit_records').where({ resource_id: handed }).pluck('operation')
  expect(readings.filter((name) => name === 'followBotConversation')).toHaveLength(1)
  await followed.close()
})

test('nobody follows a conversation that they may not read, nor many at once', async () => {
  const { handed, own, follow } = await open()
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const stranger = await createMember(platform, 'owner')
  const viewer = await createMember(platform, 'viewer', platform.workspaceId)
  const statusOf = async (member: Headers, id: string) => {
    const followed = await follow(member, id)
    await followed.close()
    return followed.status
  }
  expect(await statusOf(agent, own)).toBe(404)
  expect(await statusOf(stranger, handed)).toBe(404)
  expect(await statusOf(viewer, handed)).toBe(403)
  const many = await Promise.all(Array.from({ length: 11 }, () => follow(agent, handed)))
  expect(many.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(200), 429])
  await Promise.all(many.map((followed) => followed.close()))
})

test(
  'the stream of a member who may no longer read the conversation ends within a ping',
  { timeout: 60_000 },
  async () => {
    const { own, follow } = await open()
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const { account } = (await platform.ask('GET', '/v1/admin/account/me', undefined, developer)).body
    const followed = await follow(developer, own)
    await expect.poll(followed.lines, patience).toHaveLength(1)
    await platform.ask('PUT', `/v1/admin/workspace-members/${account.id}`, { role: 'agent' })
    await followed.ended
    expect(followed.lines()).toEqual([{ type: 'ready' }])
  },
)

test(
  'the streams of a token that is deleted, or of a session that ends, end within a ping, and those of another token go on',
  { timeout: 60_000 },
  async () => {
    const { db, config } = platform.context
    const { own, follow } = await open()
    const developer = await createMember(platform, 'developer', platform.workspaceId)
    const { pat } = (await platform.ask('POST', '/v1/admin/account/pats', { note: 'lost' }, developer)).body
    const lost = { ...developer, authorization: `Bearer ${pat.value}` }
    const { account } = (await platform.ask('GET', '/v1/admin/account/me', undefined, developer)).body
    const session = { id: newId('session'), hash: hashToken('a cookie'), expiresAt: new Date(Date.now() + 60_000) }
    await insertSession(db, { ...session, accountId: account.id })
    const left = { ...developer, authorization: `Bearer ${await signSessionToken(config.secret, session.id)}` }
    const followed = await Promise.all([follow(lost, own), followInbox(platform, lost), follow(left, own)])
    const other = await follow(developer, own)
    for (const { lines } of [...followed, other]) await expect.poll(lines, patience).toHaveLength(1)
    await platform.ask('DELETE', `/v1/admin/account/pats/${pat.id}`, undefined, developer)
    await deleteSession(db, session.hash)
    await Promise.all(followed.map(({ ended }) => ended))
    for (const { lines } of followed) expect(lines()).toEqual([{ type: 'ready' }])
    await expect.poll(other.lines, patience).toContainEqual({ type: 'ping' })
    await other.close()
  },
)

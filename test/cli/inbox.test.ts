import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'
import { openProxy, page, type OwnAnswer } from './proxy.ts'

let platform: Platform
let isobot: CommandLine
beforeAll(async () => {
  platform = await openPlatform()
  isobot = await openCommandLine(platform)
})
afterAll(async () => {
  await isobot?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

/** A bot that hands a conversation over, and has another one for itself. */
async function open(name: string) {
  const code = `export const hooks = {
    async afterIncomingMessage({ event, client }) {
      if (event.preview === 'help') await client.handover({ conversationId: event.conversationId, title: 'Refund' })
    },
  }`
  const bot = await platform.createBot(code, { name })
  const user = await createChatUser(bot.chatUrl)
  const [handed, own] = [await user.createConversation(), await user.createConversation()]
  await user.send(own, 'only\u001B[31m looking')
  await user.send(handed, 'help')
  await endedEvents(platform, bot.id, 2)
  return { bot, handed, own }
}

test('conversations are searched and printed, without the control characters of their users', async () => {
  const { bot, handed, own } = await open('reader')
  const listed = await isobot.json<{ conversations: { id: string }[] }>('conversations', 'list', 'reader')
  expect(listed.conversations.map(({ id }) => id).toSorted()).toEqual([handed, own].toSorted())
  const found = await isobot.json('conversations', 'list', bot.id, '--text', 'LOOKING')
  expect(found).toMatchObject({ conversations: [{ id: own }] })
  const none = await isobot.run(['conversations', 'list', 'reader', '--text', 'no such text'])
  expect(none).toMatchObject({ code: 0, stdout: 'reader has no such conversations\n' })
  const { stdout } = await isobot.run(['conversations', 'show', 'reader', own])
  expect(stdout).toContain(own)
  expect(stdout).toMatch(/user .*: only␛\[31m looking\n/)
})

test('a conversation has one reading in the audit log, also when it is printed in several pages', async () => {
  const { bot, own } = await open('long')
  const { db } = platform.context
  const [message] = await db('messages').where({ conversation_id: own })
  const copies = Array.from({ length: 150 }, (_, index) => ({
    ...message!,
    id: `${message!.id}${index}`,
    payload: JSON.stringify(message!.payload),
    metadata: null,
  }))
  await db('messages').insert(copies as never)
  const shown = await isobot.json<{ messages: unknown[] }>('conversations', 'show', bot.id, own, '-n', '140')
  expect(shown.messages).toHaveLength(140)
  const records = await db('audit_records').where({ resource_id: own })
  expect(records).toHaveLength(1)
})

/** An agent at the command line, who may not read bots. */
async function openInbox() {
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const environment = {
    ISOBOT_URL: platform.url,
    ISOBOT_TOKEN: agent.authorization.slice('Bearer '.length),
    ISOBOT_WORKSPACE: platform.workspaceId,
  }
  return (...given: string[]) => isobot.run(['inbox', ...given], { environment })
}

async function handoverOf(botId: string): Promise<string> {
  const { handovers } = await isobot.json<{ handovers: { handover: { id: string } }[] }>(
    'inbox',
    'list',
    '--bot',
    botId,
  )
  return handovers[0]!.handover.id
}

test('a change whose answer is lost is not said to have failed', async () => {
  const { bot, handed } = await open('lossy')
  const { body } = await platform.ask('POST', `/v1/admin/bots/${bot.id}/conversations/${handed}/handover`, {})
  expect(body).toHaveProperty('handover')
  let answer: OwnAnswer = {}
  await using proxy = await openProxy(platform.url, ({ method }) =>
    method === 'POST' ? { ...answer, isPassedOn: true } : undefined,
  )
  const environment = { ISOBOT_URL: proxy.url }
  const reply = (text: string) => isobot.run(['inbox', 'reply', body.handover.id, text], { environment })
  const closed = await reply('First')
  answer = { status: 504, body: page('Gateway Time-out') }
  const late = await reply('Second')
  for (const { code, stderr } of [closed, late]) {
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('whether the change was carried out is not known') as string,
    })
  }
  const { stdout } = await isobot.run(['inbox', 'show', body.handover.id])
  expect(stdout).toMatch(/: First\n.*: Second/)
})

test('an agent lists handovers, takes one, notes, answers, hands back', async () => {
  const { bot, handed, own } = await open('helper')
  const id = await handoverOf(bot.id)
  const run = await openInbox()
  expect((await run('list', 'waiting', '--bot', bot.id)).stdout).toMatch(
    new RegExp(`${id} +pending +0 +helper .* Refund\n`),
  )
  expect((await run('list', 'all', '--search', 'REFUND')).stdout).toContain(id)
  expect(await run('list', 'all', '--search', 'parcel')).toMatchObject({ code: 0, stdout: 'There are none\n' })
  expect(await run('list', 'mine')).toMatchObject({ code: 0, stdout: 'There are none\n' })
  expect(await run('take', own, '--bot', bot.id)).toMatchObject({ code: 1, stdout: '' })
  expect(await run('reply', id, 'Too early')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('take', handed)).toMatchObject({
    code: 0,
    stdout: `You answer in this conversation: handover ${id}\n`,
  })
  expect((await run('list', 'mine')).stdout).toContain(id)
  expect((await run('list', 'waiting', '--bot', bot.id)).stdout).toBe('There are none\n')
  expect(await run('note', id, 'Has paid\u001B[31m twice')).toMatchObject({ code: 0, stdout: 'Noted\n' })
  expect(await run('reply', id, 'It is on its way')).toMatchObject({ code: 0, stdout: 'Sent\n' })
  const { stdout } = await run('show', id)
  expect(stdout).toMatch(/user .*: help\n.*member agent: It is on its way\n.*note of agent: Has paid␛\[31m twice\n$/)
  expect(await run('resolve', id)).toMatchObject({ code: 0, stdout: 'The bot answers again\n' })
  expect((await run('list', 'mine')).stdout).toBe('There are none\n')
  expect((await run('list', 'ended', '--bot', bot.id)).stdout).toContain(id)
  expect(await run('reply', id, 'Too late')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('`isobot inbox list` shows those in progress'),
  })
  expect(await replies(platform, handed)).toEqual(['It is on its way'])
})

test('a handover is assigned by the name of a member, and released', async () => {
  const { bot, own } = await open('assigner')
  const id = await handoverOf(bot.id)
  const run = await openInbox()
  const zoe = await createMember(platform, 'agent', platform.workspaceId)
  const { account } = (await platform.ask('GET', '/v1/admin/account/me', undefined, zoe)).body
  await platform.context.db('accounts').where({ id: account.id }).update({ name: 'Zoë Quist' })
  expect(await run('assign', id, 'Zoë Quits')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean "Zoë Quist"?'),
  })
  expect(await run('assign', id, 'agent')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/members have the name "agent".*\n +\w+/),
  })
  expect(await run('assign', id, 'zoë quist')).toMatchObject({
    code: 0,
    stdout: 'Assigned to Zoë Quist, whose inbox is offline\n',
  })
  expect((await run('list', '--bot', bot.id)).stdout).toMatch(/assigned .* Zoë Quist/)
  expect(await run('take', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('Zoë Quist') })
  expect(await run('release', id)).toMatchObject({ code: 0, stdout: 'It waits for another member\n' })
  expect((await run('list', 'waiting', '--bot', bot.id)).stdout).toContain(id)
  // A developer takes any conversation over.
  expect(await isobot.run(['inbox', 'take', own, '--bot', 'assigner'])).toMatchObject({ code: 0 })
})

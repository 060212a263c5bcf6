import { afterAll, beforeAll, expect, test } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { createMember } from '../support/members.ts'
import { endedEvents, replies } from '../support/outcomes.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

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

test('an agent lists handovers, takes one, answers and hands back', async () => {
  const { bot, handed, own } = await open('helper')
  const agent = await createMember(platform, 'agent', platform.workspaceId)
  const environment = {
    ISOBOT_URL: platform.url,
    ISOBOT_TOKEN: agent.authorization.slice('Bearer '.length),
    ISOBOT_WORKSPACE: platform.workspaceId,
  }
  const run = (...given: string[]) => isobot.run(['handovers', ...given], { environment })
  const { stdout: list } = await run('list', bot.id)
  const [, id] = /(handover_\w+)/.exec(list) ?? []
  expect(list).toMatch(new RegExp(`${handed} +pending +0 .* Refund\n`))
  expect((await run('list')).stdout).toContain(`${bot.id}  `)
  expect((await run('list', bot.id, '--status', 'all', '--search', 'REFUND')).stdout).toContain(id)
  expect(await run('list', bot.id, '--status', 'all', '--search', 'parcel')).toMatchObject({
    code: 0,
    stdout: 'There are none\n',
  })
  expect(await run('take', bot.id, own)).toMatchObject({ code: 1, stdout: '' })
  expect(await run('take', bot.id, handed)).toMatchObject({
    code: 0,
    stdout: `You answer in this conversation: handover ${id}\n`,
  })
  expect(await run('reply', bot.id, handed, 'It is on its way')).toMatchObject({ code: 0, stdout: 'Sent\n' })
  expect((await run('list', bot.id, '--status', 'assigned')).stdout).toContain(id)
  expect(await run('resolve', bot.id, id!)).toMatchObject({ code: 0, stdout: 'The bot answers again\n' })
  expect(await run('list', bot.id)).toMatchObject({ code: 0, stdout: 'There are none\n' })
  expect(await replies(platform, handed)).toEqual(['It is on its way'])
  const transcript = await isobot.run(['conversations', 'show', bot.id, handed])
  expect(transcript.stdout).toMatch(/member agent: It is on its way\n/)
})

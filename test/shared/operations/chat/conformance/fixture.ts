import { SignJWT } from 'jose'
import { sharedEncryptionKey } from '#shared/secrets.ts'
import { createChatUser, type ChatUser } from '../../../../support/chat-client.ts'
import type { Answer, DeployedBot, Platform } from '../../../../support/platform.ts'
import { call, type Arguments, type OperationName } from './wire.ts'

/** `gone` has a valid key and is deleted; `nobody` has no key. */
export type Person = 'owner' | 'guest' | 'stranger' | 'gone' | 'nobody'

/**
 * A bot of a test's own, with a conversation `talk` that `owner` owns and `guest` takes part in and `stranger` does not.
 * The ids of people and conversations are what they are called here.
 */
export interface Fixture {
  bot: DeployedBot
  owner: ChatUser
  guest: ChatUser
  stranger: ChatUser
  /** The id of a message that `guest` wrote in `talk`. */
  message: string
  /** The id of a message that the bot wrote in `talk`. */
  botMessage: string
  /** The id of a custom event that `guest` created in `talk`. */
  event: string
  /** Our own id of `talk`. */
  talk: string
  key(person: Person): string | undefined
  ask(person: Person, operation: OperationName, given?: Arguments): Promise<Answer>
  /** Says something in `talk` as the bot. */
  reply(type: string, payload: object): Promise<Answer>
}

export async function openFixture(platform: Platform, code?: string): Promise<Fixture> {
  const bot = await platform.createBot(code)
  const [owner, guest, stranger, gone] = await Promise.all(
    (['owner', 'guest', 'stranger', 'gone'] as const).map((id) => createChatUser(bot.chatUrl, { id })),
  )
  if (!owner || !guest || !stranger || !gone) throw new Error('Somebody is missing')
  await gone.ask('DELETE', '/users/me', {})
  await owner.createConversation('talk')
  await owner.ask('POST', '/conversations/talk/participants', { userId: 'guest' })
  const said = await guest.send('talk', 'hello')
  const happened = await guest.ask('POST', '/events', { conversationId: 'talk', payload: { at: 'noon' } })
  const talk = await ownId(platform, 'conversations', bot, 'talk')
  const reply: Fixture['reply'] = (type, payload) =>
    platform.ask('POST', '/v1/chat/messages', { conversationId: talk, type, payload }, { 'x-bot-id': bot.id })
  const replied = await reply('text', { text: 'hello yourself' })
  const people = { owner, guest, stranger, gone, nobody: undefined }
  const key: Fixture['key'] = (person) => people[person]?.key
  return {
    bot,
    owner,
    guest,
    stranger,
    message: said.body.message.id,
    botMessage: replied.body.message.id,
    event: happened.body.event.id,
    talk,
    key,
    ask: (person, operation, given = {}) => call(bot.chatUrl, operation, key(person), given),
    reply,
  }
}

/** Our own id of what a client knows by a foreign id. */
export async function ownId(
  platform: Platform,
  table: 'users' | 'conversations',
  { id: botId }: DeployedBot,
  foreignId: string,
): Promise<string> {
  const row = await platform.context.db(table).where({ bot_id: botId, foreign_id: foreignId }).first('id')
  if (!row) throw new Error(`There is no '${foreignId}' in ${table}`)
  return row.id
}

/** Signs a key as somebody does who was given the bot's encryption key. */
export async function signKey(
  platform: Platform,
  { id: botId }: DeployedBot,
  payload: Record<string, unknown>,
  { alg = 'HS256', encryptionKey }: { alg?: string; encryptionKey?: string } = {},
): Promise<string> {
  const row = await platform.context.db('installations').where({ bot_id: botId }).first('id')
  const secret = encryptionKey ?? sharedEncryptionKey(platform.context.config.secret.current, row!.id)
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))
}

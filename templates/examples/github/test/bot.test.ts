import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openBot } from 'isobot/test'

const bot = await openBot(import.meta.dirname)
after(() => bot.close())

test('a conversation that watches a repository hears of it, until it watches it no more', async () => {
  const conversation = bot.openConversation()
  assert.deepEqual(await conversation.say('watch acme/shop'), ['I tell you what happens in acme/shop.'])
  const watched = conversation.variables.bot
  assert.deepEqual(Object.keys(watched), ['acme/shop'])
  const [id] = watched['acme/shop']
  assert.deepEqual(await announcements(watched), [[id, 'ann opened the issue #7']])
  assert.deepEqual(await conversation.say('unwatch acme/shop'), ['No more of acme/shop.'])
  assert.deepEqual(await announcements(conversation.variables.bot), [])
})

test('other words get an explanation', async () => {
  const [said] = await bot.openConversation().say('watch everything')
  assert.match(String(said), /^Say “watch owner\/name”/)
})

/** The messages of the bot after one of GitHub, with their conversations. */
async function announcements(watched: object): Promise<[conversationId: string, text: string][]> {
  const { calls } = await bot.run('afterIncomingMessage', {
    payload: { type: 'text', text: 'ann opened the issue #7' },
    tags: { conversation: { 'github:repository': 'acme/shop' } },
    state: { bot: watched },
  })
  return calls.map(({ input }) => [input.conversationId, input.payload.text])
}

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openBot } from 'isobot/test'

const bot = await openBot(import.meta.dirname)
after(() => bot.close())

test('the bot offers drinks, and counts the orders of a user', async () => {
  const conversation = bot.openConversation()
  const [offer] = await conversation.say('Hello')
  assert.deepEqual(offer, {
    type: 'choice',
    text: 'What would you like?',
    options: [
      { label: 'tea', value: 'tea' },
      { label: 'coffee', value: 'coffee' },
    ],
  })
  assert.deepEqual(await conversation.say('A tea, please'), ['One tea, your order number 1.'])
  assert.deepEqual(await conversation.say({ text: 'coffee', value: 'coffee' }), ['One coffee, your order number 2.'])
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openBot } from 'isobot/test'

const bot = await openBot(import.meta.dirname)
after(() => bot.close())

test('the model answers with the questions and answers as its instructions', async () => {
  const conversation = bot.openConversation({ answers: { generateText: { output: 'On weekdays, from 9 to 5.' } } })
  assert.deepEqual(await conversation.say('When do you open?'), ['On weekdays, from 9 to 5.'])
  const { input } = conversation.calls.find(({ operation }) => operation === 'generateTextStream')!
  assert.match(input.systemPrompt, /On weekdays from 9 to 5/)
  assert.deepEqual(input.messages, [{ role: 'user', content: 'When do you open?' }])
})

test('the model gets the earlier messages of the conversation, but not all of a long one', async () => {
  const conversation = bot.openConversation({ answers: { generateText: { output: 'An answer' } } })
  await conversation.say('When do you open?')
  await conversation.say('And on Sunday?')
  const { input } = conversation.calls.find(({ operation }) => operation === 'generateTextStream')!
  assert.deepEqual(
    input.messages.map(({ content }) => content),
    ['When do you open?', 'An answer', 'And on Sunday?'],
  )
  for (let turn = 0; turn < 10; turn++) await conversation.say('And then?')
  assert.equal(conversation.variables.session.turns.length, 10)
})

test('the user hears of it when no model answers', async () => {
  const conversation = bot.openConversation({ answers: { generateText: { error: 'Internal' } } })
  assert.deepEqual(await conversation.say('When do you open?'), [
    'I cannot answer at the moment. Please ask again later.',
  ])
  assert.match(conversation.logs[0]!.message, /The model gives no answer/)
  assert.equal(conversation.variables.session.turns, undefined)
})

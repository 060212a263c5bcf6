import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openBot } from 'isobot/test'

// The bot in an isolate, as on the platform. Its calls of the platform are recorded, and answered with examples.
const bot = await openBot(import.meta.dirname)
after(() => bot.close())

test('the bot greets a new user, and repeats the message', async () => {
  const { calls, state } = await bot.run('afterIncomingMessage', saying('Where is my order?'))
  assert.deepEqual(said(calls), ['Hello! You said: Where is my order?'])
  assert.equal(state.user.visits, 1)
})

test('a returning user is welcomed back', async () => {
  const { calls } = await bot.run('afterIncomingMessage', { ...saying('Hi'), state: { user: { visits: 1 } } })
  assert.deepEqual(said(calls), ['Welcome back. You said: Hi'])
})

function saying(text) {
  return { payload: { type: 'text', text } }
}

function said(calls) {
  return calls.filter((call) => call.operation === 'createMessage').map((call) => call.input.payload.text)
}

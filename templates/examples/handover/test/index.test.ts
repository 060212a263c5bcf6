import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openBot } from 'isobot/test'

const bot = await openBot(import.meta.dirname)
after(() => bot.close())

test('the bot answers what it knows', async () => {
  const conversation = bot.openConversation()
  assert.deepEqual(await conversation.say('When are you open?'), ['We are open on weekdays from 9 to 5.'])
  assert.deepEqual(handovers(conversation), [])
})

test('the bot offers a person for what it does not know, and hands over when the user chooses that', async () => {
  const conversation = bot.openConversation({ answers: { getPresence: { online: 1, away: 0 } } })
  const [offer] = await conversation.say('Can I pay in yen?')
  assert.deepEqual(offer, {
    type: 'choice',
    text: 'I do not know that. I can tell our opening hours, and about delivery and returns.',
    options: [{ label: 'Talk to a person', value: 'person' }],
  })
  const said = await conversation.say({ text: 'Talk to a person', value: 'person' })
  assert.deepEqual(said, ['Somebody will be with you in a moment.'])
  assert.equal(handovers(conversation).length, 1)
})

test('a user who asks for a person while nobody is there hears so, and the request waits', async () => {
  const conversation = bot.openConversation({ answers: { getPresence: { online: 0, away: 1 } } })
  assert.deepEqual(await conversation.say('I want to talk to a human'), [
    'Nobody is here now. We answer as soon as we can.',
  ])
  const [handover] = handovers(conversation)
  assert.equal(handover!.input.title, 'I want to talk to a human')
})

test('the bot is back at the end, and apologises when nobody has answered', async () => {
  const conversation = bot.openConversation()
  const end = (status: string) => conversation.receive({ type: 'handover_ended', payload: { handoverId: 'h', status } })
  assert.deepEqual(await end('resolved'), ['Thank you for the talk. I am the bot again.'])
  assert.deepEqual(await end('expired'), ['Nobody could answer, we are sorry. Please write to shop@example.com.'])
})

function handovers({ calls }: ReturnType<typeof bot.openConversation>) {
  return calls.filter(({ operation }) => operation === 'handover')
}

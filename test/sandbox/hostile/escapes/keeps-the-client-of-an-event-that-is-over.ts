import { hostile } from '../hostile.ts'

export default hostile({
  before: `let kept`,
  body: `
    kept = { client, say, logger }
    await say('first')`,
  later: `
          let answered = false
          const call = () => { answered = true }
          kept.say('too late').then(call, call)
          kept.client.deleteConversation({ id: event.conversationId }).then(call, call)
          kept.logger.info('too late')
          await new Promise((resolve) => setTimeout(resolve, 100))
          await say(answered)`,
  outcome: 'done',
  replies: ['first'],
  laterReplies: ['false'],
  never: /too late/,
})

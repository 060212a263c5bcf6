import { withTime } from '../ends.ts'
import { hostile } from '../hostile.ts'

/** A worker that reads the names of fields in quadratic time handles no event for a minute. */
export default hostile({
  body: `
    const fields = (name) => Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [name(n), '']))
    const { conversationId } = event
    for (const ask of [
      () => client.listMessages({ conversationId, ...fields((n) => 'tags.' + n) }),
      () => client.listFiles(fields((n) => 'tags.a[' + n + ']')),
      () => client.listFiles({ ['tags.' + '[]'.repeat(200_000) + '!']: 'x' }),
    ]) {
      await ask().then(() => say('an answer'), (error) => say(error.type))
    }
  `,
  ...withTime,
  outcome: 'done',
  replies: ['InvalidPayload', 'InvalidQuery', 'InvalidQuery'],
})

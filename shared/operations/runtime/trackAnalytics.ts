import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { addToAnalytics } from '../../store/analytics.ts'

export const trackAnalytics = operation({
  name: 'trackAnalytics',
  description: 'Adds to a named counter of the bot for the current day in UTC.',
  method: 'POST',
  path: '/v1/chat/analytics',
  access: 'bot',
  input: closedObject({
    name: { type: 'string', minLength: 1, maxLength: 200 },
    count: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
  }),
  output: closedObject({}),

  async handle(context, input) {
    await once(context, input, async (db) => {
      await addToAnalytics(db, context.caller.botId, input.name, input.count)
      return {}
    })
    return {}
  },
})

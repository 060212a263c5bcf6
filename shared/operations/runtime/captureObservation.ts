import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { insertLog } from '../../store/logs.ts'
import { assertReferences } from './references.ts'

export const captureObservation = operation({
  name: 'captureObservation',
  description: 'Writes an observation to the bot’s log.',
  method: 'POST',
  path: '/v1/chat/observations',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  input: closedObject(
    { name: { type: 'string', minLength: 1, maxLength: 200 }, data: { type: 'object' } },
    {
      id: { type: 'string', maxLength: 200 },
      messageId: { type: 'string', maxLength: 200 },
      eventId: { type: 'string', maxLength: 200 },
      conversationId: { type: 'string', maxLength: 200 },
      userId: { type: 'string', maxLength: 200 },
      errorId: { type: 'string', maxLength: 200 },
      traceId: { type: 'string', maxLength: 200 },
    },
  ),
  output: closedObject({}),

  async handle(context, input) {
    const { conversationId, name, ...rest } = input
    const line = `Observation ${name}: ${JSON.stringify(rest)}`
    const redacted = context.caller.execution?.redact?.(line) ?? line
    await once(context, input, async (db) => {
      await assertReferences({ ...context, db }, { conversationId })
      const message = cutLine(redacted)
      await insertLog(db, {
        botId: context.caller.botId,
        ...(conversationId && { conversationId }),
        installationId: context.caller.installation?.id,
        level: 'info',
        message,
      })
      return {}
    })
    return {}
  },
})

/** Characters of a line of log, as of those that code writes: readers get a thousand lines in one answer. */
const maxCharacters = 4096

function cutLine(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1).toWellFormed()}…` : text
}

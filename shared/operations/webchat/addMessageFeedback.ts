import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { setFeedback } from '../../store/webchat.ts'
import { presentUser } from '../chat/external-ids.ts'

export const addMessageFeedback = operation({
  name: 'addMessageFeedback',
  description: 'Sets the visitor’s feedback on a message of the bot, as tags of the message.',
  method: 'PUT',
  path: '/webchat/{webhookId}/messages/{id}/feedback',
  access: 'user',
  input: closedObject(
    { id: { type: 'string' }, value: { enum: ['positive', 'negative'] } },
    { comment: { type: 'string', maxLength: 5000 } },
  ),
  output: closedObject({}),

  async handle(context, { id: messageId, value, comment }) {
    const { db, caller } = context
    const { id: userId } = await presentUser(context)
    const where = { installationId: caller.installation.id, userId, messageId }
    if (!(await setFeedback(db, where, { value, ...(comment && { comment }) })))
      throw notFound(`Message '${messageId}'`)
    return {}
  },
})

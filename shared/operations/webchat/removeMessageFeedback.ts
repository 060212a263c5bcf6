import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { setFeedback } from '../../store/webchat.ts'
import { presentUser } from '../chat/external-ids.ts'

export const removeMessageFeedback = operation({
  name: 'removeMessageFeedback',
  description: 'Removes the visitor’s feedback on a message of the bot.',
  method: 'DELETE',
  path: '/webchat/{webhookId}/messages/{id}/feedback',
  access: 'user',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id: messageId }) {
    const { db, caller } = context
    const { id: userId } = await presentUser(context)
    const where = { installationId: caller.installation.id, userId, messageId }
    if (!(await setFeedback(db, where, undefined))) throw notFound(`Message '${messageId}'`)
    return {}
  },
})

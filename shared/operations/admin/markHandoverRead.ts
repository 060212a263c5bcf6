import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'
import { markRead } from '../../store/handover-lists.ts'
import { findOwnBot } from './find-version.ts'

export const markHandoverRead = operation({
  name: 'markHandoverRead',
  description:
    'Records that the caller has read the messages of a handover’s conversation, so that lists do not count them as ' +
    'unread. A reply records it too.',
  method: 'PUT',
  path: '/v1/admin/bots/{botId}/handovers/{id}/read',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  // It changes what the caller's own lists count.
  changesNothing: true,
  input: closedObject(
    { botId: { type: 'string' }, id: { type: 'string' } },
    { messageId: { type: 'string', description: 'The last message that was read; absent: all messages were.' } },
  ),
  output: closedObject({}),

  async handle(context, { botId, id, messageId }) {
    const { db, caller } = context
    await findOwnBot(context, botId)
    if (await markRead(db, { botId, id, accountId: caller.accountId, messageId })) return {}
    throw notFound(messageId === undefined ? `Handover '${id}'` : `Message '${messageId}' of handover '${id}'`)
  },
})

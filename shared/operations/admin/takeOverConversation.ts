import { ApiError } from '../../errors.ts'
import { closedObject } from '../../schema.ts'
import {
  announceEntrance,
  beginAnswering,
  beginOrJoin,
  describeHandover,
  enterAsMember,
  handoverConflict,
  type MemberEntrance,
} from '../../messaging/handovers.ts'
import { announceHandover } from '../../messaging/inbox-news.ts'
import { handover, type HandoverView } from '../../models/handover.ts'
import type { HandoverChange } from '../../models/inbox-line.ts'
import { operation } from '../../rpc/operation.ts'
import { publishHandover } from '../../signals/after-commit.ts'
import { assignHandover, findHandover } from '../../store/handovers.ts'
import { noConversation } from '../runtime/not-found.ts'
import { findBotConversation, maySee } from './find-conversation.ts'
import { findOwnBot } from './find-version.ts'
import { lockAnswering } from './lock-answering.ts'

export const takeOverConversation = operation({
  name: 'takeOverConversation',
  description:
    'Hands a conversation over to the caller, or assigns the caller a handover that no member answers yet. Of two ' +
    'members who take it at once, one gets it. An agent takes conversations that have had a handover.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/conversations/{conversationId}/handover',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RelationConflict'],
  input: closedObject({ botId: { type: 'string' }, conversationId: { type: 'string' } }),
  output: closedObject({ handover }),

  async handle(context, { botId, conversationId }) {
    const { db, caller } = context
    const { accountId, workspaceId } = caller
    await findOwnBot(context, botId)
    if (!(await maySee(context, { botId, conversationId }))) throw noConversation(conversationId)
    const taken = await db.transaction(async (transaction): Promise<Taken> => {
      await lockAnswering(transaction, workspaceId, accountId)
      const conversation = await findBotConversation(transaction, botId, conversationId)
      const given = { botId, conversationId, requestedBy: 'member', accountId } as const
      const begun = await beginOrJoin(transaction, conversation, given)
      if (!begun) throw noConversation(conversationId)
      const { id, isNew } = begun
      if (!isNew && !(await assignHandover(transaction, { botId, id }, { accountId, from: null }))) {
        const current = await findHandover(transaction, botId, id)
        if (current?.is_beginning) throw handoverConflict(current)
        if (current?.account_id !== accountId) throw takenBy(current)
        return { id, entrance: await enterAsMember(transaction, conversation, accountId) }
      }
      const change = isNew ? 'created' : 'assigned'
      return { id, change, entrance: await beginAnswering(transaction, conversation, accountId) }
    })
    await announceEntrance(context, taken.entrance)
    await publishHandover(context, conversationId, taken.id)
    if (taken.change) await announceHandover(context, taken.id, taken.change)
    return { handover: await describeHandover(context, botId, taken.id) }
  },
})

interface Taken {
  id: string
  entrance: MemberEntrance
  /** Absent when the caller had it before. */
  change?: HandoverChange
}

export function takenBy(current: HandoverView | undefined): ApiError {
  const name = current?.account_name
  return new ApiError('RelationConflict', `${name ? `Member '${name}'` : 'No member'} answers in this conversation`)
}

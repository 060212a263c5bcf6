import { closedObject } from '../../schema.ts'
import {
  announceEntrance,
  beginAnswering,
  describeHandover,
  handoverConflict,
  noHandover,
} from '../../messaging/handovers.ts'
import { announceHandover } from '../../messaging/inbox-news.ts'
import { handover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { publishHandover } from '../../signals/after-commit.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { assignHandover as assignInStore, lockConversation } from '../../store/handovers.ts'
import { findBotConversation } from './find-conversation.ts'
import { findOwnBot } from './find-version.ts'
import { lockAnswering } from './lock-answering.ts'
import { transact } from '../../store/database.ts'

export const assignHandover = operation({
  name: 'assignHandover',
  description: 'Assigns a handover to a member, or makes it pending again.',
  method: 'PUT',
  path: '/v1/admin/bots/{botId}/handovers/{id}/member',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'ReferenceNotFound', 'RelationConflict'],
  auditedFields: ['memberId'],
  input: closedObject({
    botId: { type: 'string' },
    id: { type: 'string' },
    memberId: { type: 'string', nullable: true, description: 'The account of a member; null: no member.' },
  }),
  output: closedObject({ handover }),

  async handle(context, { botId, id, memberId }) {
    const { db, caller } = context
    await findOwnBot(context, botId)
    const entrance = await transact(db, async (transaction) => {
      const found = await findHandover(transaction, botId, id)
      if (!found) throw noHandover(id)
      if (memberId !== null) {
        await lockAnswering(transaction, { workspaceId: caller.workspaceId, botId, accountId: memberId })
      }
      const { conversation_id: conversationId } = found
      await lockConversation(transaction, botId, conversationId)
      const current = await findHandover(transaction, botId, id)
      // A repeated request: the bot of an inbox has the event already.
      if (memberId !== null && current?.account_id === memberId && current.ended_at === null) return 'unchanged'
      if (!(await assignInStore(transaction, { botId, id }, { accountId: memberId }))) {
        throw handoverConflict(found)
      }
      if (memberId === null) return undefined
      return beginAnswering(transaction, await findBotConversation(transaction, botId, conversationId), memberId)
    })
    if (entrance !== 'unchanged') {
      if (entrance) await announceEntrance(context, entrance)
      await announceHandover(context, id, memberId === null ? 'released' : 'assigned')
    }
    const assigned = await describeHandover(context, botId, id)
    await publishHandover(context, assigned.conversationId, id)
    return { handover: assigned }
  },
})

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
import { transact, type Database } from '../../store/database.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { assignHandover } from '../../store/handovers.ts'
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
    const taken = await transact(db, async (transaction): Promise<Taken> => {
      await lockAnswering(transaction, { workspaceId, botId, accountId })
      const conversation = await findBotConversation(transaction, botId, conversationId)
      const given = { botId, conversationId, requestedBy: 'member', accountId } as const
      const begun = await beginOrJoin(transaction, conversation, given)
      if (!begun) throw noConversation(conversationId)
      const { id, isNew } = begun
      if (!isNew && !(await claim(transaction, { botId, id }, accountId))) {
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

/**
 * Assigns a pending handover to a member.
 *
 * @returns false when the member has it already
 * @throws ApiError `RelationConflict` when another member has it, the bot still prepares it, or it has ended
 */
async function claim(db: Database, where: { botId: string; id: string }, accountId: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    if (await assignHandover(db, where, { accountId, from: null })) return true
    const current = await findHandover(db, where.botId, where.id)
    if (current?.account_id === accountId) return false
    if (current?.is_beginning) throw handoverConflict(current)
    // Between the two statements the run that prepares it has ended, or its member has released it.
    const isPending = current?.account_id === null && current.ended_at === null
    if (!isPending || attempt === maxClaims) throw takenBy(current)
  }
}

const maxClaims = 3

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

import { closedObject } from '../../schema.ts'
import { announceEnd, describeHandover, handoverConflict, noHandover } from '../../messaging/handovers.ts'
import { handover } from '../../models/handover.ts'
import { operation } from '../../rpc/operation.ts'
import { findHandover } from '../../store/find-handovers.ts'
import { endHandover } from '../../store/handovers.ts'
import { findOwnBot } from './find-version.ts'
import { transact } from '../../store/database.ts'

export const resolveHandover = operation({
  name: 'resolveHandover',
  description: 'Hands the conversation of a handover back to the bot, which receives `handover_ended`.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/handovers/{id}/resolve',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RelationConflict'],
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' } }),
  output: closedObject({ handover }),

  async handle(context, { botId, id }) {
    const { db } = context
    await findOwnBot(context, botId)
    const found = await findHandover(db, botId, id)
    if (!found) throw noHandover(id)
    const end = await transact(db, (transaction) => endHandover(transaction, { botId, id, status: 'resolved' }))
    if (!end) throw handoverConflict(found)
    await announceEnd(context, end)
    return { handover: await describeHandover(context, botId, id) }
  },
})

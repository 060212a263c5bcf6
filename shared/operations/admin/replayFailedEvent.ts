import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { ApiError } from '../../errors.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { unreplayable } from '../../models/failed-event.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { findFailedEvent, replayEvents } from '../../store/failed-events.ts'
import { noSuchBot } from './describe-bot.ts'
import { noSuchFailedEvent } from './getFailedEvent.ts'

export const replayFailedEvent = operation({
  name: 'replayFailedEvent',
  description:
    'Handles an event that failed finally again, with the deployed version and all attempts. The event precedes the ' +
    'waiting events of its conversation. The journal prevents repeated writes.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/failed-events/{id}/replay',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'ResourceGone', 'RateLimited'],
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { botId, id }) {
    const { db, caller, config } = context
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const oldest = oldestReplayable(config)
    const [mailbox] = await context.waiting.admit(db, botId, () =>
      replayEvents(db, botId, { id }, { oldest, limit: 1 }),
    )
    if (mailbox !== undefined) {
      await wakeWorker(context, 'event', mailbox, botId)
      return {}
    }
    const row = await findFailedEvent(db, botId, id)
    if (!row) throw noSuchFailedEvent(botId, id)
    if (unreplayable.includes(row.type)) {
      throw new ApiError(
        'InvalidPayload',
        `An event of type '${row.type}' cannot be replayed: its caller has already received the failure and must ` +
          'repeat the request',
      )
    }
    throw new ApiError(
      'ResourceGone',
      `The event failed on ${row.ended_at.toISOString()}. The journal of its runs has been deleted, so ` +
        'a further run could repeat their effects: RETENTION_FAILED_DAYS sets how long it is kept',
    )
  },
})

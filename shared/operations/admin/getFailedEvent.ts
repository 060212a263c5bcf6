import { closedObject } from '../../schema.ts'
import { ApiError, notFound } from '../../errors.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { failedEvent, toFailedEvent } from '../../models/failed-event.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { findFailedEvent, logOfEvent } from '../../store/failed-events.ts'
import { noSuchBot } from './describe-bot.ts'

const maxLines = 1000

export const getFailedEvent = operation({
  name: 'getFailedEvent',
  description:
    'Returns an event that failed finally, with its payload and the log of its runs. Not for viewers, because payloads ' +
    'contain what users said.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/failed-events/{id}',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' } }),
  output: closedObject({ event: failedEvent }),

  async handle({ db, caller, config }, { botId, id }) {
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const row = await findFailedEvent(db, botId, id)
    if (!row) throw noSuchFailedEvent(botId, id)
    return { event: toFailedEvent(row, await logOfEvent(db, botId, id, maxLines), oldestReplayable(config)) }
  },
})

export function noSuchFailedEvent(botId: string, id: string): ApiError {
  return notFound(`Failed event '${id}' of bot '${botId}'`)
}

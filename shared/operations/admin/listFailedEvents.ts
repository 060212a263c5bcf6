import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { failedEventFilter, oldestReplayable } from '../../code/failed-events.ts'
import { failedEventSummary, toFailedEventSummary } from '../../models/failed-event.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { pageOfFailedEvents } from '../../store/failed-events.ts'
import { noSuchBot } from './describe-bot.ts'

export const listFailedEvents = operation({
  name: 'listFailedEvents',
  description: 'Lists the events of a bot that failed finally, the last failed first.',
  method: 'GET',
  path: '/v1/admin/bots/{botId}/failed-events',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ botId: { type: 'string' } }, { ...pageInput, ...failedEventFilter }),
  output: closedObject({ events: { type: 'array', items: failedEventSummary }, meta: pageMeta }),

  async handle({ db, caller, config }, { botId, ...input }) {
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const page = await pageOfFailedEvents(db, botId, input, pageRequest(input))
    const oldest = oldestReplayable(config)
    return { events: page.rows.map((row) => toFailedEventSummary(row, oldest)), meta: toMeta(page) }
  },
})

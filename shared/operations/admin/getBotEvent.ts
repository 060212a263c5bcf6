import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { timelineEventDetails, toTimelineEventDetails } from '../../models/timeline-event.ts'
import { operation } from '../../rpc/operation.ts'
import { timelineRows } from '../../store/event-timeline.ts'
import { logOfEvent } from '../../store/failed-events.ts'
import { findModelContents } from '../../store/model-contents.ts'
import { findMessage } from '../../store/messages.ts'
import { findOwnBot } from './find-version.ts'

const maxLines = 1000

export const getBotEvent = operation({
  name: 'getBotEvent',
  description:
    'Returns an event of a bot in full: payload, message, runs with their steps, and log. Not for viewers, because ' +
    'payloads contain what users said.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/events/{eventId}',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, eventId: { type: 'string' } }),
  output: closedObject({ event: timelineEventDetails }),

  async handle(context, { id, eventId }) {
    const { db, config } = context
    await findOwnBot(context, id)
    const [row] = await timelineRows(db, id, [eventId])
    if (!row) throw notFound(`Event '${eventId}' of bot '${id}'`)
    const [message, lines, contents] = await Promise.all([
      row.message_id === null ? undefined : findMessage(db, id, row.message_id),
      logOfEvent(db, id, eventId, maxLines),
      findModelContents(db, eventId),
    ])
    const { user_id, workflow_id } = row
    const logs = lines.map((line) => ({ ...line, user_id, workflow_id }))
    const view = { showsContents: true, oldestReplayable: oldestReplayable(config) }
    return { event: toTimelineEventDetails(row, { message, logs, contents }, view) }
  },
})

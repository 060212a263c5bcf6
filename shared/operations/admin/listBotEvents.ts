import { closedObject } from '../../schema.ts'
import { hasRole } from '../../rpc/caller.ts'
import { packPlace, pageInput, pageMeta, pageRequest } from '../../store/pagination.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { eventStatuses } from '../../models/event.ts'
import { timelineEvent, toTimelineEvent } from '../../models/timeline-event.ts'
import { operation } from '../../rpc/operation.ts'
import { lookThroughEvents, type TimelineFilter } from '../../store/event-timeline.ts'
import { findOwnBot } from './find-version.ts'

export const listBotEvents = operation({
  name: 'listBotEvents',
  description:
    'Lists the events of a bot and of what is installed on it, the newest first. A page looks at no more than 5,000 ' +
    'events: with a filter that few pass it may hold few or none and still have a nextToken.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/events',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject(
    { id: { type: 'string' } },
    {
      ...pageInput,
      status: { enum: eventStatuses },
      type: { type: 'string' },
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      timeStart: { type: 'string', format: 'date-time', description: 'Created at this time or later.' },
      timeEnd: { type: 'string', format: 'date-time', description: 'Created at this time or before.' },
      text: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description:
          'An id of the event, its message, conversation or user, or words that occur in the failure’s reason, in any ' +
          'case. Of those who are no viewers also in what was said.',
      },
    },
  ),
  output: closedObject(
    { events: { type: 'array', items: timelineEvent }, meta: pageMeta },
    {
      searchedUntil: {
        type: 'string',
        format: 'date-time',
        description: 'Back to when was looked, where the page ends without being full.',
      },
    },
  ),

  async handle(context, { id, text, ...input }) {
    const { db, config, caller } = context
    await findOwnBot(context, id)
    const showsContents = hasRole(caller, 'developer')
    const { limit, after } = pageRequest(input)
    const filter = { ...input, ...filterOf(text), searchesContents: showsContents }
    const { rows, end } = await lookThroughEvents(db, id, filter, { limit, after })
    const view = { showsContents, oldestReplayable: oldestReplayable(config) }
    return {
      events: rows.map((row) => toTimelineEvent(row, view)),
      meta: end ? { nextToken: packPlace(end) } : {},
      ...(end && rows.length < limit && { searchedUntil: end.createdAt.toISOString() }),
    }
  },
})

const fieldOfPrefix = { evt: 'eventId', msg: 'messageId', conv: 'conversationId', user: 'userId' } as const

/** An id is searched in its own column, any other text as words. */
function filterOf(text: string | undefined): TimelineFilter {
  if (text === undefined) return {}
  const [, prefix] = /^(evt|msg|conv|user)_[0-9A-Z]{26}$/.exec(text) ?? []
  return prefix === undefined ? { words: text } : { [fieldOfPrefix[prefix as keyof typeof fieldOfPrefix]]: text }
}

import { closedObject } from '../../schema.ts'
import { hasRole } from '../../rpc/caller.ts'
import { encodeCursor, pageInput, pageMeta, pageRequest } from '../../store/pagination.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { eventStatuses } from '../../models/event.ts'
import { timelineEvent, toTimelineEvent } from '../../models/timeline-event.ts'
import { operation } from '../../rpc/operation.ts'
import { scanEvents, type TimelineFilter } from '../../store/event-timeline.ts'
import { findOwnBot } from './find-version.ts'

export const listBotEvents = operation({
  name: 'listBotEvents',
  description:
    'Lists the events of a bot and of its installations, the newest first. A page reads at most 5,000 events: with a ' +
    'filter that few events pass, it may have few or no events and still a nextToken.',
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
      timeStart: { type: 'string', format: 'date-time', description: 'Only events created at this time or later.' },
      timeEnd: { type: 'string', format: 'date-time', description: 'Only events created at this time or earlier.' },
      text: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description:
          'An id of the event, its message, conversation or user, or text that the failure’s reason contains; ' +
          'case-insensitive. For all roles but viewer, also text that the message contains.',
      },
    },
  ),
  output: closedObject(
    { events: { type: 'array', items: timelineEvent }, meta: pageMeta },
    {
      searchedUntil: {
        type: 'string',
        format: 'date-time',
        description: 'The time back to which events were read, when the page is not full.',
      },
    },
  ),

  async handle(context, { id, text, ...input }) {
    const { db, config, caller } = context
    await findOwnBot(context, id)
    const showsContents = hasRole(caller, 'developer')
    const { limit, after } = pageRequest(input)
    const filter = { ...input, ...filterOf(text), searchesContents: showsContents }
    const { rows, end } = await scanEvents(db, id, filter, { limit, after })
    const view = { showsContents, oldestReplayable: oldestReplayable(config) }
    return {
      events: rows.map((row) => toTimelineEvent(row, view)),
      meta: end ? { nextToken: encodeCursor(end) } : {},
      ...(end && rows.length < limit && { searchedUntil: end.createdAt.toISOString() }),
    }
  },
})

const fieldOfPrefix = { evt: 'eventId', msg: 'messageId', conv: 'conversationId', user: 'userId' } as const

/** An id is compared with its own column; any other text is searched in the texts. */
function filterOf(text: string | undefined): TimelineFilter {
  if (text === undefined) return {}
  const [, prefix] = /^(evt|msg|conv|user)_[0-9A-Z]{26}$/.exec(text) ?? []
  return prefix === undefined ? { words: text } : { [fieldOfPrefix[prefix as keyof typeof fieldOfPrefix]]: text }
}

import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { eventStatuses, integrationType, runtimeEvent, toRuntimeEvent } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfEvents } from '../../store/events.ts'
import { eventsOf } from './events-of.ts'

export const listEvents = operation({
  name: 'listEvents',
  description:
    'Lists the bot’s events, newest first. A page reads at most 10,000 events: with a filter that few events pass, it may have ' +
    'few or no events and still a nextToken. Those of a conversation, and those that wait, are found at once.',
  method: 'GET',
  path: '/v1/chat/events',
  access: 'bot',
  input: closedObject(
    {},
    {
      type: { type: 'string' },
      conversationId: { type: 'string' },
      userId: { type: 'string' },
      messageId: { type: 'string' },
      workflowId: { type: 'string' },
      status: { enum: eventStatuses },
      ...pageInput,
    },
  ),
  output: closedObject({ events: { type: 'array', items: runtimeEvent }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const { installation } = caller
    const type = installation && input.type !== undefined ? integrationType(installation, input.type) : input.type
    const page = await pageOfEvents(db, eventsOf(caller), { ...input, type }, pageRequest(input))
    return { events: page.rows.map((row) => toRuntimeEvent(row, installation)), meta: toMeta(page) }
  },
})

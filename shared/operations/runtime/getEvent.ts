import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { runtimeEvent, toRuntimeEvent } from '../../models/event.ts'
import { operation } from '../../rpc/operation.ts'
import { findVisibleEvent } from '../../store/events.ts'
import { eventsOf } from './events-of.ts'

export const getEvent = operation({
  name: 'getEvent',
  description: 'Returns one of the bot’s events, with its outcome if it has ended.',
  method: 'GET',
  path: '/v1/chat/events/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ event: runtimeEvent }),

  async handle({ db, caller }, { id }) {
    const row = await findVisibleEvent(db, eventsOf(caller), id)
    if (!row) throw notFound(`Event '${id}'`)
    return { event: toRuntimeEvent(row, caller.installation) }
  },
})

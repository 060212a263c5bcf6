import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { once } from '../../rpc/journal.ts'
import { operation } from '../../rpc/operation.ts'
import { findVisibleEvent } from '../../store/events.ts'
import { cancelScheduledEvent as cancel } from '../../store/scheduled-events.ts'
import { eventsOf } from './events-of.ts'

export const cancelScheduledEvent = operation({
  name: 'cancelScheduledEvent',
  description: 'Cancels a scheduled event that is not yet due.',
  method: 'DELETE',
  path: '/v1/chat/events/scheduled/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({}),

  async handle(context, { id }) {
    const of = eventsOf(context.caller)
    return once(context, { id }, async (db) => {
      if (await cancel(db, of, id)) return {}
      const row = await findVisibleEvent(db, of, id)
      throw row
        ? notFound(`Scheduled event '${id}'`, `the event is not scheduled but ${row.status}`)
        : notFound(`Event '${id}'`)
    })
  },
})

import { closedObject } from '../../schema.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { failedEventFilter, oldestReplayable } from '../../code/failed-events.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { replayEvents } from '../../store/failed-events.ts'
import { noSuchBot } from './describe-bot.ts'

const maxEvents = 1000

export const replayFailedEvents = operation({
  name: 'replayFailedEvents',
  description:
    'Has failed events of a bot handled anew, those that failed first before others, up to the limit and as far as there ' +
    'is room among the events that wait for the bot. Asked again with the same filter and a beforeDate that is past, it ' +
    'goes on with the next, until it gives 0; where there is no room, it gives 429, and the others stay as they are.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/failed-events/replay',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'RateLimited'],
  isClosed: true,
  input: closedObject(
    { botId: { type: 'string' } },
    { ...failedEventFilter, limit: { type: 'integer', minimum: 1, maximum: maxEvents, default: maxEvents } },
  ),
  output: closedObject({ replayed: { type: 'integer' } }),

  async handle(context, { botId, limit, ...filter }) {
    const { db, caller, config } = context
    if (!(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const oldest = oldestReplayable(config)
    const mailboxes = await context.waiting.admitSome(db, botId, limit, (atMost) =>
      replayEvents(db, botId, filter, { oldest, limit: atMost }),
    )
    for (const mailbox of new Set(mailboxes)) await wakeWorker(context, 'event', mailbox, botId)
    return { replayed: mailboxes.length }
  },
})

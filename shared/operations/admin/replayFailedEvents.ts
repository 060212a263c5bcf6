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
    'Handles failed events of a bot again, the first failed first, up to `limit` and to the bot’s backlog limit. A ' +
    'repeated call with the same filter and a past beforeDate continues with the next events, until it returns 0. At ' +
    'the backlog limit it answers with 429 and leaves the other events unchanged.',
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

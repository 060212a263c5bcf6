import { closedObject } from '../../schema.ts'
import { groupErrors } from '../../code/error-groups.ts'
import { oldestReplayable } from '../../code/failed-events.ts'
import { beginOf, windowInput, windows } from '../../models/bot-health.ts'
import { operation } from '../../rpc/operation.ts'
import { failuresSince } from '../../store/error-groups.ts'
import { findOwnBot } from './find-version.ts'

/** Maximum numbers of failed events that are read, and of groups in the answer. */
const maxScanned = 5000
const maxGroups = 100

const time = { type: 'string', format: 'date-time' } as const
const texts = { type: 'array', items: { type: 'string' } } as const

const group = closedObject(
  {
    id: { type: 'string', description: 'Equal for equal messages.' },
    message: {
      type: 'string',
      description: 'The common message of the failures, with # in place of ids, numbers and similar parts.',
    },
    example: { type: 'string', description: 'The message of the last failure.' },
    words: {
      type: 'string',
      description: 'A text that finds the events, as `reason` of listFailedEvents and replayFailedEvents.',
    },
    count: { type: 'integer' },
    firstAt: time,
    lastAt: time,
    eventIds: { ...texts, description: 'The last five events.' },
    versionIds: { ...texts, description: 'The bot’s versions that failed with this message.' },
    types: { ...texts, description: 'The types of the events.' },
    replayable: { type: 'integer', description: 'The number of events that can be replayed.' },
  },
  { hook: { type: 'string', description: 'The hook or other function that failed.' } },
)

export const listBotErrors = operation({
  name: 'listBotErrors',
  description:
    'Groups the events of a bot that failed finally within a window of time by their failure, the most frequent ' +
    'first. It reads the last 5,000 failed events and returns at most 100 groups.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/errors',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }, { window: windowInput }),
  output: closedObject({
    errors: { type: 'array', items: group },
    looked: { type: 'integer', description: 'The number of failed events that were read.' },
    isComplete: { type: 'boolean', description: 'Whether these are all failed events of the window.' },
    from: time,
    to: time,
  }),

  async handle(context, { id, window }) {
    await findOwnBot(context, id)
    const to = new Date()
    const from = beginOf(windows[window], to.getTime())
    const rows = await failuresSince(context.db, id, from, maxScanned)
    const groups = await groupErrors(rows, oldestReplayable(context.config))
    return {
      errors: groups.slice(0, maxGroups).map(({ hook, firstAt, lastAt, ...each }) => ({
        ...each,
        ...(hook !== null && { hook }),
        firstAt: firstAt.toISOString(),
        lastAt: lastAt.toISOString(),
      })),
      looked: rows.length,
      isComplete: rows.length < maxScanned,
      from: from.toISOString(),
      to: to.toISOString(),
    }
  },
})

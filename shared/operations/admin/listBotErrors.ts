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
    id: { type: 'string', description: 'The same for the same words.' },
    message: { type: 'string', description: 'What they have in common, with # for ids, numbers and the like.' },
    example: { type: 'string', description: 'What the last one said.' },
    words: { type: 'string', description: 'What finds them: the `reason` of listFailedEvents and replayFailedEvents.' },
    count: { type: 'integer' },
    firstAt: time,
    lastAt: time,
    eventIds: { ...texts, description: 'The last five.' },
    versionIds: { ...texts, description: 'The bot’s versions that failed so.' },
    types: { ...texts, description: 'Of the events.' },
    replayable: { type: 'integer', description: 'How many of them can be handled anew.' },
  },
  { hook: { type: 'string', description: 'The hook or other function that failed.' } },
)

export const listBotErrors = operation({
  name: 'listBotErrors',
  description:
    'Lists of what a bot’s events failed for good within a window of time, the same failures as one, those that came ' +
    'most often first. It looks at the last 5,000 failed events, and tells of 100 groups.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/errors',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }, { window: windowInput }),
  output: closedObject({
    errors: { type: 'array', items: group },
    looked: { type: 'integer', description: 'How many failed events were looked at.' },
    isComplete: { type: 'boolean', description: 'Whether these were all of the window.' },
    from: time,
    to: time,
  }),

  async handle(context, { id, window }) {
    await findOwnBot(context, id)
    const to = new Date()
    const from = beginOf(windows[window], to.getTime())
    const rows = await failuresSince(context.db, id, from, maxScanned)
    const groups = groupErrors(rows, oldestReplayable(context.config))
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

import { closedObject } from '../../schema.ts'
import { pageInput, pageRequest, toMeta } from '../../store/pagination.ts'
import { ApiError } from '../../errors.ts'
import { logLevels, logLine, toLogLine } from '../../models/log-line.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfLogs } from '../../store/logs.ts'
import { findOwnBot } from './find-version.ts'

export const getBotLogs = operation({
  name: 'getBotLogs',
  description: 'Lists lines of a bot’s log since a time, by default the newest first.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/logs',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(
    { id: { type: 'string' }, timeStart: { type: 'string', format: 'date-time' } },
    {
      ...pageInput,
      timeEnd: { type: 'string', format: 'date-time' },
      level: { enum: logLevels },
      eventId: { type: 'string' },
      conversationId: { type: 'string' },
      userId: { type: 'string', description: 'Only lines of events of this user.' },
      workflowId: { type: 'string' },
      messageContains: { type: 'string', minLength: 1, description: 'Text that the line contains; case-insensitive.' },
      sortDirection: { enum: ['asc', 'desc'], description: 'Default: desc, the newest lines first.' },
    },
  ),
  output: closedObject({ logs: { type: 'array', items: logLine } }, { nextToken: { type: 'string' } }),

  async handle(context, { id, sortDirection = 'desc', ...input }) {
    await findOwnBot(context, id)
    const request = { ...pageRequest(input), ascending: sortDirection === 'asc' }
    if (request.after && !/^\d{1,18}$/.test(request.after.id)) {
      throw new ApiError(
        'InvalidQuery',
        'nextToken is not a valid cursor of this log: omit it to start at the first page',
      )
    }
    const page = await pageOfLogs(context.db, id, input, request)
    return { logs: page.rows.map(toLogLine), ...toMeta(page) }
  },
})

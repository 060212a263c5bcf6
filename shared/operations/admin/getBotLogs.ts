import { closedObject } from '../../schema.ts'
import { toMeta } from '../../store/pagination.ts'
import { logLine, toLogLine } from '../../models/log-line.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfLogs } from '../../store/logs.ts'
import { findOwnBot } from './find-version.ts'
import { logFilter, logRequest } from './log-filter.ts'

export const getBotLogs = operation({
  name: 'getBotLogs',
  description:
    'Lists lines of a bot’s log since a time, by default the newest first. A page reads at most 10,000 lines: with a filter ' +
    'that few lines pass, it may have few or no lines and still a nextToken.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/logs',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, timeStart: { type: 'string', format: 'date-time' } }, logFilter),
  output: closedObject({ logs: { type: 'array', items: logLine } }, { nextToken: { type: 'string' } }),

  async handle(context, { id, ...input }) {
    await findOwnBot(context, id)
    const page = await pageOfLogs(context.db, id, input, logRequest(input))
    return { logs: page.rows.map(toLogLine), ...toMeta(page) }
  },
})

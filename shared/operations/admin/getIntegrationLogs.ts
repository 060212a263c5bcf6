import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { integrationLogLine, toLogLine } from '../../models/log-line.ts'
import { operation } from '../../rpc/operation.ts'
import { findIntegration } from '../../store/integrations.ts'
import { pageOfIntegrationLogs } from '../../store/logs.ts'
import { toMeta } from '../../store/pagination.ts'
import { logFilter, logRequest } from './log-filter.ts'

export const getIntegrationLogs = operation({
  name: 'getIntegrationLogs',
  description:
    'Lists lines that an integration’s code wrote on bots of the workspace since a time, by default the newest first.',
  method: 'GET',
  path: '/v1/admin/integrations/{id}/logs',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, timeStart: { type: 'string', format: 'date-time' } }, logFilter),
  output: closedObject({ logs: { type: 'array', items: integrationLogLine } }, { nextToken: { type: 'string' } }),

  async handle({ db, caller }, { id, ...input }) {
    const { workspaceId } = caller
    if (!(await findIntegration(db, workspaceId, id))) throw notFound(`Integration '${id}'`)
    const page = await pageOfIntegrationLogs(db, { workspaceId, integrationId: id }, input, logRequest(input))
    return { logs: page.rows.map((row) => ({ ...toLogLine(row), botId: row.bot_id })), ...toMeta(page) }
  },
})

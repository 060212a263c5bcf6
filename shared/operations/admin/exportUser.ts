import { closedObject } from '../../schema.ts'
import { personInput, toSubject } from '../../models/data-request.ts'
import type { LineStream } from '../../rpc/line-stream.ts'
import { operation } from '../../rpc/operation.ts'
import { exportRows, type ExportLine } from './export-person.ts'
import { findOwnBot } from './find-version.ts'

export const exportUser = operation({
  name: 'exportUser',
  description:
    'Returns the data of a person, a row on each line: the users that are named or have an identifier, what belongs to them, ' +
    'and the rows that name the person, as `isFinding`. Nothing is stored; the audit log has who exported. The last line is of ' +
    'the kind `end`: without it the export is incomplete.',
  method: 'POST',
  path: '/v1/admin/users/export',
  access: 'administrator',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  auditedFields: ['botId', 'userId'],
  streamsLines: true,
  isClosed: true,
  input: closedObject({}, personInput),
  output: closedObject(
    { kind: { type: 'string', description: 'For instance `user`, `message`, `tableRow`, or `end`.' } },
    {
      botId: { type: 'string' },
      isFinding: { type: 'boolean', description: 'Whether the row only names the person.' },
      data: { type: 'object', additionalProperties: true, description: 'The fields of the row.' },
      contentUrl: { type: 'string', description: 'Where the content of a file can be read, for an hour.' },
      rows: { type: 'integer', description: 'Of the last line: the number of rows before it.' },
    },
  ),

  async handle(context, person): Promise<LineStream<ExportLine>> {
    const { caller, log, metrics } = context
    const subject = toSubject(person)
    if (person.botId !== undefined) await findOwnBot(context, person.botId)
    const rows = exportRows(context, { workspaceId: caller.workspaceId, botId: person.botId ?? null, subject })
    // An error before the first row is the answer's.
    const first = await rows.next()
    let isCancelled = false

    async function* lines(): AsyncGenerator<ExportLine, void, void> {
      let outcome = 'failed'
      try {
        if (!first.done) yield first.value
        for await (const row of rows) {
          if (isCancelled) return
          yield row
        }
        outcome = 'completed'
      } catch (error) {
        log.error({ err: error }, 'An export of a person’s data failed; its reader sees that the last line is missing')
        throw error
      } finally {
        metrics.dataRequests.inc({ kind: 'export', outcome })
      }
    }
    return { lines: lines(), cancel: () => void (isCancelled = true) }
  },
})

import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { botVersion, toBotVersion } from '../../models/bot-version.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfVersions } from '../../store/bot-versions.ts'
import { findOwnBot } from './find-version.ts'

export const listBotVersions = operation({
  name: 'listBotVersions',
  description: 'Lists the kept versions of a bot’s code, newest first.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/versions',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }, { ...pageInput }),
  output: closedObject({ versions: { type: 'array', items: botVersion }, meta: pageMeta }),

  async handle(context, { id, ...input }) {
    await findOwnBot(context, id)
    const page = await pageOfVersions(context.db, id, pageRequest(input))
    return { versions: page.rows.map(toBotVersion), meta: toMeta(page) }
  },
})

import { botVersionWithCode, toBotVersion } from '../../models/bot-version.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { findSourceAndFiles } from '../../store/bot-versions.ts'
import { findOwnBot, findOwnVersion } from './find-version.ts'

type SourceFiles = NonNullable<Infer<typeof botVersionWithCode>['files']>

export const getBotVersion = operation({
  name: 'getBotVersion',
  description: 'Returns a version of a bot’s code, with the uploaded code and its source files.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/versions/{versionId}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, versionId: { type: 'string' } }),
  output: closedObject({ url: { type: 'string', description: 'Where this is.' }, version: botVersionWithCode }),

  async handle(context, { id, versionId }) {
    const { db, config } = context
    await findOwnBot(context, id)
    const row = await findOwnVersion(db, id, versionId)
    const { source: code = '', files = null } = (await findSourceAndFiles(db, id, versionId)) ?? {}
    const url = `${config.http.baseUrl}/v1/admin/bots/${id}/versions/${versionId}`
    return {
      url,
      version: { ...toBotVersion(row), code, ...(files !== null && { files: JSON.parse(files) as SourceFiles }) },
    }
  },
})

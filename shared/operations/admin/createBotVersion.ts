import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { botVersion, toBotVersion, versionDescription, versionName } from '../../models/bot-version.ts'
import { operation } from '../../rpc/operation.ts'
import { nameVersion } from '../../store/bot-versions.ts'
import { findOwnBot, findOwnVersion } from './find-version.ts'

export const createBotVersion = operation({
  name: 'createBotVersion',
  description: 'Names the deployed version. It creates no version: each upload of code creates one.',
  method: 'POST',
  path: '/v1/admin/bots/{id}/versions',
  access: 'developer',
  errors: ['ResourceNotFound'],
  auditedFields: ['name'],
  input: closedObject({ id: { type: 'string' }, name: versionName }, { description: versionDescription }),
  output: closedObject({ version: botVersion }),

  async handle(context, { id, ...words }) {
    const { version_id: versionId } = await findOwnBot(context, id)
    if (versionId === null) throw notFound('Version', 'the bot has no code: upload code first')
    await nameVersion(context.db, id, versionId, words)
    return { version: toBotVersion(await findOwnVersion(context.db, id, versionId)) }
  },
})

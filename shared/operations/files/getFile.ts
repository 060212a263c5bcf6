import { closedObject } from '../../schema.ts'
import { isModelPreferences, modelPreferences } from '../../files/model-preferences.ts'
import { showFile } from '../../files/show-file.ts'
import { file } from '../../models/file.ts'
import { operation } from '../../rpc/operation.ts'
import { findFile } from '../../store/runtime-files.ts'
import { withOwnModels } from '../models/own-models.ts'
import { noFile } from './not-found.ts'

export const getFile = operation({
  name: 'getFile',
  description: 'Gets a file by its id or its key.',
  method: 'GET',
  path: '/v1/files/{id}',
  access: 'bot',
  input: closedObject({ id: { type: 'string', description: 'Its id, or its key.' } }),
  output: closedObject({ file }),

  async handle(context, { id }) {
    const preferences = isModelPreferences(id) && modelPreferences(await withOwnModels(context), id)
    if (preferences) return { file: preferences }
    const row = await findFile(context.db, context.caller, id)
    if (!row) throw noFile(id)
    return { file: showFile(context, row) }
  },
})

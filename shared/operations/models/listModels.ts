import { closedObject } from '../../schema.ts'
import { languageModel } from '../../models/language-model.ts'
import { operation } from '../../rpc/operation.ts'
import { withOwnModels } from './own-models.ts'

export const listModels = operation({
  name: 'listModels',
  description:
    'Lists the language models that are known; none without a provider. A provider may have further ones, which calls ' +
    'can name too.',
  method: 'GET',
  path: '/v2/cognitive/models',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({ models: { type: 'array', items: languageModel } }),

  async handle(context) {
    const { models } = await withOwnModels(context)
    return { models: models.list() }
  },
})

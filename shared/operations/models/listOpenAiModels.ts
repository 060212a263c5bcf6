import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { withOwnModels } from './own-models.ts'

const text = { type: 'string' } as const

export const listOpenAiModels = operation({
  name: 'listOpenAiModels',
  description: 'Like listModels, in the language of OpenAI’s API. The aliases come first.',
  method: 'GET',
  path: '/v2/cognitive/openai/v1/models',
  access: 'bot',
  stability: 'experimental',
  isForLibraries: true,
  input: closedObject({}),
  output: closedObject({
    object: { const: 'list' },
    data: {
      type: 'array',
      items: closedObject({ id: text, object: { const: 'model' }, created: { type: 'integer' }, owned_by: text }),
    },
  }),

  async handle(context) {
    const { models } = await withOwnModels(context)
    const listed = models.list()
    const aliases = listed.length === 0 ? [] : ['auto', 'fast', 'best']
    const ids = [...aliases, ...listed.map(({ id }) => id)]
    // The time at which a provider made a model is not known.
    const data = ids.map((id) => ({
      id,
      object: 'model' as const,
      created: 0,
      owned_by: id.includes(':') ? id.split(':', 1)[0]! : 'isobot',
    }))
    return { object: 'list' as const, data }
  },
})

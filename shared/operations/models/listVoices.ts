import { voice } from '../../models/speech.ts'
import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { withOwnModels } from './own-models.ts'

export const listVoices = operation({
  name: 'listVoices',
  description:
    'Lists the voices of the models that speak; none without a provider. The voices of an OpenAI-compatible endpoint are not known.',
  method: 'GET',
  path: '/v2/cognitive/voices',
  access: 'bot',
  stability: 'experimental',
  input: closedObject(
    {},
    {
      model: { type: 'string', maxLength: 300, description: 'Voices of this model, as `provider:model`.' },
      language: {
        type: 'string',
        maxLength: 40,
        description: 'Has no effect: all voices speak the languages of their model.',
      },
    },
  ),
  output: closedObject({ voices: { type: 'array', items: voice } }),

  async handle(context, { model }) {
    const { models } = await withOwnModels(context)
    const voices = models.listVoices()
    return { voices: model === undefined ? voices : voices.filter((each) => each.models.includes(model)) }
  },
})

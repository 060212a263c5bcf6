import { closedObject } from '../schema.ts'
import { dollars, modelChoice, modelUsage, modelWarning } from './language-model.ts'

/** The models of a call beside text. */
export const mediaModel = {
  ...modelChoice,
  description: '`provider:model`, several in order of fallback, or `auto`, the platform’s own choice, unless given.',
} as const

/** A tag of a language that is spoken. */
export const spokenLanguage = { type: 'string', pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$' } as const

/** Days for which the file of an answer is kept. */
export const maxDays = 90
export const usualDays = 30

export const expirationOptions = closedObject(
  {},
  {
    expirationDays: {
      type: 'integer',
      minimum: 1,
      maximum: maxDays,
      description: `Days after which the file is deleted; ${usualDays} unless given.`,
    },
  },
)

/** The metadata of an answer that is a file. */
export function mediaMetadata<const Required extends object>(required: Required) {
  return closedObject(
    {
      provider: { type: 'string' },
      model: { type: 'string', description: 'The model that answered, as `provider:model`.' },
      ...required,
      fileId: { type: 'string', description: 'The file of the bot that has the content.' },
      usage: modelUsage,
      cost: { ...dollars, description: 'An estimate: the provider’s bill is exact.' },
      cached: { type: 'boolean' },
      latency: { type: 'integer', description: 'Milliseconds from the call to the answer.' },
      fallbackPath: { type: 'array', items: { type: 'string' }, description: 'The models that failed before.' },
    },
    { warnings: { type: 'array', items: modelWarning } },
  )
}

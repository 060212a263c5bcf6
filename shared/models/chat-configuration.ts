import type { Infer } from '../schema.ts'

const fields = {
  encryptionKey: {
    type: 'string',
    minLength: 1,
    maxLength: 2000,
    description:
      'Signs user keys in place of the shared encryption key: JSON Web Tokens { id }, HS256, made by whoever knows it.',
  },
  webhookUrl: {
    type: 'string',
    maxLength: 2000,
    pattern: '^https?://',
    description: 'An address that is told what happens in the conversations.',
  },
  webhookSecret: {
    type: 'string',
    maxLength: 2000,
    // It travels in a header.
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    description: 'Proves to the webhook that it is told by this platform: the header x-secret-key. Printable ASCII.',
  },
} as const

/** What may be configured of a chat installation. A misspelt field is refused, for without it a chat would be open. */
export const chatConfiguration = {
  type: 'object',
  additionalProperties: false,
  propertyNames: { enum: Object.keys(fields) },
  properties: fields,
} as const

export type ChatConfiguration = Infer<typeof chatConfiguration>

/** The configuration of a chat installation. It was validated when it was stored. */
export function chatConfigurationOf({ configuration }: { configuration: Record<string, unknown> }): ChatConfiguration {
  return configuration
}

/** Whether a webhook can be at this address: one of http or https, without a user or password in it. */
export function isWebhookUrl(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** The configuration as it is shown to who may not see its secrets. */
export function withoutSecrets({ webhookUrl }: ChatConfiguration): ChatConfiguration {
  return webhookUrl === undefined ? {} : { webhookUrl }
}

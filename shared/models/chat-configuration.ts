import { closedObject, type Infer } from '../schema.ts'

/** The secret of a webhook. */
export const webhookSecret = {
  type: 'string',
  maxLength: 2000,
  // The value is sent in a header.
  pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
  description: 'The platform sends this value as the header x-secret-key with each webhook request. Printable ASCII.',
} as const

const fields = {
  encryptionKey: {
    type: 'string',
    minLength: 1,
    maxLength: 2000,
    description:
      'Secret that signs user keys instead of the shared encryption key. A user key is a JSON Web Token { id }, HS256; ' +
      'your own server signs it.',
  },
  webhookUrl: {
    type: 'string',
    maxLength: 2000,
    pattern: '^https?://',
    description: 'URL that receives the signals of all conversations as POST requests.',
  },
  webhookSecret,
  converse: {
    enum: ['secured', 'public'],
    description:
      'Opens the Converse API of v12: `secured` to requests with a token; `public` to all, who then act as any of its ' +
      'users. Absent: it is closed.',
  },
} as const

/** The configuration of a chat installation. A misspelt field is refused, because the chat would be open without it. */
export const chatConfiguration = { ...closedObject({}, fields), propertyNames: { enum: Object.keys(fields) } } as const

export type ChatConfiguration = Infer<typeof chatConfiguration>

/** The configuration of a chat installation, which was validated when it was stored. */
export function chatConfigurationOf({ configuration }: { configuration: Record<string, unknown> }): ChatConfiguration {
  return configuration
}

/** Whether a webhook may have this address: http or https, without a user name or password. */
export function isWebhookUrl(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** The configuration for viewers who may not read its secrets. */
export function withoutSecrets({ webhookUrl, converse }: ChatConfiguration): ChatConfiguration {
  return { ...(webhookUrl !== undefined && { webhookUrl }), ...(converse !== undefined && { converse }) }
}

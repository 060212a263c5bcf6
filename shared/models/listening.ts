import { closedObject } from '../schema.ts'
/**
 * The result of `listenConversation`, with which the HTTP entry point opens the stream. Times are milliseconds since
 * 1970.
 */
export const listening = closedObject(
  {
    botId: { type: 'string' },
    conversationId: { type: 'string' },
    externalId: { type: 'string', description: 'The id by which the listener knows the conversation.' },
    userId: { type: 'string', description: 'The listener’s internal id.' },
    webhookId: { type: 'string', description: 'The last part of the chat’s URL.' },
    encryptionKeyId: { type: 'string', description: 'The id of the encryption key that signed the listener’s key.' },
    startedAt: { type: 'number' },
    since: { type: 'number', description: 'The stream begins with the entries after this time.' },
    resumes: {
      type: 'boolean',
      description: 'Whether the listener reconnects and has received all entries until `since`.',
    },
  },
  {
    expiresAt: { type: 'number', description: 'The time when the listener’s key expires.' },
    webchat: {
      ...closedObject({ user: { type: 'string' }, opening: { type: 'object' } }),
      description:
        'The stream has frames of the web chat and begins with this one; `user` is the id that clients know.',
    },
  },
)

import { closedObject } from '../schema.ts'
/**
 * The result of `listenConversation`, with which the HTTP entry point opens the stream. Times are milliseconds since
 * 1970.
 */
export const listening = closedObject(
  {
    botId: { type: 'string' },
    conversationId: { type: 'string' },
    externalId: { type: 'string', description: 'What the listener calls the conversation.' },
    userId: { type: 'string', description: 'The listener’s own id, not what clients know it by.' },
    webhookId: { type: 'string', description: 'The address of the chat.' },
    encryptionKeyId: { type: 'string', description: 'Of what the listener’s key was signed with.' },
    startedAt: { type: 'number' },
    since: { type: 'number', description: 'What happened after this time is told first.' },
    resumes: {
      type: 'boolean',
      description: 'Whether the listener was there before, and has heard everything until `since`.',
    },
  },
  { expiresAt: { type: 'number', description: 'When the listener’s key expires.' } },
)

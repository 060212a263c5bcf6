/** What `listenConversation` gives to the door that opens the stream. Times are milliseconds since 1970. */
export const listening = {
  type: 'object',
  additionalProperties: false,
  required: ['botId', 'conversationId', 'knownId', 'userId', 'startedAt', 'since', 'resumes'],
  properties: {
    botId: { type: 'string' },
    conversationId: { type: 'string' },
    knownId: { type: 'string', description: 'What the listener calls the conversation.' },
    userId: { type: 'string', description: 'The listener’s own id, not what clients know it by.' },
    startedAt: { type: 'number' },
    since: { type: 'number', description: 'What happened after this time is told first.' },
    resumes: {
      type: 'boolean',
      description: 'Whether the listener was there before, and has heard everything until `since`.',
    },
  },
} as const

/** The Converse API of v12: one request, one message, and the bot's replies in the answer. */

/**
 * The name space of its users among the external ids of a bot's chat. Clients of the chat cannot choose an id with a
 * colon, so no user of one is a user of the other.
 */
const namespace = 'converse:'

/** The external id of a user, by the id of its client, or of a user's conversation, by the id of the user's row. */
export function converseId(id: string): string {
  return `${namespace}${id}`
}

/** Whether these are the tags of a conversation of the Converse API. */
export function isConverse(tags: Record<string, string> | null): boolean {
  return tags?.['fid']?.startsWith(namespace) ?? false
}

export const converseInput = {
  botId: { type: 'string' },
  userId: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    // Control characters have no place in an id, and PostgreSQL stores no U+0000.
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'An id of your choice. Users of the chat are others, whatever their id.',
  },
} as const

/** The messages of the bot. */
export const responses = {
  type: 'array',
  items: { type: 'object' },
  description: 'The messages of the bot, in the form of v12.',
} as const

/** The initial code of a bot that is created in the console. */
export const firstCode = `import type { Hooks } from 'isobot/bot'

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, logger }) {
    logger.info('Received:', event.preview)
    await client.createMessage({
      conversationId: event.conversationId,
      type: 'text',
      payload: { text: \`You said: \${event.preview}\` },
    })
  },
}
`
